// What the server speaks, beyond the Language Server Protocol itself.

import type { PreviewState, Range, RenderedTool, Steps } from './promptMessages';

export type * from './promptMessages';

export interface PromptReference {
  uri: string;
  name: string;
}

export interface Section {
  key: string;
  path: string[];
  title: string;
  number: string;
  visibility: string;
  /** Of the whole section; where it is from another module, of its use. */
  range: Range;
  children: Section[];
}

export interface ListedPrompt extends PromptReference {
  ns: string;
  key: string;
  range: Range;
  sections: Section[];
}

/** What each client loads when it works on a file. */
export interface Stacks {
  file: string;
  exact: boolean;
  stacks: Stack[];
}

export interface Stack {
  client: string;
  title: string;
  note: string;
  files: LoadedFile[];
  left_out: LeftOut[];
  base: number;
  added: number;
}

export interface LoadedFile {
  path: string;
  uri: string;
  when: 'always' | 'nested' | 'match' | 'choice';
  why: string;
  source: string;
  read: string;
  confirmed: boolean;
  tokens: number;
  sections: InstructionCost[];
  /** The section in which the client's limit falls, and the place in the text. */
  cut: [string, number] | null;
}

export interface InstructionCost {
  key: string;
  number: string;
  title: string;
  /** Counts from 1. */
  line: number;
  tokens: number;
}

export interface LeftOut {
  path: string;
  why: string;
  /** The file that switches it off. */
  by: string;
}

/** A text of the workspace that `foldline adopt` finds; without fields, as it is, it can't be one. */
export interface AdoptablePrompt extends PromptReference {
  target: string;
  line: number;
  style: string;
  size: number;
  fields: number | null;
  reason: string;
  /** For a file: how many texts of it aren't listed. */
  more: number;
}

/** A stretch of the request that begins where something changes more often than all before. */
export interface CacheStage {
  first: string;
  last: string;
  tokens: number;
  /** How often it changes, and because of what. */
  why: string;
  /** The tokens that are read again if it changes: its own and all behind it. */
  change: number;
  breakpoint: string | null;
}

/** What a provider's cache can keep of it between requests: places to set a breakpoint at. */
export interface CachePlan {
  sentence: string;
  /** The tokens of the longest prefix that is kept. */
  cached: number;
  stages: CacheStage[];
  breakpoints: { part: string; offset: number; tokens: number; kept: boolean }[];
}

/** Where a value comes from: `generated` ones were made up. */
export interface Origin {
  source: string;
  name?: string;
  file?: string;
  line?: number;
}

/** Fields by dataclass name or section key. */
export type Values = Record<string, Record<string, unknown>>;

/** A preview, or the part of it that changed: `order` always lists the ids of all blocks. */
export type Preview = PreviewState & PromptReference;
export type Tool = RenderedTool;
export type History = Steps;

/** What `data` of a failed command holds. */
export interface Failure {
  kind: string;
  interpreter?: string | null;
  /** Names that may have been meant. */
  near?: string[];
  styles?: string[];
  /** The URI of the module that would have been written. */
  exists?: string;
  file?: string | null;
  line?: number | null;
}
