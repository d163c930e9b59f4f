// What the server speaks, beyond the Language Server Protocol itself.

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface Location {
  uri: string;
  range: Range;
}

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

export interface Segment {
  kind: string;
  text: string;
  field?: string | null;
}

export interface Block {
  id: string;
  path: string[];
  key: string;
  number: string;
  title: string;
  depth: number;
  visibility: string;
  enabled: boolean;
  opened: boolean;
  text: string;
  segments: Segment[];
  location: Location | null;
  /** Why this section could not be rendered, while the others could. */
  error?: { message: string; file?: string | null; line?: number | null } | null;
  /** The role of the message that shows it, where that isn't the user's. */
  role?: string;
  /** Of its own text, with the blocks below it, and for a summary once it is opened. */
  tokens?: { self: number; subtree: number; if_opened: number | null };
}

/** Something that a module does beside making prompts. */
export interface Effect {
  message: string;
  line: number;
}

export interface Tool {
  name: string;
  description: string;
  parameters: unknown;
  schema?: unknown;
  tokens?: number;
}

/** The structured output that a model is asked for. */
export interface Output {
  type: string;
  container: string;
  schema: unknown;
}

/** What the whole prompt costs in tokens. */
export interface Tokens {
  text: number;
  tools: number;
  output: number;
  total: number;
  encoding: string;
  exact: boolean;
}

/** What a version and the one before begin with alike, as a provider's cache compares them. */
export interface Kept {
  characters: number;
  tokens: number;
  tools: boolean;
  /** The tokens that a cache keeps, tools included. */
  cached: number;
}

/** A stretch of the request that begins where something changes more often than all before. */
export interface CacheStage {
  first: string;
  last: string;
  tokens: number;
  /** How often it changes, and because of what. */
  why: string;
  /** The tokens that are new when it changes: its own and all behind it. */
  change: number;
  breakpoint: string | null;
}

/** What a provider's cache can keep of it between requests: places to set a breakpoint at. */
export interface CachePlan {
  sentence: string;
  stages: CacheStage[];
  breakpoints: { part: string; offset: number; tokens: number; kept: boolean }[];
}

export interface Stale {
  kind: string;
  message: string;
  file: string | null;
  line: number | null;
  /** The Python that failed to execute it. */
  interpreter: string | null;
}

/** Where a value comes from: `generated` ones were made up. */
export interface Origin {
  source: string;
  name?: string;
  file?: string;
  line?: number;
}

export interface ParameterField {
  name: string;
  type: string;
  doc: string;
  required: boolean;
  default: string | null;
  choices: unknown[] | null;
  value: unknown;
  editable: boolean;
  shown: string | null;
  origin: Origin | null;
}

/** A dataclass that sections take: all of them, or the one that is named. */
export interface Parameters {
  type: string;
  section: string | null;
  doc: string;
  fields: ParameterField[];
}

/** Fields by dataclass name or section key. */
export type Values = Record<string, Record<string, unknown>>;

export interface ParameterSet {
  name: string;
  origins?: Origin[];
}

export interface Chapter {
  key: string;
  title: string;
  description: string | null;
  open: boolean;
  may_open: boolean;
  reasons: string[];
}

export interface Budget {
  limit: number;
  unit: string;
  used: number;
  over: number;
}

export interface UsedInterpreter {
  path: string;
  reason: string;
  python: string | null;
  mismatch: string | null;
}

/** A step that undo goes back through, and the version that first showed it. */
export interface Step {
  action: string;
  section_keys: string[];
  reason: string | null;
  parameter_set: string | null;
  version: number;
}

export interface History {
  steps: Step[];
  versions: number[];
}

/** One section's text, which opens nothing. */
export interface SectionText {
  text: string;
}

/** The differences of two versions, in tokens and as a unified diff. */
export interface Comparison {
  before: string;
  after: string;
  changes: { key: string; title: string; change: string; tokens: number }[];
  tokens: { before: number; after: number; delta: number };
  unified: string;
}

/** A preview, or the part of it that changed: `order` always lists the ids of all blocks. */
export interface Preview extends PromptReference {
  sessionId: string;
  version: number | null;
  fidelity: string;
  order: string[];
  blocks: Block[];
  tools: Tool[];
  tokens: Tokens | null;
  kept: Kept | null;
  cache: CachePlan | null;
  effects: Effect[];
  output: Output | null;
  params: Values;
  parameter_set: string | null;
  parameter_sets: ParameterSet[];
  parameters: Parameters[];
  chapters: Chapter[];
  /** Which of them are open, in words. */
  chapters_shown: string;
  budget: Budget | null;
  generated: string[];
  interpreter: UsedInterpreter | null;
  /** How many there are; the first can't be undone. */
  steps: number;
  milliseconds: number | null;
  stale: Stale | null;
}

/** What `data` of a failed command holds. */
export interface Failure {
  kind: string;
  interpreter?: string | null;
  /** Names that may have been meant. */
  near?: string[];
  file?: string | null;
  line?: number | null;
}
