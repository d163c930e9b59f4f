// Answers of the server's commands, beside those that the preview knows.

/** What a prompt costs by its source alone. */
export interface PromptTokens {
  name: string;
  uri: string;
  encoding: string;
  exact: boolean;
  tokens: number;
  /** The most that the project lets it cost. */
  budget: number | null;
  sections: SectionTokens[];
}

export interface SectionTokens {
  key: string;
  path: string[];
  number: string;
  title: string;
  tokens: number;
  subtree: number;
  if_opened: number | null;
}

/** The answer of an operation on code: the text that a model gets, and its data. */
export interface CodeAnswer<Data> {
  text: string;
  data: Data;
  backend: string;
  coverage: string;
}
