// A field's value as it is typed, and back: by the name of its type.

import type { ParameterField } from '../wire';

export type Shape = 'switch' | 'choice' | 'whole' | 'number' | 'text' | 'optional' | 'json';

export function shape({ type, choices }: ParameterField): Shape {
  if (type === 'bool') {
    return 'switch';
  }
  if (choices !== null) {
    return 'choice';
  }
  const kinds: Record<string, Shape> = { str: 'text', int: 'whole', float: 'number' };
  return (
    kinds[type] ?? (/^(typing\.)?(Optional\[str\]|str \| None)$/.test(type) ? 'optional' : 'json')
  );
}

/** The value as the input shows it. */
export function written(field: ParameterField): string {
  const { value } = field;
  switch (shape(field)) {
    case 'switch':
      return String(value === true);
    case 'text':
    case 'optional':
      return typeof value === 'string' ? value : '';
    case 'whole':
    case 'number':
      return typeof value === 'number' ? String(value) : '';
    case 'choice':
    case 'json':
      return value === undefined ? '' : JSON.stringify(value);
  }
}

/** What was typed as a value, or why it is none. */
export function parse(
  field: ParameterField,
  text: string,
): { value: unknown } | { problem: string } {
  switch (shape(field)) {
    case 'switch':
      return { value: text === 'true' };
    case 'text':
      return { value: text };
    case 'optional':
      return { value: text === '' ? null : text };
    case 'whole':
      return /^\s*[+-]?\d+\s*$/.test(text)
        ? { value: Number(text) }
        : { problem: 'Type a whole number, such as 3.' };
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text))
        ? { value: Number(text) }
        : { problem: 'Type a number, such as 2.5.' };
    case 'choice':
    case 'json':
      try {
        return { value: JSON.parse(text) as unknown };
      } catch {
        return { problem: `Type JSON for ${field.type}, such as ["a", "b"].` };
      }
  }
}
