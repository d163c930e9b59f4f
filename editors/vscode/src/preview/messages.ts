// What the page asks of what is around it, an editor or a server, and what it is shown.

import type { Block, Occurrence, Preview, PromptAction, PromptReference, Values } from '../wire';

/** A bar above the text: why it is not the newest, and what can be done. */
export interface Notice {
  kind: 'stale' | 'stopped' | 'untrusted' | 'failed' | 'loading';
  text: string;
  actions: { id: NoticeAction; title: string }[];
}

export type NoticeAction =
  'revealProblem' | 'reload' | 'restart' | 'showLog' | 'trust' | 'chooseInterpreter';

/** What is shown besides the blocks. */
export type About = Omit<
  Preview,
  keyof PromptReference | 'sessionId' | 'version' | 'fidelity' | 'order' | 'blocks' | 'stale'
>;

export interface View extends PromptReference, Partial<About> {
  fidelity: string;
  order: string[];
  /** All blocks when `whole`, otherwise the new and changed ones. */
  blocks: Block[];
  whole: boolean;
  /** Whether an editor can show sources; it can unless said otherwise. */
  reveals?: boolean;
  notice: Notice | null;
}

/** What a user chose in a preview; a window that is reloaded chooses it again. */
export interface Choices {
  opened: string[];
  /** The chapters that were closed; the others are open where they may be. */
  closed?: string[];
  params: Values;
  parameter_set: string | null;
}

/** What a user does, or asks. */
export type Action =
  | PromptAction
  | { action: 'reveal'; key: string }
  | { action: 'go'; file: string; line: number }
  /** Of the places that the character is from, one is shown in an editor. */
  | { action: 'goToOrigin'; key: string; offset: number; place: number };

/** Answered by History, a Comparison, the text of a section, or a render with other values. */
export type Question = Extract<
  PromptAction,
  { action: 'history' } | { action: 'diff' } | { action: 'readSection' } | { action: 'render' }
>;

/** What only an editor does. */
export type EditorAction =
  | { action: 'notice'; id: NoticeAction }
  | { action: 'copy'; text: string }
  | { action: 'document' }
  | { action: 'compare'; before?: number; revision?: string };

export type AnyAction = Action | EditorAction;

/** Where a preview is scrolled to: a section, and how much of it is above. */
export interface Place {
  key: string;
  share: number;
}

export type FromPage =
  | { type: 'ready'; chosen: Choices | null }
  | { type: 'request'; id: number; action: AnyAction }
  /** The section that the pointer or the focus is on. */
  | { type: 'pointed'; key: string | null }
  /** The user scrolled to here. */
  | { type: 'scrolled'; place: Place };

export type ToPage =
  | { type: 'view'; view: View }
  /** The section that the editor's cursor is in. */
  | { type: 'mark'; key: string | null; reveal: boolean }
  /** What comes from the characters at the editor's cursor. */
  | { type: 'characters'; parts: Occurrence[]; reveal: boolean }
  | { type: 'scroll'; place: Place }
  | { type: 'response'; id: number; value: unknown }
  | { type: 'refusal'; id: number; reason: string };
