// What the panel and its page say to each other.

import type { Block, CachePlan, Effect, Kept, Tokens, Tool } from '../wire';

/** A bar above the text: why it is not the newest, and what can be done. */
export interface Notice {
  kind: 'stale' | 'stopped' | 'untrusted' | 'failed' | 'loading';
  text: string;
  actions: { id: Action; title: string }[];
}

export type Action = 'revealProblem' | 'reload' | 'restart' | 'showLog' | 'trust';

export interface View {
  name: string;
  uri: string;
  fidelity: string;
  order: string[];
  /** All blocks when `whole`, otherwise the new and changed ones. */
  blocks: Block[];
  whole: boolean;
  /** Whether the source of a section can be shown; it can unless said otherwise. */
  reveals?: boolean;
  tools: Tool[];
  tokens: Tokens | null;
  kept: Kept | null;
  cache: CachePlan | null;
  effects?: Effect[];
  notice: Notice | null;
}

export type ToPage = { type: 'view'; view: View } | { type: 'settled'; key: string };

export type FromPage =
  | { type: 'ready' }
  | { type: 'open'; key: string }
  | { type: 'close'; key: string }
  | { type: 'reveal'; id: string }
  | { type: 'action'; id: Action };
