type Child = Node | string | null | undefined | false;

/** An element with classes and children; text stays text. `tag` may carry classes: `div.head`. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K | `${K}.${string}`,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const [name, ...classes] = tag.split('.') as [K, ...string[]];
  const made = document.createElement(name);
  made.classList.add(...classes);
  for (const [attribute, value] of Object.entries(attributes)) {
    made.setAttribute(attribute, value);
  }
  made.append(...children.filter((child): child is Node | string => Boolean(child)));
  return made;
}

/** A text with what stands between backticks as code. */
export function withCode(text: string): (Node | string)[] {
  return text.split('`').map((part, at) => (at % 2 === 1 ? element('code', {}, part) : part));
}

export function button(
  classes: string,
  attributes: Record<string, string>,
  pressed: () => void,
  ...children: Child[]
): HTMLButtonElement {
  const made = element('button', { type: 'button', class: classes, ...attributes }, ...children);
  made.addEventListener('click', pressed);
  return made;
}

/** The text node at a point of the window, and the number of characters before the point. */
export function caretAt(x: number, y: number): [Node, number] | null {
  // Not every browser has it yet.
  const position =
    'caretPositionFromPoint' in document ? document.caretPositionFromPoint(x, y) : null;
  return position ? [position.offsetNode, position.offset] : null;
}
