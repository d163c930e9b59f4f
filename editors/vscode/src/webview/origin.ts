// Where a character comes from: in words, with a button for each place, and in a browser with the
// source itself, whose characters lead back to the page.

import type { AnyAction } from '../preview/messages';
import type { Occurrence, SourcePlace, TextOrigin } from '../wire';
import { button, caretAt, element } from './dom';
import { reasonOf } from './reasons';

interface Around {
  inEditor: boolean;
  perform(action: AnyAction): Promise<unknown>;
  /** Marks what comes from the source that the pointer is on. */
  mark(parts: readonly Occurrence[]): void;
}

export class OriginBar {
  readonly root = element('section.from', { 'aria-label': 'Source', 'aria-live': 'polite' });
  private last = '';

  constructor(private readonly around: Around) {
    this.root.hidden = true;
    addEventListener('keydown', ({ key }) => key === 'Escape' && this.close());
  }

  /** Asks where a character comes from, goes to one of its places, and says the others. */
  async trace(key: string, offset: number, place = 0): Promise<void> {
    try {
      const action = { action: 'goToOrigin', key, offset, place } as const;
      this.show((await this.around.perform(action)) as TextOrigin, place, (other) =>
        this.trace(key, offset, other),
      );
    } catch (error) {
      this.say(element('span', {}, reasonOf(error)));
    }
  }

  private show(
    { exact, places }: TextOrigin,
    chosen: number,
    go: (place: number) => Promise<void>,
  ): void {
    if (this.around.inEditor && exact && places.length === 1) {
      this.close();
      return;
    }
    const named = places.map(({ what }, place) =>
      button('link', { 'aria-current': String(place === chosen) }, () => void go(place), what),
    );
    const place = places[chosen];
    this.say(
      exact ? null : element('strong', {}, places.length > 0 ? NEAREST : NOWHERE),
      ...named,
      place === undefined || this.around.inEditor ? null : this.excerpt(place),
    );
  }

  private say(...content: (HTMLElement | null)[]): void {
    this.root.replaceChildren(
      ...content.filter((one) => one !== null),
      button('quiet', { 'aria-label': 'Close' }, () => this.close(), '×'),
    );
    this.root.hidden = false;
  }

  private close(): void {
    this.root.hidden = true;
    this.last = '';
    this.around.mark([]);
  }

  /** The lines around a place; what the pointer is on there is marked in the page. */
  private excerpt(place: SourcePlace): HTMLElement {
    const [before, here, after] = place.excerpt;
    const made = element('pre', { tabindex: '0' }, before, element('mark', {}, here), after);
    void this.find(place, before, Array.from(here).length);
    const follow = ({ clientX, clientY }: MouseEvent): void => {
      const [node, index] = caretAt(clientX, clientY) ?? [];
      if (node && index !== undefined && made.contains(node)) {
        const range = document.createRange();
        range.setStart(made, 0);
        range.setEnd(node, index);
        void this.find(place, range.toString(), 1);
      }
    };
    made.addEventListener('mousemove', follow);
    made.addEventListener('click', follow);
    return made;
  }

  /** Marks what comes from the characters behind the beginning of an excerpt. */
  private async find({ uri, line, excerpt }: SourcePlace, behind: string, size: number) {
    const lines = behind.split(/\r\n|\r|\n/);
    const first = line - excerpt[0].split(/\r\n|\r|\n/).length;
    const character = lines.at(-1)?.length ?? 0;
    const at = { source: uri, line: first + lines.length - 1, character, size };
    const asked = (this.last = JSON.stringify(at));
    const parts = (await this.around.perform({ action: 'occurrences', ...at })) as Occurrence[];
    if (asked === this.last) {
      this.around.mark(parts);
    }
  }
}

const NEAREST = 'Not known exactly. The nearest place:';
const NOWHERE = 'The source doesn’t show where this comes from.';
