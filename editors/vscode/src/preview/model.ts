import type { Block } from '../wire';

/** The blocks of one preview by id, in the order of the text. */
export class Blocks {
  private byId = new Map<string, Block>();
  private ids: readonly string[] = [];

  get order(): readonly string[] {
    return this.ids;
  }

  /** All blocks in the order of the text. */
  all(): Block[] {
    return this.ids.flatMap((id) => this.byId.get(id) ?? []);
  }

  get(id: string): Block | undefined {
    return this.byId.get(id);
  }

  /** Takes in new and changed blocks, and forgets those that `order` no longer names. */
  apply(order: readonly string[], blocks: readonly Block[]): void {
    for (const block of blocks) {
      this.byId.set(block.id, block);
    }
    const kept = new Set(order);
    for (const id of this.byId.keys()) {
      if (!kept.has(id)) {
        this.byId.delete(id);
      }
    }
    this.ids = [...order];
  }

  clear(): void {
    this.apply([], []);
  }
}
