// Answers of the server's commands, beside those that the preview knows.

export type { PromptTokens, SectionTokens } from './promptMessages';

/** The answer of an operation on code: the text that a model gets, and its data. */
export interface CodeAnswer<Data> {
  text: string;
  data: Data;
  backend: string;
  coverage: string;
}
