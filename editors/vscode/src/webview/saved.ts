// The page saved as one file: it has every state that it shows, and asks nobody.

import type { AnyAction } from '../preview/messages';
import type { Block, Comparison, Matrix, Preview } from '../wire';
import { Page, type Host } from './page';

/** What `saved.py` writes; a state has its blocks by their places in `blocks`. */
interface Saved {
  shown: string;
  states: Record<string, Omit<Preview, 'blocks'> & { blocks: number[] }>;
  blocks: Block[];
  matrix: Matrix;
  /** From the first set to each other one. */
  differences: Record<string, Comparison>;
}

const SAVED = 'This page was saved to a file: nothing in it can be changed.';

export function showSaved(text: string, markdown: Host['markdown']): void {
  const { shown, states, blocks, matrix, differences } = JSON.parse(text) as Saved;
  const show = (set: string): void => {
    const state = states[set];
    if (state === undefined) {
      const failed = matrix.sets.find(({ name }) => name === set)?.error;
      throw new Error(failed ?? `This file doesn’t show the prompt with ${set}.`);
    }
    const own = state.blocks.flatMap((place) => blocks[place] ?? []);
    page.show({ ...state, blocks: own, whole: true, reveals: false, notice: null });
  };
  const perform = async (action: AnyAction): Promise<unknown> => {
    switch (action.action) {
      case 'copy':
        await navigator.clipboard.writeText(action.text);
        return undefined;
      case 'setParams':
        show(action.parameter_set ?? refuse(SAVED));
        return undefined;
      case 'compareSets':
        return matrix;
      case 'diff': {
        const { before_set = '', after_set = '' } = action;
        const found = before_set in differences ? undefined : differences[after_set];
        return found ?? refuse('This file compares sets with the first one alone.');
      }
      default:
        return refuse(SAVED);
    }
  };
  document.body.classList.add('saved');
  const page = new Page({
    inEditor: false,
    perform,
    load: () => ({}),
    save: () => undefined,
    markdown,
    // Nothing can be read: what is summarized here stays so.
    markdownOf: () => [],
  });
  show(shown);
}

function refuse(reason: string): never {
  throw new Error(reason);
}
