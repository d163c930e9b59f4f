// Made by make_messages.py: what the server says of prompts, and what the page asks.

import type { CachePlan, Origin } from './wire';

/** A part of a block's text. */
export interface Segment {
  /** `heading`, `literal` or another `SegmentKind`. */
  kind: string;
  text: string;
  /** The field whose value it is. */
  field: string | null;
  /** How often it changes, a `Stability` in small letters. */
  stability?: string;
  /** In a static render, whether it's the text or a placeholder for it. */
  known?: boolean;
}

/** Why a section couldn't be rendered; without a `line`, it's the section as a whole. */
export interface BlockError {
  message: string;
  file: string | null;
  line: number | null;
  type: string;
  traceback: string;
}

/** A position in a document, as its client counts. */
export interface Position {
  line: number;
  character: number;
}

/** A range of a document. */
export interface Range {
  start: Position;
  end: Position;
}

/** A range of the document at `uri`. */
export interface Location {
  uri: string;
  range: Range;
}

/** The blocks in place of those from `start` to `end`. */
export interface Replaced {
  start: number;
  end: number;
  blocks: Block[];
}

/** A tool that a model is offered with the prompt. */
export interface RenderedTool {
  name: string;
  description: string;
  /** The JSON schema of its parameters. */
  schema: Record<string, unknown>;
  /** The descriptions of its parameters. */
  parameters: Record<string, unknown>;
  tokens?: number;
}

/** The changes that opening a section makes to a request. */
export interface Opening {
  parts: Replaced[];
  /** The names of all tools after it. */
  tools: string[];
  /** Those that weren't there before. */
  added: RenderedTool[];
  /** How often the list of tools changes then. */
  stability: string;
}

/** The extra cost of a request once a section is open. */
export interface IfOpened {
  /** Tokens of the text; less than none if opening saves some. */
  text: number;
  /** Tokens of the tools. */
  tools: number;
  /** All of them. */
  total: number;
  /** Where the prefix ends that is still read from the cache, in the cache plan's breakpoints; None if nothing is. */
  breakpoint: number | null;
}

/** The tokens of a block. */
export interface BlockTokens {
  /** Of its own text. */
  self: number;
  /** With the blocks below it. */
  subtree: number;
  /** What opening it costs; None if it isn't summarized, or can't be shown open. */
  if_opened: IfOpened | null;
}

/** One section, as it's rendered. */
export interface Block {
  /** Its path with slashes; no key holds one. */
  id: string;
  path: string[];
  key: string;
  number: string;
  title: string;
  depth: number;
  visibility: string;
  enabled: boolean;
  text: string;
  segments: Segment[];
  error: BlockError | null;
  /** Where the source declares the section. */
  location: Location | null;
  /** The offsets of its text in the prompt's, where `Render.with_spans` has set them: every block below an edit would be a changed one. */
  span?: [number, number];
  /** What opening it changes; left out once that is counted. */
  opening?: Opening;
  tokens?: BlockTokens;
  /** The role of the message that shows it. */
  role?: string;
  /** True if the user of a preview opened it. */
  opened?: boolean;
  /** How often the section appears, disappears, or is opened and closed. */
  stability?: string;
}

/** The tokens of a request: those of its blocks, its tools and the output's schema. */
export interface Tokens {
  text: number;
  tools: number;
  output: number;
  total: number;
  encoding: string;
  exact: boolean;
  /** The total and its parts, for people. */
  words: string[];
  /** True if a model gets more. */
  lower_bound?: boolean;
  /** What the source doesn't show, as it names it: it isn't counted. */
  unresolved?: string[];
}

/** The structured output that a model is asked for. */
export interface Output {
  type: string;
  container: string;
  schema: Record<string, unknown>;
}

/** The prompt's identity and the hash of its content. */
export interface Descriptor {
  ns: string;
  key: string;
  name: string | null;
  content_hash: string;
  /** The hash of each section's text and tools, by dotted key, where a revision is compared. */
  texts?: Record<string, string>;
}

/** The part of a prompt's last version that a provider's cache keeps. */
export interface Kept {
  /** Of the text that both begin with. */
  characters: number;
  /** True if the tools and the output's schema are alike: providers read them before the text. */
  tools: boolean;
  /** The tokens of this version that are read from the cache. */
  cached: number;
  /** That, or why there are none, for people. */
  words: string;
}

/** A parameter set and where its values come from. */
export interface ParameterSet {
  name: string;
  origins: Origin[];
}

/** A field of a prompt's parameters. */
export interface ParameterField {
  name: string;
  type: string;
  doc: string;
  required: boolean;
  default: string | null;
  choices: unknown[] | null;
  value: unknown;
  editable: boolean;
  /** Its value as a line of text. */
  shown: string | null;
  /** Where the value comes from. */
  origin: Origin | null;
}

/** A dataclass that sections of the prompt take. */
export interface Parameters {
  type: string;
  /** The dotted key of the section that these are for alone; None for all sections of the type. Values are given under this key, else under the type's name. */
  section: string | null;
  doc: string;
  fields: ParameterField[];
}

/** A chapter, and whether it's open or may be. */
export interface Chapter {
  key: string;
  title: string;
  description: string | null;
  /** The keys of the chapters around it. */
  around: string[];
  sections: string[];
  open: boolean;
  may_open: boolean;
  /** Why it may open, or may not. */
  reasons: string[];
}

/** A section's part of a budget, or that of the tools or the output's schema. */
export interface Spent {
  key: string;
  used: number;
}

/** A limit and the cost of a request, in `tokens` or `bytes`, with the dearest sections. */
export interface Budget {
  limit: number;
  unit: string;
  used: number;
  over: number;
  /** `4,255 of 3,000 tokens (1,255 over)`. */
  words: string;
  largest: Spent[];
}

/** Something that the module did besides making prompts, and the line that did it. */
export interface Effect {
  message: string;
  subject: string | null;
  file: string;
  line: number;
}

/** The interpreter that rendered, and why it's the one. */
export interface UsedInterpreter {
  path: string;
  reason: string;
  python: string | null;
  foldline: string | null;
  /** Why its foldline doesn't fit the server's. */
  mismatch: string | null;
  /** The packages that start threads when they are imported, so that each render has to import everything again. */
  threads?: string[];
}

/** Why the blocks of a preview aren't executed ones of the newest text. */
export interface Stale {
  kind: string;
  message: string;
  file: string | null;
  line: number | null;
  interpreter: string | null;
}

/** A preview as a client shows it. */
export interface PreviewState {
  sessionId: string;
  uri: string;
  name: string | null;
  version: number;
  documentVersion: number | null;
  fidelity: string;
  /** The ids of all blocks. */
  order: string[];
  /** Those that the client hasn't seen as they are now. */
  blocks: Block[];
  tools: RenderedTool[];
  tokens: Tokens | null;
  output: Output | null;
  descriptor: Descriptor | null;
  fits: string[];
  /** What a provider's cache keeps of the version before. */
  kept: Kept | null;
  /** The part that a provider's cache can keep, `CachePlan.to_json`. */
  cache: CachePlan | null;
  params: Record<string, Record<string, unknown>>;
  parameter_set: string | null;
  parameter_sets: ParameterSet[];
  parameters: Parameters[];
  chapters: Chapter[];
  /** Which chapters are open, in words. */
  chapters_shown: string;
  budget: Budget | null;
  generated: string[];
  effects: Effect[];
  interpreter: UsedInterpreter | null;
  /** How many steps there are, the first of which can't be undone. */
  steps: number;
  /** How long the last execution took; None before there was one. */
  milliseconds: number | null;
  stale: Stale | null;
}

/** A prompt as a model would get it. */
export interface Render {
  name: string;
  generated: string[];
  parameter_set: string | null;
  parameter_sets: ParameterSet[];
  parameters: Parameters[];
  chapters: Chapter[];
  effects: Effect[];
  interpreter: UsedInterpreter | null;
  reads?: string[];
  text: string;
  blocks: Block[];
  tools: RenderedTool[];
  /** How often the list of tools changes. */
  tools_stability?: string;
  /** What `Fit` makes of the text at 8k, 32k and 200k tokens, unless a section fails. */
  fits: string[];
  output: Output | null;
  descriptor: Descriptor | null;
  /** `executed`, or `static` for what the source shows. */
  fidelity: string;
  /** In a static render, whether running the code can only fill values in. */
  certain?: boolean;
  tokens?: Tokens;
  /** The part that a provider's cache can keep, `CachePlan.to_json`. */
  cache?: CachePlan;
  /** The document. */
  uri?: string;
  /** The editor's version of its text; None where it isn't open. */
  version: number | null;
  /** The most that the project lets a request of a prompt cost. */
  token_budget: number | null;
}

/** The request of opening sections, and the prompt as it's rendered after that. */
export interface OpenedSections {
  name: string;
  generated: string[];
  parameter_set: string | null;
  parameter_sets: ParameterSet[];
  parameters: Parameters[];
  chapters: Chapter[];
  effects: Effect[];
  interpreter: UsedInterpreter | null;
  reads?: string[];
  requested_overrides: Record<string, string>;
  section_keys: string[];
  reason: string;
  expansion_instructions: string | null;
  render: Render;
  /** The names of the tools that the prompt didn't have before. */
  new_tools?: string[];
}

/** One section's text, which opens nothing. */
export interface SectionText {
  name: string;
  generated: string[];
  parameter_set: string | null;
  parameter_sets: ParameterSet[];
  parameters: Parameters[];
  chapters: Chapter[];
  effects: Effect[];
  interpreter: UsedInterpreter | null;
  reads?: string[];
  section_key: string;
  text: string;
}

/** A folded section: its summary, and its sizes in UTF-8 bytes. */
export interface SectionSummary {
  name: string;
  generated: string[];
  parameter_set: string | null;
  parameter_sets: ParameterSet[];
  parameters: Parameters[];
  chapters: Chapter[];
  effects: Effect[];
  interpreter: UsedInterpreter | null;
  reads?: string[];
  section_key: string;
  text: string;
  size: number;
  size_if_opened: number;
}

/** A section's visibility on both sides; None where it isn't. */
export interface Visibilities {
  before: string | null;
  after: string | null;
}

/** A section that was `added`, `removed` or `changed`; `tokens` are what `after` has more. */
export interface SectionChange {
  id: string;
  key: string;
  title: string;
  change: string;
  visibility: Visibilities;
  tokens: number;
  unified: string;
}

/** A tool that was `added`, `removed` or `changed`. */
export interface ToolChange {
  name: string;
  change: string;
  tokens: number;
}

/** The tokens of both sides, tools and the output's schema included; `words` for people. */
export interface Totals {
  before: number;
  after: number;
  delta: number;
  words: string;
}

/** The differences of two versions. */
export interface Comparison {
  before: string;
  after: string;
  changes: SectionChange[];
  tools: ToolChange[];
  tokens: Totals;
  /** What a provider's prompt cache keeps. */
  kept: Kept;
  /** The texts as a unified diff. */
  unified: string;
  /** Whether the schema of the answer was `added`, `removed` or `changed`. */
  output: string;
  /** What of a revision couldn't be read from it, what changed that isn't sent, and which parameter sets weren't compared, in words. */
  caveat: string;
}

/** A section that some set has, or one without an `id`: the tools, the output, the total. */
export interface MatrixRow {
  id: string | null;
  key: string;
  title: string;
  depth: number;
}

/** A row with one set. */
export interface Cell {
  /** `full`, `summary`, `disabled`, `failed`, or `absent` where what is around it is summarized, off or closed; `over` for a total over the project's `token-budget`. */
  shown: string;
  /** Of the section's own text. */
  tokens: number;
  /** Where a section looks alike in two sets, both have the same; the first set that can be rendered has 0. */
  variant: number;
  /** The tokens, or why there are none, for people. */
  words: string;
}

/** A column: a parameter set with a cell for each row, and the tokens of a request. */
export interface MatrixSet {
  name: string;
  cells: Cell[];
  tokens: Tokens | null;
  error: string | null;
}

/** The parameter sets of a prompt by its sections: what each shows, and what it costs. */
export interface Matrix {
  rows: MatrixRow[];
  sets: MatrixSet[];
}

/** A step that undo goes back through; its `chapters` are None where all are open. */
export interface Step {
  action: string;
  section_keys: string[];
  reason: string | null;
  params: Record<string, Record<string, unknown>>;
  parameter_set: string | null;
  chapters: string[] | null;
  budget: number | null;
  overrides: Record<string, string>;
  version: number;
}

/** The steps of a preview, and the versions that can be compared. */
export interface Steps {
  sessionId: string;
  steps: Step[];
  versions: number[];
}

/** The tokens of a section; `if_opened` is what opening it costs, if summarized and known. */
export interface SectionTokens {
  key: string;
  path: string[];
  number: string;
  title: string;
  visibility: string;
  tokens: number;
  subtree: number;
  if_opened: IfOpened | null;
}

/** The tokens of a request; `certain` if running the prompt gives what was counted. */
export interface PromptTokens {
  name: string;
  uri: string;
  fidelity: string;
  certain: boolean;
  encoding: string;
  exact: boolean;
  tokens: number;
  text: number;
  tools: number;
  output: number;
  budget: number | null;
  lower_bound: boolean;
  unresolved: string[];
  sections: SectionTokens[];
}

/** A place in the source. */
export interface SourcePlace {
  /** What is there, in words. */
  what: string;
  uri: string;
  /** From 1. */
  line: number;
  /** From 1, in code points. */
  column: number;
  /** For editors; None where none is there. */
  location: Location | null;
  /** The lines around it: what is before it, the place itself, and what is behind it. */
  excerpt: [string, string, string];
}

/** The origin of a preview's character. */
export interface TextOrigin {
  /** That, for people. */
  words: string;
  /** False if the places are only the nearest that are known. */
  exact: boolean;
  /** The nearest first; none if the source doesn't show the section. */
  places: SourcePlace[];
}

/** A part of a block's text, in UTF-16 code units. */
export interface Occurrence {
  id: string;
  start: number;
  end: number;
}

/** What a user does in the page, or asks. */
// prettier-ignore
export type PromptAction =
  | { action: 'openSections'; key?: string; reason?: string; chapters?: string[] }
  | { action: 'closeSections'; key?: string; chapters?: string[] }
  | { action: 'readSection'; key?: string }
  | { action: 'setParams'; params?: Record<string, Record<string, unknown>>; parameter_set?: string; budget?: number; budget_unit?: 'tokens' | 'bytes' }
  | { action: 'undo'; steps?: number }
  | { action: 'reset' }
  | { action: 'history' }
  | { action: 'diff'; before?: number; after?: number; revision?: string; before_set?: string; after_set?: string }
  | { action: 'occurrences'; source?: string; line?: number; character?: number; size?: number }
  | { action: 'render'; key?: string; params?: Record<string, Record<string, unknown>>; fidelity?: 'executed' | 'static' }
  | { action: 'compareSets' };
