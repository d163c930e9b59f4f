// Made of editors/vscode/src/webview by `npm run page`.

// src/preview/stale.ts
var LAST_GOOD = "Showing the last version that rendered. ";
var SOURCE_ALONE = "Showing the source, not executed. ";
var UNTRUSTED = {
  kind: "untrusted",
  text: `${SOURCE_ALONE}Nothing of this folder runs before you trust it.`,
  actions: [{ id: "trust", title: "Manage Trust" }]
};
var OF_THE_INTERPRETER = ["interpreter", "no_foldline"];
var MISSING_MODULE = /(ModuleNotFound|Import)Error/;
function staleNotice(stale, hasText, fidelity, uri = "") {
  if (stale.kind === "untrusted") {
    return UNTRUSTED;
  }
  const shown = fidelity === "static" ? SOURCE_ALONE : LAST_GOOD;
  return {
    kind: "stale",
    text: (hasText ? shown : "") + sentence(problemOf(stale, uri)) + usedBy(stale),
    actions: actionsOf(stale.kind, stale.message, stale.file)
  };
}
function usedBy({ kind, message, interpreter }) {
  return interpreter && isOfInterpreter(kind, message) && !message.includes(interpreter) ? ` It ran in ${interpreter}.` : "";
}
function isOfInterpreter(kind, message) {
  return OF_THE_INTERPRETER.includes(kind) || MISSING_MODULE.test(message);
}
function actionsOf(kind, message, file) {
  const actions = [];
  if (file) {
    actions.push({ id: "revealProblem", title: "Go to Problem" });
  }
  if (isOfInterpreter(kind, message)) {
    actions.push({ id: "chooseInterpreter", title: "Choose Interpreter" });
  }
  return actions;
}
function problemOf({ message, file, line }, uri) {
  const name = file?.split("/").at(-1) ?? "";
  const start = `${name}:${line}: `;
  if (file === null || line === null || !message.startsWith(start)) {
    return message;
  }
  const what = message.slice(start.length).replace(/^this isn't Python: /, "");
  return decodeURI(uri).endsWith(file) ? `Line ${line}: ${what}` : `${name}, line ${line}: ${what}`;
}
function sentence(text) {
  return /[.!?…:]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`;
}

// src/preview/model.ts
var Blocks = class {
  byId = /* @__PURE__ */ new Map();
  ids = [];
  get order() {
    return this.ids;
  }
  /** All blocks in the order of the text. */
  all() {
    return this.ids.flatMap((id) => this.byId.get(id) ?? []);
  }
  get(id) {
    return this.byId.get(id);
  }
  /** Takes in new and changed blocks, and forgets those that `order` no longer names. */
  apply(order, blocks) {
    for (const block of blocks) {
      this.byId.set(block.id, block);
    }
    const kept = new Set(order);
    for (const id of this.byId.keys()) {
      if (!kept.has(id)) {
        this.byId.delete(id);
      }
    }
    this.ids = [...order];
  }
  clear() {
    this.apply([], []);
  }
};

// src/webview/dom.ts
function element(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const made = document.createElement(name);
  made.classList.add(...classes);
  for (const [attribute2, value] of Object.entries(attributes)) {
    made.setAttribute(attribute2, value);
  }
  made.append(...children.filter((child) => Boolean(child)));
  return made;
}
function withCode(text) {
  return text.split("`").map((part, at) => at % 2 === 1 ? element("code", {}, part) : part);
}
function button(classes, attributes, pressed, ...children) {
  const made = element("button", { type: "button", class: classes, ...attributes }, ...children);
  made.addEventListener("click", pressed);
  return made;
}
function caretAt(x, y) {
  const position = "caretPositionFromPoint" in document ? document.caretPositionFromPoint(x, y) : null;
  return position ? [position.offsetNode, position.offset] : null;
}

// src/webview/numbers.ts
function amount(count) {
  return count.toLocaleString("en").replace("-", "−");
}
function counted(count, word) {
  return `${amount(count)} ${word}${count === 1 ? "" : "s"}`;
}
function change(count) {
  return `${count < 0 ? "" : "+"}${amount(count)}`;
}
function ifOpened(cost2, plan, about = "") {
  const parts = cost2.tools === 0 ? "" : ` (${change(cost2.text)} text, ${change(cost2.tools)} tools)`;
  const read = cost2.breakpoint === null ? 0 : plan?.breakpoints[cost2.breakpoint]?.tokens ?? 0;
  const again = (plan?.cached ?? 0) - read;
  const lost = again > 0 ? `, ${amount(again)} cached tokens read again` : "";
  return `${about}${change(cost2.total)} if opened${parts}${lost}`;
}
function share(part, whole) {
  return whole === 0 ? "0%" : `${Math.round(100 * part / whole)}%`;
}

// src/webview/offsets.ts
var LINK_END = /^(?:>|\]\[[^\]]*\]|\]\((?:\\.|"[^"]*"|<[^>]*>|[^()\\]|\([^()]*\))*\))/;
var ESCAPED = /[!-/:-@[-`{-~]/;
function offsetsOf(tokens, text) {
  const found = /* @__PURE__ */ new Map();
  const lines = [...text.matchAll(/([^\r\n]*)(?:\r\n|\r|\n|$)/g)];
  let row = 0;
  let cell = null;
  for (const token of tokens) {
    const first = token.map?.[0] ?? 0;
    if (token.type === "table_open") {
      row = first - 1;
    } else if (token.type === "thead_close") {
      row++;
    } else if (token.type === "tr_open") {
      row++;
      const start = lines[row]?.index ?? text.length;
      cell = start + lengthOf(/^[\s>]*(?:(?:[-+*]|\d+[.)])\s)?/, text.slice(start));
    } else if (token.type === "table_close") {
      cell = null;
    } else if (token.type === "fence" || token.type === "code_block") {
      found.set(token, ofLines(token.content, first + Number(token.type === "fence")));
    } else if (token.type === "inline" && cell !== null) {
      cell += lengthOf(/^[ \t]*\|?[ \t]*/, text.slice(cell));
      const places = ofCell(token.content, cell);
      cell = (places.at(-1) ?? cell - 1) + 1;
      inline(token, places);
    } else if (token.type === "inline") {
      inline(token, ofLines(token.content, first));
    }
  }
  for (const [{ content }, places] of found) {
    places.forEach((at, i) => {
      if (text[at] !== content[i] && !(content[i] === " " && text[at] === "\n")) {
        places[i] = -1;
      }
    });
  }
  return found;
  function ofLines(content, first) {
    return content.split("\n").flatMap((line, number) => {
      const all = lines[first + number];
      const [whole, index] = [all?.[1] ?? "", all?.index ?? 0];
      const own = line.trimStart();
      const at = index + whole.lastIndexOf(own) - (line.length - own.length);
      return [...Array.from({ length: line.length }, (_, i) => at + i), index + whole.length];
    });
  }
  function ofCell(content, from) {
    return content.split("").map((char) => {
      from += Number(char === "|" && text[from] === "\\");
      return from++;
    });
  }
  function inline({ content, children }, places) {
    let at = 0;
    const take = (token, escaped) => {
      const own = token.content.split("").map((char) => {
        at += Number(escaped && content[at] === "\\" && ESCAPED.test(content[at + 1] ?? ""));
        const same = content[at] === char || char === " " && content[at] === "\n";
        return (same ? places[at++] : ++at && -1) ?? -1;
      });
      found.set(token, own);
    };
    for (const token of children ?? []) {
      const { type, markup } = token;
      if (type === "softbreak" || type === "hardbreak") {
        at = content.indexOf("\n", at) + 1;
        at += lengthOf(/^[ \t]*/, content.slice(at));
      } else if (type === "code_inline") {
        at += markup.length;
        const isPadded = !content.slice(at).replaceAll("\n", " ").startsWith(token.content);
        at += Number(isPadded);
        take(token, false);
        at += Number(isPadded) + markup.length;
      } else if (type === "link_open" || type === "link_close") {
        at = type === "link_open" ? at + 1 : behindLink(content, at);
      } else if (type === "image") {
        at = behindLink(content, content.indexOf(`](`, at));
      } else if (type === "text" || type === "text_special") {
        if (content[at] !== token.content[0] && content[at] !== "\\") {
          at = Math.max(at, content.indexOf(token.content, at));
        }
        take(token, true);
      } else {
        at += markup.length;
      }
    }
  }
}
function behindLink(content, at) {
  const rest = content.slice(at);
  return at + (lengthOf(LINK_END, rest) || 1);
}
function lengthOf(pattern, text) {
  return pattern.exec(text)?.[0].length ?? 0;
}

// src/webview/tokens.ts
var TAGS = /* @__PURE__ */ new Set([
  ...["p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "hr", "br"],
  ...["em", "strong", "s", "table", "thead", "tbody", "tr", "th", "td"]
]);
function elementsOf(tokens, shown = () => void 0) {
  const fragment = document.createDocumentFragment();
  append(fragment, tokens, shown);
  return fragment;
}
function append(root, tokens, shown) {
  const open = [root];
  for (const token of tokens) {
    const parent = open.at(-1) ?? root;
    if (token.nesting === -1) {
      open.pop();
      continue;
    }
    const isInline = token.type === "inline";
    const node = isInline ? elementsOf(token.children ?? [], shown) : nodeOf(token);
    shown(token, node);
    parent.appendChild(node);
    if (token.nesting === 1) {
      open.push(token.hidden ? parent : node);
    }
  }
}
function nodeOf(token) {
  if (token.hidden) {
    return document.createDocumentFragment();
  }
  switch (token.type) {
    case "text":
    case "text_special":
    case "html_inline":
    case "html_block":
      return document.createTextNode(token.content);
    case "softbreak":
      return element("br");
    case "code_inline":
      return element("code", {}, token.content);
    case "code_block":
    case "fence":
      return element("pre", {}, element("code", {}, token.content));
    case "link_open":
      return link(token);
    case "image":
      return element("span.image", {}, `[${token.content}](${attribute(token, "src")})`);
    default:
      return TAGS.has(token.tag) ? tagged(token) : element("span", {}, token.content);
  }
}
function link(token) {
  const target = attribute(token, "href");
  return /^(https?|mailto):/i.test(target) ? element("a", { href: target, title: target }) : element("span.link", { title: target });
}
function tagged(token) {
  const made = document.createElement(token.tag);
  const start = attribute(token, "start");
  if (start !== "") {
    made.setAttribute("start", start);
  }
  const alignment = /text-align:(left|center|right)/.exec(attribute(token, "style"))?.[1];
  if (alignment !== void 0) {
    made.classList.add(alignment);
  }
  return made;
}
function attribute(token, name) {
  return String(token.attrs?.find(([known]) => known === name)?.[1] ?? "");
}

// src/webview/reasons.ts
function reasonOf(error) {
  return error instanceof Error ? error.message : String(error);
}

// src/webview/block.ts
var PARTS = ["body", "suffix"];
var SEGMENT_TITLES = {
  param: "value of a parameter",
  default: "default of a parameter",
  derived: "made by the section",
  suffix: "how the model opens the section"
};
var BlockView = class {
  constructor(block, actions) {
    this.block = block;
    this.actions = actions;
    const { id } = block;
    const bodyId = `body-${id}`;
    this.fold = button(
      "fold",
      { "aria-controls": bodyId, "aria-expanded": "true" },
      () => actions.fold(id)
    );
    this.heading = element("div.heading", { role: "heading" }, this.fold);
    this.badge = element("span.badge");
    this.costs = element("span.costs");
    this.change = button("change", {}, () => void this.toggle());
    this.read = button(
      "quiet read",
      { title: "Read the whole section without opening it", "aria-expanded": "false" },
      () => void this.toggleText(),
      "Read"
    );
    this.why = button("quiet", { title: "Open with a reason" }, () => this.askReason(), "…");
    this.source = button(
      "source",
      { title: "Go to the source of this section" },
      () => actions.reveal(this.block.key),
      "↗"
    );
    this.aside.hidden = true;
    this.body = element("div.body", { id: bodyId });
    this.root = element(
      "section.block",
      { "data-id": id },
      this.role,
      element(
        "div.head",
        {},
        this.heading,
        element(
          "span.side",
          {},
          this.source,
          this.costs,
          this.badge,
          element("span.doings", {}, this.read, element("span.split", {}, this.change, this.why))
        )
      ),
      this.aside,
      this.body
    );
  }
  block;
  actions;
  root;
  role = element("div.role");
  fold;
  heading;
  badge;
  costs;
  change;
  read;
  why;
  source;
  aside = element("div.aside");
  body;
  shown = "";
  /** What the Markdown of each part was parsed to, and the node that shows each token. */
  parsed = /* @__PURE__ */ new Map();
  places = null;
  mode = "markdown";
  get key() {
    return this.block.key;
  }
  /** Says in front of the section that a message of this role begins with it. */
  begins(role) {
    this.role.hidden = role === null;
    this.role.textContent = role === null ? "" : `${role} message`;
  }
  /** Shows the block; touches the page only where something differs. True when the text differs. */
  update(block, mode, reveals, plan, about = "") {
    this.block = block;
    const label = [block.number, block.title].filter(Boolean).join(" ") || block.key;
    this.heading.setAttribute("aria-level", String(Math.min(block.depth + 2, 6)));
    this.root.style.setProperty("--depth", String(block.depth));
    this.fold.replaceChildren(
      element("span.twist", { "aria-hidden": "true" }),
      ...block.number ? [element("span.number", {}, block.number)] : [],
      element("span.title", {}, block.title || block.key)
    );
    const summary = block.visibility === "SUMMARY";
    this.root.classList.toggle("summary", summary);
    this.root.classList.toggle("opened", block.opened);
    this.root.classList.toggle("disabled", !block.enabled);
    const state = badgeOf(block);
    this.badge.textContent = state;
    this.badge.hidden = state === "";
    this.costs.replaceChildren(...costsOf(block, plan, about));
    this.change.hidden = !(block.enabled && (summary || block.opened));
    this.change.textContent = block.opened ? "Close" : "Open";
    this.change.setAttribute("aria-label", `${block.opened ? "Close" : "Open"} ${label}`);
    this.read.hidden = this.why.hidden = !(block.enabled && summary);
    this.read.setAttribute("aria-label", `Read ${label}`);
    this.why.setAttribute("aria-label", `Reason for opening ${label}`);
    if (!summary) {
      this.closeAside();
    }
    this.source.hidden = block.location === null || !reveals;
    this.source.setAttribute("aria-label", `Go to the source of ${label}`);
    const text = JSON.stringify([block.text, block.segments, block.error]);
    const differs = text !== this.shown;
    this.places = null;
    if (differs || mode !== this.mode) {
      this.body.replaceChildren(mode === "text" ? asText(block) : this.asMarkdown());
      this.shown = text;
      this.mode = mode;
    }
    return differs;
  }
  setFolded(folded, hidden) {
    this.root.classList.toggle("folded", folded);
    this.aside.hidden = folded || this.aside.childElementCount === 0;
    this.fold.setAttribute("aria-expanded", String(!folded));
    this.body.hidden = folded;
    this.root.hidden = hidden;
  }
  /** Whether the editor's cursor is in it. */
  setCurrent(current) {
    this.root.classList.toggle("current", current);
    if (current) {
      this.root.setAttribute("aria-current", "location");
    } else {
      this.root.removeAttribute("aria-current");
    }
  }
  /** The offset in the block's text of a character that a node shows; null if it isn't known. */
  offsetAt(node, index) {
    const at = this.located().get(node)?.[index] ?? -1;
    return at < 0 ? null : at;
  }
  /** The ranges of the page that show a part of the block's text. */
  rangesOf(start, end) {
    const found = [];
    for (const [node, places] of this.located()) {
      for (let at = 0; at < places.length; at++) {
        const first = at;
        while (at < places.length && (places[at] ?? -1) >= start && (places[at] ?? end) < end) {
          at++;
        }
        if (at > first) {
          const range = document.createRange();
          range.setStart(node, first);
          range.setEnd(node, at);
          found.push(range);
        }
      }
    }
    return found;
  }
  /** Where the characters of each text node stand in the block's text. */
  located() {
    if (this.places !== null) {
      return this.places;
    }
    const found = this.places = /* @__PURE__ */ new Map();
    const { segments, title } = this.block;
    const heading = segments[0]?.kind === "heading" ? segments[0].text : "";
    const named = this.fold.querySelector(".title")?.firstChild;
    if (named && heading.endsWith(title)) {
      found.set(named, upFrom(heading.length - title.length, title.length));
    }
    if (this.mode === "text") {
      let at = 0;
      this.body.querySelectorAll(".segment").forEach(({ firstChild }) => {
        const size = firstChild?.nodeValue?.length ?? 0;
        if (firstChild) {
          found.set(firstChild, upFrom(at, size));
        }
        at += size;
      });
      return found;
    }
    for (const [part, [tokens, nodes]] of this.parsed) {
      let start = 0;
      const own = segments.flatMap((segment) => {
        const { length } = segment.text;
        start += length;
        return isOf(segment, part) ? upFrom(start - length, length) : [];
      });
      for (const [token, places] of offsetsOf(tokens, textOf(this.block, part))) {
        const node = nodes.get(token);
        const inside = node && document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
        const shown = node instanceof Text ? node : inside?.nextNode();
        if (shown?.nodeValue === token.content) {
          found.set(
            shown,
            places.map((at) => own[at] ?? -1)
          );
        }
      }
    }
    return found;
  }
  async toggle(reason) {
    this.change.disabled = true;
    await this.actions.change(
      this.block.opened ? "closeSections" : "openSections",
      this.block.key,
      reason
    );
    this.change.disabled = false;
  }
  async toggleText() {
    if (this.read.getAttribute("aria-expanded") === "true") {
      this.closeAside();
      return;
    }
    let shown;
    try {
      const tokens = await this.actions.read(this.block.key);
      const own = tokens[0]?.type === "heading_open" ? 3 : 0;
      shown = element(
        "div.whole",
        { tabindex: "0", role: "group", "aria-label": "The whole section" },
        element("p.doc", {}, "The whole section. It isn’t part of the prompt until it is opened."),
        elementsOf(tokens.slice(own))
      );
    } catch (error) {
      const reason = reasonOf(error);
      shown = element("p.problem", { role: "alert" }, reason);
    }
    this.showAside(shown);
    this.read.setAttribute("aria-expanded", "true");
  }
  askReason() {
    const reason = element("input", {
      type: "text",
      "aria-label": "Reason to open it",
      placeholder: "Why? The prompt’s tool is told."
    });
    reason.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        void this.toggle(reason.value);
      } else if (event.key === "Escape") {
        this.closeAside();
        this.why.focus();
      }
      event.stopPropagation();
    });
    const open = button("", {}, () => void this.toggle(reason.value), "Open");
    this.showAside(element("div.row", {}, reason, open));
    reason.focus();
  }
  showAside(content) {
    this.read.setAttribute("aria-expanded", "false");
    this.aside.replaceChildren(content);
    this.aside.hidden = false;
  }
  closeAside() {
    this.read.setAttribute("aria-expanded", "false");
    this.aside.replaceChildren();
    this.aside.hidden = true;
  }
  asMarkdown() {
    const { error } = this.block;
    this.parsed.clear();
    if (error) {
      const { file, line } = error;
      const link2 = file && line ? button("link", {}, () => this.actions.go(file, line), `Go to line ${line}`) : null;
      return element("div.error", {}, element("div", { role: "alert" }, error.message), link2);
    }
    const fragment = document.createDocumentFragment();
    const [body, suffix] = PARTS.map((part) => this.elementsOf(part));
    fragment.append(element("div.markdown", {}, body));
    if (suffix?.hasChildNodes()) {
      const title = SEGMENT_TITLES.suffix ?? "";
      fragment.append(element("div.suffix", { title }, suffix));
    }
    return fragment;
  }
  elementsOf(part) {
    const tokens = this.actions.markdown(this.block, part);
    const nodes = /* @__PURE__ */ new Map();
    this.parsed.set(part, [tokens, nodes]);
    return elementsOf(tokens, (token, node) => nodes.set(token, node));
  }
};
function badgeOf(block) {
  if (!block.enabled) {
    return "off";
  }
  return block.visibility === "SUMMARY" ? "summarized" : block.opened ? "opened" : "";
}
function textOf(block, part) {
  const own = block.segments.filter((segment) => isOf(segment, part));
  return own.map((segment) => segment.text).join("");
}
function isOf({ kind }, part) {
  return part === "suffix" ? kind === "suffix" : kind !== "heading" && kind !== "suffix";
}
function upFrom(start, length) {
  return Array.from({ length }, (_, index) => start + index);
}
function costsOf({ tokens, enabled, error }, plan, about) {
  if (tokens === void 0 || !enabled || error) {
    return [];
  }
  const parent = tokens.subtree !== tokens.self;
  const costs = [
    cost(parent ? "own parent" : "own", about + counted(tokens.self, "token"), "Its own text")
  ];
  if (parent) {
    const title = "With the sections below it";
    costs.push(cost("subtree", `${about}${amount(tokens.subtree)} in all`, title));
  }
  if (tokens.if_opened !== null) {
    costs.push(cost("if-opened", ifOpened(tokens.if_opened, plan, about), OPENING));
  }
  return costs;
}
var OPENING = "What the next request costs more or less once this section is open: its text and its tools in, its summary and tools that nothing needs any more out.";
function cost(kind, words, title) {
  return element("span", { class: `cost ${kind}`, title }, words);
}
function asText(block) {
  const spans = block.segments.map((segment) => {
    const title = SEGMENT_TITLES[segment.kind];
    const field = segment.field ? `${segment.field}: ` : "";
    return element(
      "span",
      { class: `segment ${segment.kind}`, ...title ? { title: field + title } : {} },
      segment.text
    );
  });
  return element("pre.text", {}, ...spans);
}

// src/webview/chapters.ts
var Chapters = class {
  constructor(change2) {
    this.change = change2;
    this.root.append(this.shown, this.rows);
  }
  change;
  root = element("div");
  shown = element("p.doc");
  rows = element("ul.chapters");
  show(chapters, shown) {
    const focused = document.activeElement?.dataset.chapter;
    this.shown.replaceChildren(...withCode(`Chapters: ${shown}.`));
    this.rows.replaceChildren(...chapters.map((chapter) => this.row(chapter)));
    this.rows.querySelector(`[data-chapter="${CSS.escape(focused ?? "")}"]`)?.focus();
  }
  row(chapter) {
    const { key, title, open } = chapter;
    const reason = element("input", {
      type: "text",
      placeholder: "reason",
      "aria-label": `Reason to open ${title}`
    });
    const refusal = element("p.problem", { role: "alert" });
    const toggle = button(
      open ? "" : "primary",
      {
        "data-chapter": key,
        "aria-label": `${open ? "Close" : "Open"} chapter ${title}`
      },
      () => {
        this.change(!open, key, reason.value).catch((error) => {
          refusal.textContent = reasonOf(error);
        });
      },
      open ? "Close" : "Open"
    );
    toggle.disabled = !open && !chapter.may_open;
    reason.hidden = open || !chapter.may_open;
    const why = chapter.reasons.join("; ");
    const state = open ? "open" : chapter.may_open ? "closed" : "can’t open";
    return element(
      "li",
      {},
      element(
        "div.row",
        {},
        element("strong", {}, title || key),
        element("span.badge", {}, state),
        element("span.space"),
        reason,
        toggle
      ),
      chapter.description !== null && element("p.doc", {}, chapter.description),
      element(
        "p.doc",
        {},
        ...withCode(
          chapter.may_open ? "Can be opened." : `Can’t be opened with these values: ${why}.`
        )
      ),
      refusal
    );
  }
};

// src/webview/diff.ts
function diffOf(found) {
  const { tokens, changes, tools, output, caveat } = found;
  if (changes.length + tools.length === 0 && found.unified + output === "") {
    return element("p.doc", {}, `No change since ${found.before}. ${caveat}`.trim());
  }
  const sections = changes.map(
    (item) => element("li", {}, `${item.title || item.key}: ${item.change}, ${change(item.tokens)} tokens`)
  );
  const others = tools.map(
    (tool) => element("li", {}, `tool ${tool.name}: ${tool.change}, ${change(tool.tokens)} tokens`)
  );
  if (output !== "") {
    others.push(element("li", {}, `the answer's schema: ${output}`));
  }
  const lines = found.unified.split("\n").slice(2);
  return element(
    "div.diff",
    {},
    element("p.doc", {}, `${tokens.words} ${caveat}`.trim()),
    element("ul", {}, ...sections, ...others),
    element("pre", { tabindex: "0", "aria-label": "Differences" }, ...lines.map(lineOf))
  );
}
function lineOf(line) {
  const kinds = { "+": "added", "-": "removed", "@": "place" };
  return element("span", { class: `line ${kinds[line[0] ?? ""] ?? ""}` }, `${line}
`);
}

// src/webview/compare.ts
var Compare = class {
  constructor(perform, inEditor) {
    this.perform = perform;
    this.inEditor = inEditor;
    this.back = button("", {}, () => void this.run(() => this.previous()), "Previous Step");
    const chosen = button(
      "",
      {},
      () => this.withRevision(this.revision.value),
      "Compare with Revision"
    );
    this.revision.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        this.withRevision(this.revision.value);
      }
    });
    this.root.append(
      this.sides,
      element(
        "div.row",
        {},
        this.back,
        button("", {}, () => this.withRevision("HEAD"), "HEAD"),
        this.revision,
        chosen
      ),
      this.found
    );
  }
  perform;
  inEditor;
  root = element("div.compare");
  sides = element("p.doc");
  revision = element("input", {
    type: "text",
    placeholder: "branch or revision",
    "aria-label": "Branch or revision",
    spellcheck: "false"
  });
  found = element("div", { "aria-live": "polite" });
  back;
  show(steps, set) {
    this.back.hidden = !steps;
    const values = set === null ? "these values" : `set ${set}`;
    this.sides.textContent = `Compares this prompt (${values}, sections as opened now) with its source at HEAD or another git revision.`;
  }
  withRevision(revision) {
    if (revision.trim() !== "") {
      void this.run(() => this.ask({ revision: revision.trim() }));
    }
  }
  /** The version in front of the one that first showed the last step. */
  async previous() {
    const { steps, versions } = await this.perform({ action: "history" });
    const last = steps.at(-1)?.version ?? 1;
    await this.ask({
      before: versions.filter((version) => version < last).at(-1) ?? versions[0] ?? 1
    });
  }
  async ask(side) {
    if (this.inEditor) {
      const same = await this.perform({ action: "compare", ...side });
      this.found.replaceChildren(same === void 0 ? "" : element("p.doc", {}, same));
    } else {
      const found = await this.perform({ action: "diff", ...side });
      this.found.replaceChildren(diffOf(found));
    }
  }
  async run(compare) {
    try {
      await compare();
    } catch (error) {
      const reason = reasonOf(error);
      this.found.replaceChildren(element("p.problem", { role: "alert" }, reason));
    }
  }
};

// src/webview/drawers.ts
var Drawers = class {
  /** `changed` is called when one opens or closes; `home` takes the focus of one that closes. */
  constructor(changed, home) {
    this.changed = changed;
    this.home = home;
  }
  changed;
  home;
  /** What opens them, for a menu. */
  buttons = element("div.group");
  root = element("div.drawers");
  drawers = /* @__PURE__ */ new Map();
  /** The drawer that is open. */
  get opened() {
    return [...this.drawers].find(([, { panel }]) => !panel.hidden)?.[0] ?? null;
  }
  /** Adds a drawer with its button; `opened` is called whenever it opens. */
  add(name, label, content, opened) {
    const close = () => {
      this.toggle(name, false);
      this.home().focus();
    };
    const pressed = () => {
      this.toggle(name);
      if (!drawer.panel.hidden) {
        drawer.panel.focus();
        opened?.();
      }
    };
    const drawer = new Drawer(name, label, content, pressed, close);
    this.drawers.set(name, drawer);
    this.buttons.append(drawer.button);
    this.root.append(drawer.panel);
    return drawer;
  }
  open(name) {
    this.toggle(name, true);
  }
  toggle(name, open) {
    for (const [known, drawer] of this.drawers) {
      drawer.setOpen(known === name && (open ?? Boolean(drawer.panel.hidden)));
    }
    this.changed();
  }
};
var Drawer = class {
  button;
  panel;
  count = element("span.count");
  constructor(name, label, content, pressed, close) {
    const id = `drawer-${name}`;
    this.button = button("", { "aria-expanded": "false", "aria-controls": id }, pressed, label);
    this.button.append(this.count);
    this.panel = element(
      "section.drawer",
      { id, "aria-label": label, tabindex: "-1" },
      element(
        "div.row",
        {},
        element("strong", {}, label),
        element("span.space"),
        button("", { "aria-label": `Close ${label}`, title: "Close" }, close, "×")
      ),
      content
    );
    this.panel.hidden = true;
    this.panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        close();
      }
    });
  }
  /** Shows a number beside the label, and whether there is anything to open. */
  tell(count, used = true) {
    this.count.textContent = count && ` ${count}`;
    this.button.hidden = !used;
    if (!used) {
      this.setOpen(false);
    }
  }
  setOpen(open) {
    this.panel.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
  }
};

// src/webview/inputs.ts
function shape({ type, choices }) {
  if (type === "bool") {
    return "switch";
  }
  if (choices !== null) {
    return "choice";
  }
  const kinds = { str: "text", int: "whole", float: "number" };
  return kinds[type] ?? (/^(typing\.)?(Optional\[str\]|str \| None)$/.test(type) ? "optional" : "json");
}
function written(field) {
  const { value } = field;
  switch (shape(field)) {
    case "switch":
      return String(value === true);
    case "text":
    case "optional":
      return typeof value === "string" ? value : "";
    case "whole":
    case "number":
      return typeof value === "number" ? String(value) : "";
    case "choice":
    case "json":
      return value === void 0 ? "" : JSON.stringify(value);
  }
}
function parse(field, text) {
  switch (shape(field)) {
    case "switch":
      return { value: text === "true" };
    case "text":
      return { value: text };
    case "optional":
      return { value: text === "" ? null : text };
    case "whole":
      return /^\s*[+-]?\d+\s*$/.test(text) ? { value: Number(text) } : { problem: "Type a whole number, such as 3." };
    case "number":
      return text.trim() !== "" && Number.isFinite(Number(text)) ? { value: Number(text) } : { problem: "Type a number, such as 2.5." };
    case "choice":
    case "json":
      try {
        return { value: JSON.parse(text) };
      } catch {
        return { problem: `Type JSON for ${field.type}, such as ["a", "b"].` };
      }
  }
}

// src/webview/form.ts
var ORIGINS = {
  given: "set here",
  bound: "bound in the module",
  default_params: "default of the section",
  default: "default"
};
function slotOf({ section, type }) {
  return section ?? type;
}
var ParameterForm = class {
  constructor(actions) {
    this.actions = actions;
    this.resetAll = button("", {}, () => void this.send({}), "Reset All Values");
    this.refusal.hidden = true;
    this.root.append(
      this.groups,
      this.refusal,
      element(
        "div.foot",
        {},
        this.trial,
        element("label", { for: "only-try" }, "Render once: show the result, keep the preview"),
        element("span.space"),
        this.resetAll
      )
    );
  }
  actions;
  root = element("div.parameters");
  fields = /* @__PURE__ */ new Map();
  groups = element("div.groups");
  trial = element("input", { type: "checkbox", id: "only-try" });
  refusal = element("p.refusal", { role: "alert" });
  resetAll;
  params = {};
  shape = "";
  show(parameters, params, reveals) {
    this.params = params;
    this.resetAll.disabled = Object.keys(params).length === 0;
    const names = parameters.map((kind) => [slotOf(kind), ...kind.fields.map(shape)]);
    if (JSON.stringify(names) !== this.shape) {
      this.shape = JSON.stringify(names);
      this.build(parameters);
    }
    for (const kind of parameters) {
      for (const field of kind.fields) {
        const set = params[slotOf(kind)];
        const own = set !== void 0 && field.name in set;
        this.fields.get(`${slotOf(kind)}.${field.name}`)?.show(field, own, reveals);
      }
    }
  }
  build(parameters) {
    this.fields.clear();
    const groups = parameters.map((kind) => {
      const slot = slotOf(kind);
      const rows = kind.fields.map((field) => {
        const view = new FieldView(slot, field, {
          changed: (value) => void this.change(slot, field.name, value),
          reset: () => void this.reset(slot, field.name),
          go: (file, line) => this.actions.go(file, line)
        });
        this.fields.set(`${slot}.${field.name}`, view);
        return view.root;
      });
      const of = kind.section === null ? "" : ` for ${kind.section}`;
      return element(
        "fieldset",
        {},
        element("legend", {}, element("code", {}, kind.type), of),
        kind.doc !== "" && element("p.doc", {}, kind.doc),
        ...rows
      );
    });
    this.groups.replaceChildren(...groups);
  }
  change(slot, name, value) {
    const params = { ...this.params, [slot]: { ...this.params[slot], [name]: value } };
    return this.send(params, `${slot}.${name}`);
  }
  reset(slot, name) {
    const { [slot]: fields = {}, ...others } = this.params;
    const left = Object.entries(fields).filter(([field]) => field !== name);
    const params = left.length === 0 ? others : { ...others, [slot]: Object.fromEntries(left) };
    return this.send(params, `${slot}.${name}`);
  }
  /** Tells what refused the values at the field that was changed, else below the form. */
  async send(params, changed) {
    const field = changed === void 0 ? void 0 : this.fields.get(changed);
    try {
      await (this.trial.checked ? this.actions.once(params) : this.actions.set(params));
      field?.refuse(null);
      this.refusal.hidden = true;
    } catch (error) {
      const reason = plain(reasonOf(error));
      field?.refuse(reason);
      this.refusal.textContent = field === void 0 ? reason : "";
      this.refusal.hidden = field !== void 0;
    }
  }
};
function plain(reason) {
  const said2 = reason.replace(/^params: (\w+: )?/, "");
  return /^[a-z]+ /.test(said2) ? said2.charAt(0).toUpperCase() + said2.slice(1) : said2;
}
var FieldView = class {
  constructor(slot, field, actions) {
    this.field = field;
    this.actions = actions;
    const id = `value-${slot}.${field.name}`;
    const [doc, problem2] = [`${id}-doc`, `${id}-problem`];
    this.input = inputOf(field, { id, "aria-describedby": `${doc} ${problem2}` });
    this.input.addEventListener("change", () => this.commit());
    this.problem = element("p.problem", { id: problem2, role: "alert" });
    this.problem.hidden = true;
    this.reset = button(
      "reset",
      { "aria-label": `Reset ${field.name}`, title: "Take back the value that was set here" },
      () => {
        this.refused = false;
        actions.reset();
      },
      "Reset"
    );
    const said2 = [field.doc, field.required ? "Required." : ""].filter(Boolean).join(" ");
    this.root = element(
      "div.field",
      {},
      element(
        "div.name",
        {},
        element("label", { for: id }, field.name),
        element("span.type", {}, typeOf(field))
      ),
      element("div.value", {}, this.input, this.fixed, this.reset),
      this.problem,
      element("div.about", { id: doc }, this.origin, said2 !== "" && element("span.doc", {}, said2))
    );
  }
  field;
  actions;
  root;
  input;
  origin = element("span.origin");
  problem;
  fixed = element("code.fixed");
  reset;
  kept = "";
  refused = false;
  show(field, own, reveals) {
    this.field = field;
    this.reset.hidden = !own;
    this.input.hidden = !field.editable;
    this.fixed.hidden = field.editable;
    this.fixed.textContent = field.editable ? "" : field.shown;
    const made = field.origin?.source === "generated";
    this.root.classList.toggle("made-up", made);
    this.origin.replaceChildren(this.originOf(field.origin, reveals));
    const value = written(field);
    if (!this.refused && document.activeElement !== this.input) {
      this.write(value);
    }
    this.kept = value;
  }
  refuse(reason) {
    this.refused = reason !== null;
    this.problem.hidden = reason === null;
    this.problem.textContent = reason;
    this.input.toggleAttribute("aria-invalid", this.refused);
    if (this.refused) {
      this.input.setAttribute("aria-invalid", "true");
    }
  }
  read() {
    const { input } = this;
    return input instanceof HTMLInputElement && input.type === "checkbox" ? String(input.checked) : input.value;
  }
  write(value) {
    const { input } = this;
    if (input instanceof HTMLInputElement && input.type === "checkbox") {
      input.checked = value === "true";
    } else {
      input.value = value;
    }
  }
  commit() {
    const text = this.read();
    const parsed = parse(this.field, text);
    if ("problem" in parsed) {
      this.refuse(parsed.problem);
    } else if (text !== this.kept || this.refused) {
      this.actions.changed(parsed.value);
    }
  }
  originOf(origin, reveals) {
    if (origin === null) {
      return document.createTextNode("");
    }
    if (origin.source === "generated") {
      const title = "Nothing gives this value: set one here, or write a preview_…() function";
      return element("strong.made", { title }, "made up");
    }
    const { file, line = 1 } = origin;
    const name = file?.split("/").at(-1);
    const text = origin.source === "fixture" ? `${origin.name}()` : ORIGINS[origin.source] ?? name ?? "";
    if (file === void 0 || !reveals) {
      return element("span", file === void 0 ? {} : { title: file }, text);
    }
    const label = `Go to ${text} in ${name}`;
    return button("link", { "aria-label": label }, () => this.actions.go(file, line), text);
  }
};
function inputOf(field, attributes) {
  switch (shape(field)) {
    case "switch":
      return element("input", { type: "checkbox", ...attributes });
    case "choice": {
      const options = (field.choices ?? []).map(
        (choice) => element("option", { value: JSON.stringify(choice) }, String(choice))
      );
      return element("select", attributes, ...options);
    }
    case "whole":
    case "number":
      return element("input", { type: "text", inputmode: "decimal", ...attributes });
    case "text":
    case "optional":
    case "json":
      return element("textarea", { rows: "1", spellcheck: "false", ...attributes });
  }
}
function typeOf({ type, choices }) {
  return choices !== null && type !== "bool" ? "choice" : type.replaceAll("typing.", "");
}

// src/webview/history.ts
var DONE = {
  start: "As it first was",
  open: "Opened",
  close: "Closed",
  params: "Other values",
  reset: "Reset"
};
var StepsView = class {
  constructor(perform) {
    this.perform = perform;
    this.back = button("", {}, () => void this.goBack(), "Go Back to This Step");
    this.slider.addEventListener("input", () => void this.chosen());
    this.root.append(element("div.row", {}, this.slider, this.back), this.about, this.difference);
  }
  perform;
  root = element("div.history");
  slider = element("input", {
    type: "range",
    min: "0",
    "aria-label": "Step"
  });
  about = element("p.step", { "aria-live": "polite" });
  difference = element("div");
  back;
  history = { steps: [], versions: [] };
  /** Asks for the steps anew; the last one is chosen. */
  async load() {
    this.history = await this.perform({ action: "history" });
    const last = this.history.steps.length - 1;
    this.slider.max = String(last);
    this.slider.value = String(last);
    this.slider.disabled = last === 0;
    await this.chosen();
  }
  get at() {
    return Number(this.slider.value);
  }
  async chosen() {
    const { steps, versions } = this.history;
    const step = steps[this.at];
    if (step === void 0) {
      return;
    }
    const words = `Step ${this.at + 1} of ${steps.length}: ${said(step)}`;
    this.about.textContent = words;
    this.slider.setAttribute("aria-valuetext", words);
    this.back.disabled = this.at === steps.length - 1;
    const before = versions.filter((version) => version < step.version).at(-1);
    if (this.at === 0 || before === void 0 || !versions.includes(step.version)) {
      this.difference.replaceChildren();
      return;
    }
    const asked = { action: "diff", before, after: step.version };
    const found = await this.perform(asked);
    if (this.history.steps[this.at] === step) {
      this.difference.replaceChildren(diffOf(found));
    }
  }
  async goBack() {
    const steps = this.history.steps.length - 1 - this.at;
    await this.perform({ action: "undo", steps });
    await this.load();
  }
};
function said({ action, section_keys, reason, parameter_set }) {
  const what = [DONE[action] ?? action, section_keys.join(", ")].filter(Boolean).join(" ");
  const set = action === "params" && parameter_set !== null ? ` (${parameter_set})` : "";
  return what + set + (reason === null ? "" : `: ${reason}`);
}

// src/webview/menu.ts
var Menu = class {
  root = element("details.menu");
  summary;
  items = element("div.items");
  constructor(label) {
    this.summary = element("summary", { "aria-label": label, title: label }, "⋯");
    this.root.append(this.summary, this.items);
    this.items.addEventListener("click", ({ target }) => {
      if (target.closest("button") !== null) {
        this.close();
      }
    });
    this.root.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") {
        this.close();
      }
    });
    this.root.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget !== null && !this.root.contains(relatedTarget)) {
        this.root.open = false;
      }
    });
    document.addEventListener("click", ({ target }) => {
      if (!this.root.contains(target)) {
        this.root.open = false;
      }
    });
  }
  /** Adds a group of entries below the others. */
  add(...entries) {
    this.items.append(element("div.group", {}, ...entries));
  }
  /** The focus goes back to where it was, unless what was chosen has taken it. */
  close() {
    this.root.open = false;
    const { activeElement } = document;
    if (activeElement === document.body || this.root.contains(activeElement)) {
      this.summary.focus();
    }
  }
};

// src/webview/controls.ts
var NO_SET = "none";
var Controls = class {
  constructor(perform, inEditor, copies, report, changed) {
    this.perform = perform;
    this.report = report;
    this.drawers = new Drawers(changed, () => this.menu.summary);
    const act = (action) => () => void this.attempt(action);
    this.undo = button(
      "",
      { title: "Undo the last step" },
      act({ action: "undo", steps: 1 }),
      "Undo"
    );
    this.reset = button(
      "",
      { title: "Show the prompt as it first was" },
      act({ action: "reset" }),
      "Reset"
    );
    this.steps.append(this.undo, this.reset);
    this.sets.addEventListener("change", () => {
      void this.attempt({ action: "setParams", params: {}, parameter_set: this.sets.value });
    });
    this.form = new ParameterForm({
      set: (params) => perform({ action: "setParams", params }),
      once: (params) => this.renderOnce(params),
      go: (file, line) => void this.attempt({ action: "go", file, line })
    });
    this.budget.addEventListener("change", () => this.changeBudget());
    const values = element(
      "div",
      {},
      this.form.root,
      this.once,
      element(
        "div.foot",
        {},
        element("label", { for: "budget" }, "Budget in tokens"),
        this.budget,
        element("span.doc", {}, "0 for none")
      )
    );
    this.chapters = new Chapters(
      (open, key, reason) => perform(
        open ? { action: "openSections", chapters: [key], ...reason ? { reason } : {} } : { action: "closeSections", chapters: [key] }
      )
    );
    this.history = new StepsView(perform);
    this.compare = new Compare(perform, inEditor);
    this.values = this.drawers.add("values", "Values", values);
    this.chaptersDrawer = this.drawers.add("chapters", "Chapters", this.chapters.root);
    this.historyDrawer = this.drawers.add("history", "History", this.history.root, () => {
      void this.loadHistory();
    });
    this.compareDrawer = this.drawers.add("compare", "Compare", this.compare.root);
    this.made = button("made", { title: MADE }, () => this.values.button.click());
    this.menu.add(this.drawers.buttons);
    const copy = (text) => () => {
      this.perform({ action: "copy", text: text() }).catch(
        (error) => this.report(reasonOf(error))
      );
    };
    this.copying = element(
      "div.group",
      {},
      button("", {}, copy(copies.text), "Copy Text"),
      button("", {}, copy(copies.messages), "Copy as Messages"),
      button("", {}, copy(copies.shown), "Copy as Shown"),
      inEditor && button("", {}, () => void this.perform({ action: "document" }), "Open as Document")
    );
  }
  perform;
  report;
  drawers;
  sets = element("select", {
    "aria-label": "Parameter set",
    title: "The values that the prompt is rendered with"
  });
  steps = element("span.controls.steps");
  /** Values that nothing gives: what is shown is not what a model would get. */
  made;
  menu = new Menu("More");
  copying;
  undo;
  reset;
  form;
  once = element("div.once", { "aria-live": "polite" });
  chapters;
  history;
  values;
  chaptersDrawer;
  historyDrawer;
  compareDrawer;
  compare;
  budget = element("input", {
    type: "text",
    inputmode: "numeric",
    id: "budget",
    size: "7"
  });
  shown = null;
  show(view) {
    this.shown = view;
    const { parameters = [], params = {}, chapters = [], generated = [], steps = 1 } = view;
    const live = view.order.length > 0;
    this.steps.hidden = steps < 2;
    this.showSets(view.parameter_sets ?? [], view.parameter_set ?? null);
    this.form.show(parameters, params, view.reveals ?? true);
    this.values.tell("", live);
    this.made.hidden = generated.length === 0;
    this.made.textContent = `${generated.length} made up`;
    const open = chapters.filter((chapter) => chapter.open).length;
    this.chapters.show(chapters, view.chapters_shown ?? "");
    this.chaptersDrawer.tell(`${open}/${chapters.length}`, chapters.length > 0);
    this.historyDrawer.tell(steps > 1 ? String(steps) : "", steps > 1);
    if (!this.historyDrawer.panel.hidden) {
      void this.loadHistory();
    }
    this.compare.show(steps > 1, view.parameter_set ?? null);
    this.compareDrawer.tell("", live);
    this.copying.hidden = !live;
    if (document.activeElement !== this.budget) {
      this.budget.value = view.budget ? String(view.budget.limit) : "";
    }
  }
  showSets(sets, chosen) {
    this.sets.hidden = sets.length === 0;
    const names = [...sets.map(({ name }) => name), NO_SET];
    if (names.join("\n") !== [...this.sets.options].map(({ value }) => value).join("\n")) {
      this.sets.replaceChildren(...names.map((name) => element("option", { value: name }, name)));
    }
    this.sets.value = chosen ?? NO_SET;
  }
  async attempt(action) {
    try {
      await this.perform(action);
    } catch (error) {
      this.report(reasonOf(error));
      if (this.shown !== null) {
        this.show(this.shown);
      }
    }
  }
  async loadHistory() {
    try {
      await this.history.load();
    } catch (error) {
      this.report(reasonOf(error));
    }
  }
  async renderOnce(params) {
    const { text, tokens } = await this.perform({ action: "render", params });
    const count = tokens === void 0 ? "" : ` ${amount(tokens.text)} tokens.`;
    this.once.replaceChildren(
      element(
        "div.row",
        {},
        element("strong", {}, `Rendered once.${count}`),
        element("span.space"),
        button("", {}, () => this.once.replaceChildren(), "Dismiss")
      ),
      element("pre", { tabindex: "0", "aria-label": "Rendered once" }, text)
    );
  }
  changeBudget() {
    const budget = Number(this.budget.value || "0");
    const valid = Number.isInteger(budget) && budget >= 0;
    this.budget.setAttribute("aria-invalid", String(!valid));
    if (valid) {
      void this.attempt({ action: "setParams", budget });
    }
  }
};
var MADE = "Nothing gives these values. Set them here, or write a preview_…() function.";

// src/webview/costs.ts
var Costs = class {
  button;
  root = element("div.total", { id: "details" });
  words = element("div.words");
  strip = element("div.strip", { "aria-hidden": "true" });
  drawn = element("ul", { "aria-label": "What the strip shows" });
  legend = element(
    "div.legend",
    {},
    "One piece per section, as wide as its tokens, after what is sent beside the text:",
    this.drawn
  );
  fits = element("ul", { "aria-label": "What Fit folds" });
  fitting = element("div.legend", { title: FIT }, "With Fit:", this.fits);
  /**
   * `reach` is told which section a piece of the strip stands for, `toggle` to show or to hide what
   * is behind the number; `more` stands below it.
   */
  constructor(reach, toggle, more) {
    this.button = button("amount", { id: "more-button", "aria-controls": "details" }, toggle);
    this.root.append(this.words, this.strip, this.legend, this.fitting, more);
    this.strip.addEventListener("click", ({ target }) => {
      const id = target.dataset.for;
      if (id !== void 0) {
        reach(id);
      }
    });
  }
  setOpen(open) {
    this.root.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
  }
  show(blocks, view) {
    const { tokens, kept, cache, budget, effects = [], fits = [] } = view;
    const [whole = "Details", ...parts] = tokens?.words ?? [];
    const words = budget?.words ?? whole;
    const [, number = words, ...rest] = /^(.*?)( tokens?| bytes)?( \(.*)?$/.exec(words) ?? [];
    this.button.replaceChildren(number, ...rest.map((part) => element("span.wide", {}, part)));
    this.button.setAttribute("aria-label", words);
    this.button.title = titleOf(view);
    this.button.classList.toggle("over", (budget?.over ?? 0) > 0);
    this.button.hidden = view.order.length === 0;
    const done = effects.map(({ line, message }) => `line ${line} ${message}`).join(" · ");
    this.words.replaceChildren(
      ...[...parts, ...kept?.cached ? [`After the last change: ${kept.words}`] : []].map(
        (text) => element("span", {}, text)
      ),
      ...done === "" ? [] : [element("span.effects", { title: EFFECTS }, done)]
    );
    this.fits.replaceChildren(...fits.map((form) => element("li", {}, form)));
    this.fitting.hidden = fits.length === 0;
    this.strip.hidden = this.legend.hidden = !tokens;
    if (tokens) {
      this.drawStrip(blocks, tokens, kept ?? null, cache ?? null, budget ?? null);
    }
  }
  drawStrip(blocks, tokens, kept, plan, budget) {
    const marks = (plan?.breakpoints ?? []).filter((mark) => mark.kept);
    let end = 0;
    const pieces = blocks.map((block) => {
      const start = end;
      end += block.text.length;
      const mark = marks.find(({ offset }) => start < offset && offset <= end);
      const kind = block.visibility === "SUMMARY" ? "folded" : block.opened ? "unfolded" : "full";
      const fresh = kept?.cached && (!kept.tools || end > kept.characters) ? " fresh" : "";
      const own = block.tokens?.self ?? 0;
      const name = [block.number, block.title].filter(Boolean).join(" ");
      const part = `${counted(own, "token")}, ${share(own, tokens.total)}`;
      const upTo = mark ? `; a cache can keep the ${amount(mark.tokens)} tokens up to here` : "";
      const piece = element("span", {
        class: `piece ${kind}${fresh}${mark ? " breakpoint" : ""}`,
        title: `${name}: ${part}${fresh && ", read anew"}${upTo}`,
        "data-for": block.id
      });
      piece.style.setProperty("flex-grow", String(Math.max(own, 1)));
      return piece;
    });
    this.strip.replaceChildren(
      ...Object.entries({ Tools: tokens.tools, "Output schema": tokens.output }).filter(([, own]) => own > 0).map(([name, own]) => {
        const title = `${name}: ${counted(own, "token")}, ${share(own, tokens.total)}`;
        const piece = element("span.beside", { title });
        piece.style.setProperty("flex-grow", String(own));
        return piece;
      }),
      ...pieces
    );
    if (budget !== null && budget.over === 0 && budget.unit === "tokens") {
      const left = element("span.left", {
        title: `${amount(budget.limit - budget.used)} tokens left`
      });
      left.style.setProperty("flex-grow", String(budget.limit - budget.used));
      this.strip.append(left);
    }
    if (budget !== null && budget.over > 0) {
      const limit = element("span.limit", {
        title: `The budget ends here: ${amount(budget.limit)} ${budget.unit}`
      });
      limit.style.setProperty("--share", String(budget.limit / budget.used));
      this.strip.append(limit);
    }
    const drawn = Object.entries(
      kept?.cached ? { ...LEGEND, full: "reusable from cache" } : LEGEND
    );
    this.drawn.replaceChildren(
      ...drawn.filter(([kind]) => this.strip.querySelector(`.${kind}`) !== null).map(
        ([kind, text]) => element("li", {}, element("span", { class: `swatch ${kind}` }), text)
      )
    );
  }
};
function titleOf({ tokens, fidelity }) {
  const counted2 = tokens?.exact ? `Counted with ${tokens.encoding}.` : tokens ? ESTIMATED : "";
  return [counted2, fidelity === "static" && FROM_SOURCE, "Shows what it is made of."].filter(Boolean).join(" ");
}
var LEGEND = {
  beside: "tools, output schema",
  full: "sent in full",
  fresh: "read anew",
  folded: "summarized",
  breakpoint: "cache breakpoint",
  left: "left of the budget",
  limit: "end of the budget"
};
var ESTIMATED = "Estimated: install foldline[tokens] for exact counts.";
var FIT = "What render(fit=Fit(tokens=…)) makes of the text, by its estimate; tools and schema come on top.";
var FROM_SOURCE = "Only running the prompt decides all of its text.";
var EFFECTS = "Side effects of importing the module.";

// src/webview/matrix.ts
var MatrixSheet = class {
  constructor(perform) {
    this.perform = perform;
  }
  perform;
  root = element("div.matrix");
  difference = element("div", { "aria-live": "polite" });
  outdated = element(
    "span.row",
    { role: "status" },
    "The preview has changed since.",
    button("", {}, () => void this.load(), "Evaluate Again")
  );
  first = "";
  chosen = [];
  seen = null;
  /** Evaluates all sets the first time; later it says that something has changed. */
  show(view) {
    const isNew = this.seen === null;
    this.outdated.hidden = isNew || this.seen === view;
    this.seen = view;
    if (isNew) {
      void this.load();
    }
    return [this.root];
  }
  async load() {
    const view = this.seen;
    const sets = counted(view?.parameter_sets?.length ?? 0, "set");
    this.root.replaceChildren(element("p.doc", { role: "status" }, `Rendering ${sets} …`));
    try {
      this.draw(await this.perform({ action: "compareSets" }));
      this.outdated.hidden = view === this.seen;
    } catch (error) {
      this.seen = null;
      this.root.replaceChildren(problem(reasonOf(error)));
    }
  }
  draw({ rows, sets }) {
    this.chosen = [];
    this.difference.replaceChildren();
    this.first = sets.find(({ error }) => error === null)?.name ?? "";
    const lines = rows.map((row, place) => {
      const head = element("th", { scope: "row" }, row.title || row.key);
      head.style.setProperty("--depth", String(row.depth));
      const cells = sets.map(
        ({ name, cells: cells2 }) => element("td", {}, cells2[place] && this.cell({ row, set: name }, cells2[place]))
      );
      const line = element("tr", {}, head, ...cells);
      const variants = new Set(sets.flatMap(({ cells: cells2 }) => cells2[place]?.variant ?? []));
      line.classList.toggle("same", variants.size === 1);
      return line;
    });
    const names = ["Section", ...sets.map(({ name }) => name)];
    const heads = names.map((name) => element("th", { scope: "col" }, name));
    const table = element(
      "table",
      {},
      element("thead", {}, element("tr", {}, ...heads)),
      element("tbody", {}, ...lines)
    );
    const only = element("input", { type: "checkbox" });
    only.addEventListener("change", () => table.classList.toggle("differing", only.checked));
    this.root.replaceChildren(
      element("div.row", {}, element("label", {}, only, " Only what differs"), this.outdated),
      element("div.sets", { tabindex: "0", role: "region", "aria-label": "All sets" }, table),
      ...sets.flatMap(({ name, error }) => error === null ? [] : problem(`${name}: ${error}`)),
      element("p.doc", {}, `${LEGEND2} Marked: not as in ${this.first}. ${HINT}`),
      this.difference
    );
  }
  cell(own, { words, shown, variant }) {
    const { title, key } = own.row;
    const about = variant > 0 ? `, not as in ${this.first}` : "";
    const made = button(
      `cell ${shown}${variant > 0 ? " differs" : ""}`,
      { "aria-label": `${title || key}, ${own.set}: ${words}${about}`, "aria-pressed": "false" },
      () => void this.choose(own, made),
      words
    );
    return made;
  }
  async choose(own, pressed) {
    const [before, more] = this.chosen;
    const second = before?.row === own.row && before.set !== own.set && more === void 0;
    const chosen = this.chosen = second ? [before, own] : [own];
    if (!second) {
      this.root.querySelectorAll(".cell").forEach((cell) => cell.setAttribute("aria-pressed", "false"));
    }
    pressed.setAttribute("aria-pressed", "true");
    const from = second ? before.set : this.first;
    const asked = { action: "diff", before_set: from, after_set: own.set };
    const told = from === own.set ? element("p.doc", {}, `Press another cell of the row to compare it with ${from}.`) : await this.perform(asked).then(
      (found) => differenceOf(found, own.row),
      (error) => problem(reasonOf(error))
    );
    if (this.chosen === chosen) {
      this.difference.replaceChildren(told);
      this.difference.scrollIntoView({ block: "nearest" });
    }
  }
};
var LEGEND2 = "Tokens; ▸ is summarized, - is left out with the section or chapter around it.";
var HINT = "Press a cell to see how, or two in a row to compare them.";
function problem(text) {
  return element("p.problem", { role: "alert" }, text);
}
function differenceOf(found, { id, title, key }) {
  const { before, after, changes, tokens } = found;
  const own = changes.find((change2) => change2.id === id);
  if (id !== null && own === void 0) {
    return element("p.doc", {}, `${title || key}: the same text with ${before} and ${after}.`);
  }
  const words = `${before} → ${after}${own ? "" : `: ${tokens.words}`}`;
  const part = own ? { changes: [own], unified: own.unified } : {};
  return diffOf({ ...found, ...part, tokens: { ...tokens, words } });
}

// src/webview/sheets.ts
var USER = "user";
function roleOf(block) {
  return block.role ?? USER;
}
function messagesOf(blocks) {
  const messages = [];
  for (const block of blocks) {
    const last = messages.at(-1);
    if (last?.role === roleOf(block)) {
      last.content += block.text;
    } else if (block.text !== "") {
      messages.push({ role: roleOf(block), content: block.text });
    }
  }
  return messages.map(({ role, content }) => ({ role, content: content.trim() }));
}
function toolsSheet(tools) {
  return tools.map(
    (tool) => element(
      "article.tool",
      {},
      element(
        "h2",
        {},
        element("code", {}, tool.name),
        tool.tokens !== void 0 && element("span.quiet", {}, counted(tool.tokens, "token"))
      ),
      element("p.description", {}, tool.description),
      json(tool.schema, `Schema of ${tool.name}`)
    )
  );
}
function outputSheet(output) {
  const heading = element(
    "h2",
    {},
    element("code", {}, output.type),
    output.container === "array" && element("span.quiet", {}, "a list of them")
  );
  return [heading, json(output.schema, `Schema of ${output.type}`)];
}
function messagesSheet(blocks) {
  return messagesOf(blocks).map(
    ({ role, content }) => element(
      "article.message",
      {},
      element("h2", {}, role),
      element("pre", { tabindex: "0", "aria-label": `Message of the ${role}` }, content)
    )
  );
}
function costsSheet(blocks, view, reach, all) {
  const { tokens, cache } = view;
  if (!tokens) {
    return [];
  }
  const parts = blocks.map((block) => ({
    ...{ id: block.id, name: nameOf(block), tokens: block.tokens?.self ?? 0 }
  }));
  parts.push({ name: "Tools", tokens: tokens.tools });
  parts.push({ name: "Output schema", tokens: tokens.output });
  const dear = parts.filter((part) => part.tokens > 0).sort((one, other) => other.tokens - one.tokens);
  const approximate = tokens.words[0]?.startsWith("~") ? "~" : "";
  const rows = dear.map(({ id, name, tokens: own }) => {
    const bar = element("span.bar-of", { "aria-hidden": "true" });
    bar.style.setProperty("--share", String(own / (dear[0]?.tokens ?? own)));
    const said2 = `${approximate}${amount(own)} · ${share(own, tokens.total)}`;
    const label = id === void 0 ? name : button("link", {}, () => reach(id), name);
    return element("li", {}, label, element("span.number", {}, said2), bar);
  });
  const rest = rows.slice(MOST);
  const more = element(
    "details",
    {},
    element("summary", {}, `${rest.length} more`),
    element("ul.shares", {}, ...rest)
  );
  more.open = all;
  return [
    element("h2", {}, "Tokens by section"),
    element("ul.shares", {}, ...rows.slice(0, MOST)),
    ...rest.length > 0 ? [more] : [],
    ...cache?.sentence ? [
      element("h2", {}, "Cache"),
      element("p.doc", {}, PLAN),
      element("p", {}, `${cache.sentence}.`),
      element(
        "ol.stages",
        {},
        ...cache.stages.map((stage) => stageOf(stage, blocks, cache.cached > 0))
      )
    ] : []
  ];
}
var MOST = 12;
var PLAN = "A provider can keep the beginning of a request for the next one, which is cheaper. Where something changes, it reads that and all below it again.";
function nameOf({ number, title, key }) {
  return [number, title || key].filter(Boolean).join(" ");
}
function stageOf(stage, blocks, kept) {
  const { first, last, tokens, why, change: change2, breakpoint } = stage;
  const [from, to] = [first, last].map((key) => {
    const block = blocks.find((one) => one.key === key);
    return block ? nameOf(block) : key.charAt(0).toUpperCase() + key.slice(1);
  });
  const [often = "", ...causes] = why.split(": ");
  const cause = causes.length > 0 ? `, by ${causes.join(": ")}` : "";
  return element(
    "li",
    {},
    element("b", {}, from === to ? from : `${from} to ${to}`),
    element("span.number", {}, counted(tokens, "token")),
    element(
      "span.doc",
      {},
      ...withCode(`${OFTEN[often] ?? often}${cause}.`),
      often !== "constant" && ` Re-read if changed: ${counted(change2, "token")}`
    ),
    kept && breakpoint !== null && element("span.mark", {}, breakpoint)
  );
}
var OFTEN = {
  constant: "Never changes",
  stable: "Changes with a deployment",
  "per session": "Changes with each session",
  "per request": "Changes with each request"
};
function json(value, label) {
  return element("pre", { tabindex: "0", "aria-label": label }, JSON.stringify(value, null, 2));
}

// src/webview/origin.ts
var OriginBar = class {
  constructor(around) {
    this.around = around;
    this.root.hidden = true;
    addEventListener("keydown", ({ key }) => key === "Escape" && this.close());
  }
  around;
  root = element("section.from", { "aria-label": "Source", "aria-live": "polite" });
  last = "";
  /** Asks where a character comes from, goes to one of its places, and says the others. */
  async trace(key, offset, place = 0) {
    try {
      const action = { action: "goToOrigin", key, offset, place };
      this.show(
        await this.around.perform(action),
        place,
        (other) => this.trace(key, offset, other)
      );
    } catch (error) {
      this.say(element("span", {}, reasonOf(error)));
    }
  }
  show({ exact, places }, chosen, go) {
    if (this.around.inEditor && exact && places.length === 1) {
      this.close();
      return;
    }
    const named = places.map(
      ({ what }, place2) => button("link", { "aria-current": String(place2 === chosen) }, () => void go(place2), what)
    );
    const place = places[chosen];
    this.say(
      exact ? null : element("strong", {}, places.length > 0 ? NEAREST : NOWHERE),
      ...named,
      place === void 0 || this.around.inEditor ? null : this.excerpt(place)
    );
  }
  say(...content) {
    this.root.replaceChildren(
      ...content.filter((one) => one !== null),
      button("quiet", { "aria-label": "Close" }, () => this.close(), "×")
    );
    this.root.hidden = false;
  }
  close() {
    this.root.hidden = true;
    this.last = "";
    this.around.mark([]);
  }
  /** The lines around a place; what the pointer is on there is marked in the page. */
  excerpt(place) {
    const [before, here, after] = place.excerpt;
    const made = element("pre", { tabindex: "0" }, before, element("mark", {}, here), after);
    void this.find(place, before, Array.from(here).length);
    const follow = ({ clientX, clientY }) => {
      const [node, index] = caretAt(clientX, clientY) ?? [];
      if (node && index !== void 0 && made.contains(node)) {
        const range = document.createRange();
        range.setStart(made, 0);
        range.setEnd(node, index);
        void this.find(place, range.toString(), 1);
      }
    };
    made.addEventListener("mousemove", follow);
    made.addEventListener("click", follow);
    return made;
  }
  /** Marks what comes from the characters behind the beginning of an excerpt. */
  async find({ uri, line, excerpt }, behind, size) {
    const lines = behind.split(/\r\n|\r|\n/);
    const first = line - excerpt[0].split(/\r\n|\r|\n/).length;
    const character = lines.at(-1)?.length ?? 0;
    const at = { source: uri, line: first + lines.length - 1, character, size };
    const asked = this.last = JSON.stringify(at);
    const parts = await this.around.perform({ action: "occurrences", ...at });
    if (asked === this.last) {
      this.around.mark(parts);
    }
  }
};
var NEAREST = "Not known exactly. The nearest place:";
var NOWHERE = "The source doesn’t show where this comes from.";

// src/webview/step.ts
var [MARK, WORD] = ["foldline-mark", "foldline-word"];
var InStep = class {
  constructor(listener, text, views, edge) {
    this.listener = listener;
    this.views = views;
    this.edge = edge;
    const pointAt = ({ target }) => {
      const root = target?.closest(".block") ?? null;
      this.point(root && (this.views().find((view) => view.root === root)?.key ?? null));
    };
    text.addEventListener("mouseover", pointAt);
    text.addEventListener("focusin", pointAt);
    text.addEventListener("mouseleave", () => this.point(null));
    text.addEventListener("focusout", () => this.point(null));
    addEventListener("scroll", () => this.scrolled(), { passive: true });
    text.addEventListener("click", (event) => this.clicked(event), { capture: true });
    const underline = (event) => {
      const on = event.ctrlKey || event.metaKey ? this.characterAt(event) : null;
      text.classList.toggle("tracing", event.ctrlKey || event.metaKey);
      highlight(WORD, on === null ? [] : [wordAround(on.node, on.index)]);
    };
    text.addEventListener("mousemove", underline);
    text.addEventListener("mouseleave", () => highlight(WORD, []));
    addEventListener("keyup", () => {
      text.classList.remove("tracing");
      highlight(WORD, []);
    });
  }
  listener;
  views;
  edge;
  marked = null;
  pointed = null;
  parts = [];
  /** Where the page was put by itself. */
  placed = 0;
  /** Marks the characters that come from where the editor's cursor is, and may bring them in view. */
  markCharacters(parts, reveal) {
    this.parts = parts;
    const first = this.redrawnCharacters()[0]?.getBoundingClientRect();
    if (reveal && first && (first.top < this.edge() || first.bottom > innerHeight)) {
      scrollBy({ top: first.top - this.edge() - (innerHeight - this.edge()) / 3 });
      this.moved();
    }
  }
  redrawnCharacters() {
    const ranges = this.parts.flatMap(({ id, start, end }) => {
      const view = this.views().find((one) => one.root.dataset.id === id);
      return view === void 0 || view.root.hidden ? [] : view.rangesOf(start, end);
    });
    highlight(MARK, ranges);
    return ranges;
  }
  clicked(event) {
    const view = event.ctrlKey || event.metaKey ? this.viewAt(event.target) : void 0;
    if (view === void 0) {
      return;
    }
    const on = this.characterAt(event);
    event.preventDefault();
    event.stopPropagation();
    this.listener.traced(view.key, on?.offset ?? 0);
  }
  viewAt(node) {
    return this.views().find(({ root }) => root.contains(node));
  }
  /** The character under the pointer: its node, its place there, and that in the section's text. */
  characterAt({ clientX: x, clientY: y }) {
    const [node, caret] = caretAt(x, y) ?? [];
    const view = node?.nodeType === Node.TEXT_NODE ? this.viewAt(node) : void 0;
    if (node === void 0 || caret === void 0 || view === void 0) {
      return null;
    }
    for (const index of [caret, caret - 1]) {
      const { left, right, top, bottom } = rangeOf(node, index, index + 1).getBoundingClientRect();
      const offset = view.offsetAt(node, index);
      if (offset !== null && left <= x && x <= right && top <= y && y <= bottom) {
        return { node, index, offset };
      }
    }
    return null;
  }
  /** Marks a section, or the nearest one above it that is shown. */
  mark(key, reveal) {
    this.marked = key;
    const view = this.redrawn();
    if (reveal && view !== void 0) {
      const { top, bottom } = view.root.getBoundingClientRect();
      const edge = this.edge();
      if (bottom < edge || top > innerHeight) {
        scrollBy({ top: top - edge });
        this.moved();
      }
    }
  }
  /** Marks what is marked after the sections have changed. */
  redrawn() {
    const marked = this.marked === null ? void 0 : this.shown(this.marked);
    this.redrawnCharacters();
    for (const view of this.views()) {
      view.setCurrent(view === marked);
    }
    return marked;
  }
  scrollTo({ key, share: share2 }) {
    const view = this.shown(key);
    if (view !== void 0) {
      const { top, height } = view.root.getBoundingClientRect();
      scrollBy({ top: top + (view.key === key ? share2 * height : 0) - this.edge() });
      this.moved();
    }
  }
  /** The page was scrolled, but not by the user. */
  moved() {
    this.placed = scrollY;
  }
  scrolled() {
    if (Math.abs(scrollY - this.placed) < 1) {
      return;
    }
    this.placed = scrollY;
    const edge = this.edge();
    const top = this.views().find(
      ({ root }) => !root.hidden && root.getBoundingClientRect().bottom > edge + 1
    );
    if (top !== void 0) {
      const { top: above, height } = top.root.getBoundingClientRect();
      const share2 = Math.min(Math.max((edge - above) / height, 0), 1);
      this.listener.scrolled?.({ key: top.key, share: share2 });
    }
  }
  point(key) {
    if (key !== this.pointed) {
      this.pointed = key;
      this.listener.pointed?.(key);
    }
  }
  shown(key) {
    const views = this.views().filter(({ root }) => !root.hidden);
    for (let part = key; part !== ""; part = part.slice(0, Math.max(part.lastIndexOf("."), 0))) {
      const view = views.find((one) => one.key === part);
      if (view !== void 0) {
        return view;
      }
    }
    return void 0;
  }
};
function highlight(name, ranges) {
  CSS.highlights?.set(name, new Highlight(...ranges));
}
function rangeOf(node, start, end) {
  const { length } = node.nodeValue ?? "";
  const range = document.createRange();
  range.setStart(node, Math.min(Math.max(start, 0), length));
  range.setEnd(node, Math.min(Math.max(end, 0), length));
  return range;
}
function wordAround(node, index) {
  const text = node.nodeValue ?? "";
  const before = /[\p{L}\p{N}_]*$/u.exec(text.slice(0, index))?.[0].length ?? 0;
  const after = /^[\p{L}\p{N}_]*/u.exec(text.slice(index))?.[0].length ?? 0;
  return rangeOf(node, index - before, index + Math.max(after, 1));
}

// src/webview/tabs.ts
var Tabs = class {
  constructor(chosen) {
    this.chosen = chosen;
    this.list.addEventListener("keydown", (event) => this.key(event));
  }
  chosen;
  list = element("div.tablist", { role: "tablist", "aria-label": "What to show" });
  tabs = /* @__PURE__ */ new Map();
  add(name, panel) {
    const [id, of] = [`tab-${name}`, `panel-${name}`];
    const made = button("tab", { role: "tab", id, "aria-controls": of }, () => this.choose(name));
    panel.id = of;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", id);
    this.tabs.set(name, { button: made, panel });
    this.list.append(made);
  }
  label(name, text, used = true) {
    const tab = this.tabs.get(name);
    if (tab !== void 0) {
      tab.button.textContent = text;
      tab.button.hidden = !used;
      if (!used && tab.button.getAttribute("aria-selected") === "true") {
        this.choose([...this.tabs.keys()][0] ?? name);
      }
    }
  }
  choose(name) {
    for (const [known, { button: tab, panel }] of this.tabs) {
      tab.setAttribute("aria-selected", String(known === name));
      tab.tabIndex = known === name ? 0 : -1;
      panel.hidden = known !== name;
    }
    this.chosen(name);
  }
  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const shown = [...this.tabs].filter(([, { button: tab }]) => !tab.hidden);
    const at = shown.findIndex(([, { button: tab }]) => tab === event.target);
    const next = step === void 0 ? void 0 : shown.at((at + step) % shown.length);
    if (next !== void 0) {
      event.preventDefault();
      this.choose(next[0]);
      next[1].button.focus();
    }
  }
};

// src/webview/page.ts
var ONE_LINE = 24;
var TEXT = "text";
var Page = class {
  constructor(host) {
    this.host = host;
    const state = host.load();
    this.folded = new Set(state.folded ?? []);
    this.mode = state.mode ?? "markdown";
    this.tab = state.tab ?? TEXT;
    this.scrollWanted = state.scroll ?? null;
    this.controls = new Controls(
      (action) => host.perform(action),
      host.inEditor,
      {
        text: () => this.textOf(() => true),
        messages: () => JSON.stringify(messagesOf(this.blocks.all()), null, 2),
        shown: () => this.textOf((block) => this.isShown(block))
      },
      (reason) => this.refuse(reason),
      () => this.save()
    );
    if (state.drawer) {
      this.controls.drawers.open(state.drawer);
    }
    this.modeButton = button("", {}, () => {
      this.mode = this.mode === "text" ? "markdown" : "text";
      this.keepingPlace(() => this.draw());
    });
    this.foldButton = button("", {}, () => this.foldAll());
    this.failures = button("failures", {}, () => {
      const first = this.blocks.all().find(({ error }) => error);
      this.reach(first?.id ?? "");
    });
    this.tabs = new Tabs((name) => {
      this.tab = name;
      this.drawSheet();
      this.save();
    });
    this.tabs.add(TEXT, this.text);
    this.tabs.label(TEXT, "Prompt");
    for (const [name, panel] of Object.entries(this.sheets)) {
      this.tabs.add(name, panel);
    }
    this.costs = new Costs(
      (id) => this.reach(id),
      () => this.showDetails(Boolean(this.costs.root.hidden)),
      this.tabs.list
    );
    this.tabs.choose(this.tab);
    this.costs.setOpen(state.details ?? false);
    this.costs.root.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") {
        this.showDetails(false);
        this.costs.button.focus();
      }
    });
    this.controls.menu.add(this.modeButton, this.foldButton);
    this.controls.menu.add(this.controls.copying);
    if (host.extra) {
      this.controls.menu.add(host.extra);
    }
    this.notice.hidden = this.refusal.hidden = true;
    this.header = this.head();
    this.main.append(this.text, ...Object.values(this.sheets));
    document.body.append(this.header, this.main, this.foot);
    this.text.addEventListener("keydown", (event) => this.key(event));
    addEventListener("scroll", () => this.save(), { passive: true });
    this.origin = new OriginBar({
      ...host,
      mark: (parts) => this.markCharacters(parts, true)
    });
    document.body.append(this.origin.root);
    this.inStep = new InStep(
      { ...host, traced: (key, offset) => void this.origin.trace(key, offset) },
      this.text,
      () => this.blocks.all().flatMap(({ id }) => this.views.get(id) ?? []),
      () => this.header.getBoundingClientRect().bottom
    );
  }
  host;
  blocks = new Blocks();
  views = /* @__PURE__ */ new Map();
  folded;
  mode;
  tab;
  view = null;
  scrollWanted;
  name = element("h1");
  badge = element("span.fidelity");
  failures;
  modeButton;
  foldButton;
  notice = element("div.notice", { role: "status", "aria-live": "polite" });
  refusal = element("div.notice.failed", { role: "alert" });
  costs;
  controls;
  tabs;
  header;
  main = element("main", { tabindex: "-1" });
  text = element("div.text-panel");
  sheets = {
    tools: element("div.sheet"),
    output: element("div.sheet"),
    messages: element("div.sheet"),
    costs: element("div.sheet"),
    matrix: element("div.sheet")
  };
  matrix = new MatrixSheet((action) => this.host.perform(action));
  foot = element("footer");
  inStep;
  origin;
  /** What the reader must know stays in view with the bar, however far down the text is. */
  head() {
    return element(
      "header",
      {},
      element(
        "div.bar",
        {},
        this.name,
        this.badge,
        this.failures,
        this.controls.sets,
        this.controls.made,
        this.costs.button,
        element("span.space"),
        this.controls.steps,
        this.controls.menu.root
      ),
      this.costs.root,
      this.notice,
      this.refusal,
      this.controls.drawers.root
    );
  }
  /** Shows what is behind the number; without it, the prompt alone. */
  showDetails(open) {
    this.costs.setOpen(open);
    if (!open) {
      this.tabs.choose(TEXT);
    }
    this.save();
  }
  show(view) {
    this.keepingPlace(() => this.apply(view));
  }
  /** Marks the section that the editor's cursor is in. */
  mark(key, reveal) {
    this.inStep.mark(key, reveal && this.tab === TEXT);
  }
  /** Marks the characters that come from where the editor's cursor is. */
  markCharacters(parts, reveal) {
    this.inStep.markCharacters(parts, reveal && this.tab === TEXT);
  }
  scrollTo(place) {
    if (this.tab === TEXT) {
      this.inStep.scrollTo(place);
    }
  }
  apply(view) {
    this.view = view;
    this.name.textContent = this.name.title = view.name;
    this.refusal.hidden = true;
    if (view.whole) {
      this.blocks.clear();
    }
    this.blocks.apply(view.order, view.blocks);
    this.showBadge(view);
    const { tools = [], output = null } = view;
    this.tabs.label("tools", `Tools ${tools.length}`, tools.length > 0);
    this.tabs.label("output", "Output", output !== null);
    this.tabs.label("messages", "Messages", view.order.length > 0);
    this.tabs.label("costs", "Costs", Boolean(view.tokens));
    const sets = view.parameter_sets?.length ?? 0;
    this.tabs.label("matrix", `Sets ${sets}`, sets > 1);
    this.draw();
    this.drawSheet();
    this.costs.show(this.blocks.all(), view);
    this.controls.show(view);
    this.showNotice(view.notice);
    this.showFoot(view);
    if (this.scrollWanted !== null && view.order.length > 0) {
      scrollTo({ top: this.scrollWanted });
      this.scrollWanted = null;
    }
  }
  /** Brings the page in line with the blocks; elements of unchanged blocks are not touched. */
  draw() {
    for (const [id, view] of this.views) {
      if (this.blocks.get(id) === void 0) {
        view.root.remove();
        this.views.delete(id);
      }
    }
    let next = this.text.firstElementChild;
    const about = this.view?.tokens?.words[0]?.startsWith("~") ? "~" : "";
    let role = this.blocks.all().some((block) => roleOf(block) !== USER) ? "" : USER;
    for (const block of this.blocks.all()) {
      const view = this.viewOf(block);
      view.update(block, this.mode, this.view?.reveals ?? true, this.view?.cache ?? null, about);
      view.begins(roleOf(block) === role ? null : roleOf(block));
      role = roleOf(block);
      if (view.root === next) {
        next = next.nextElementSibling;
      } else {
        this.text.insertBefore(view.root, next);
      }
    }
    this.applyFolds();
    this.inStep.redrawn();
    this.modeButton.textContent = this.mode === "text" ? "Show Reading View" : "Show Exact Text";
    this.text.classList.toggle("exact", this.mode === "text");
    this.save();
  }
  /** Fills the tab that is shown, and no other. */
  drawSheet() {
    const { view, tab } = this;
    this.modeButton.hidden = this.foldButton.hidden = tab !== TEXT || this.views.size === 0;
    if (view === null || tab === TEXT) {
      return;
    }
    const blocks = this.blocks.all();
    const made = {
      tools: () => toolsSheet(view.tools ?? []),
      output: () => view.output ? outputSheet(view.output) : [],
      messages: () => messagesSheet(blocks),
      costs: () => {
        const all = this.sheets.costs.querySelector("details")?.open ?? false;
        return costsSheet(blocks, view, (id) => this.reach(id), all);
      },
      matrix: () => this.matrix.show(view)
    };
    this.sheets[tab].replaceChildren(...made[tab]?.() ?? []);
  }
  viewOf(block) {
    const there = this.views.get(block.id);
    if (there !== void 0) {
      return there;
    }
    const made = new BlockView(block, {
      fold: (id) => this.toggle(id),
      change: (change2, key, reason) => this.attempt({ action: change2, key, ...reason ? { reason } : {} }),
      read: async (key) => this.host.markdownOf(
        await this.host.perform({ action: "readSection", key })
      ),
      reveal: (key) => void this.attempt({ action: "reveal", key }),
      go: (file, line) => void this.attempt({ action: "go", file, line }),
      markdown: (shown, part) => this.host.markdown(shown, part)
    });
    this.views.set(block.id, made);
    return made;
  }
  async attempt(action) {
    try {
      await this.host.perform(action);
    } catch (error) {
      this.refuse(reasonOf(error));
    }
  }
  /** Says why something was not done, until something changes. */
  refuse(reason) {
    this.refusal.hidden = false;
    this.refusal.replaceChildren(
      element("span", {}, reason),
      button("", {}, () => this.refusal.hidden = true, "Dismiss")
    );
  }
  reach(id) {
    this.tabs.choose(TEXT);
    this.views.get(id)?.root.scrollIntoView();
  }
  toggle(id, folded = !this.folded.has(id)) {
    if (folded) {
      this.folded.add(id);
    } else {
      this.folded.delete(id);
    }
    this.applyFolds();
    this.save();
  }
  foldAll() {
    const fold = this.folded.size === 0;
    this.folded.clear();
    if (fold) {
      this.blocks.order.forEach((id) => this.folded.add(id));
    }
    this.applyFolds();
    this.save();
  }
  /** A folded section hides its own text and everything below it. */
  applyFolds() {
    let hiddenBelow = Infinity;
    for (const block of this.blocks.all()) {
      if (block.depth <= hiddenBelow) {
        hiddenBelow = Infinity;
      }
      const folded = this.folded.has(block.id);
      this.views.get(block.id)?.setFolded(folded, hiddenBelow !== Infinity);
      if (folded && hiddenBelow === Infinity) {
        hiddenBelow = block.depth;
      }
    }
    this.foldButton.textContent = this.folded.size === 0 ? "Fold All" : "Unfold All";
    this.modeButton.hidden = this.foldButton.hidden = this.tab !== TEXT || this.views.size === 0;
  }
  textOf(chosen) {
    return this.blocks.all().filter(chosen).map((block) => block.text).join("");
  }
  isShown(block) {
    return !this.folded.has(block.id) && this.views.get(block.id)?.root.hidden === false;
  }
  /** Says only what isn't so as a rule. */
  showBadge({ fidelity, order, notice }) {
    const failed = this.blocks.all().filter(({ error }) => error).length;
    this.failures.hidden = failed === 0;
    this.failures.textContent = `${failed} failed`;
    this.failures.title = "Goes to the first section that could not be rendered";
    const old = order.length > 0 && isOld(notice);
    this.badge.hidden = fidelity !== "static" && !old;
    this.badge.textContent = fidelity === "static" ? "Source only" : "Last good";
    this.badge.title = fidelity === "static" ? SOURCE_ONLY : LAST_GOOD2;
  }
  showNotice(notice) {
    this.notice.hidden = notice === null;
    this.notice.className = `notice ${notice?.kind ?? ""}`;
    this.main.classList.toggle("outdated", isOld(notice));
    const actions = (notice?.actions ?? []).map(
      ({ id, title }) => button("", {}, () => void this.attempt({ action: "notice", id }), title)
    );
    this.notice.replaceChildren(
      element("span", {}, notice?.text ?? ""),
      element("div.controls", {}, ...actions)
    );
  }
  showFoot({ interpreter, milliseconds }) {
    const took = typeof milliseconds === "number" && `Rendered in ${amount(milliseconds)} ms`;
    const from = interpreter?.reason.replace(
      /^the environment variable |^the nearest environment, /,
      ""
    );
    const python = interpreter && `Python ${interpreter.python ?? ""} from ${from}`;
    this.foot.title = interpreter?.path ?? "";
    this.foot.hidden = !took && !python;
    this.foot.replaceChildren(
      element("span", {}, ...withCode([took, python].filter(Boolean).join(" · "))),
      interpreter?.mismatch ? element("strong", {}, ` ${interpreter.mismatch}`) : ""
    );
  }
  /** Up and down walk the heads, left folds, right unfolds, o opens, c closes, p reads. */
  key(event) {
    const target = event.target;
    const root = target.matches("input, pre, a") ? null : target.closest(".block");
    const head = root?.querySelector(".fold");
    const id = root?.dataset.id;
    const block = id === void 0 ? void 0 : this.blocks.get(id);
    if (event.ctrlKey || event.altKey || event.metaKey || block === void 0 || !head) {
      return;
    }
    const heads = [...this.text.querySelectorAll(".block:not([hidden]) .fold")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const summarized = block.enabled && block.visibility === "SUMMARY";
    if (step !== void 0) {
      heads[heads.indexOf(head) + step]?.focus();
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      this.toggle(block.id, event.key === "ArrowLeft");
    } else if (event.key === "o" && summarized) {
      void this.attempt({ action: "openSections", key: block.key });
    } else if (event.key === "c" && block.opened) {
      void this.attempt({ action: "closeSections", key: block.key });
    } else if (event.key === "p" && summarized) {
      root?.querySelector(".read")?.click();
    } else {
      return;
    }
    event.preventDefault();
  }
  /** Runs a change of the page so that the first section in view stays where it is. */
  keepingPlace(change2) {
    const edge = this.header.getBoundingClientRect().bottom;
    const top = [...this.views.values()].find(
      ({ root }) => !root.hidden && root.getBoundingClientRect().bottom > edge + ONE_LINE
    );
    const before = top?.root.getBoundingClientRect().top ?? 0;
    const scrolled = scrollY > 0;
    change2();
    if (scrolled && top?.root.isConnected) {
      scrollBy({ top: top.root.getBoundingClientRect().top - before });
    }
    this.inStep.moved();
  }
  save() {
    const { view } = this;
    if (view === null || view.uri === "" || this.scrollWanted !== null) {
      return;
    }
    const blocks = this.blocks.all();
    this.host.save({
      uri: view.uri,
      name: view.name,
      folded: [...this.folded],
      mode: this.mode,
      tab: this.tab,
      drawer: this.controls.drawers.opened,
      details: !this.costs.root.hidden,
      scroll: scrollY,
      chosen: {
        opened: blocks.filter((block) => block.opened).map((block) => block.key),
        closed: (view.chapters ?? []).filter(({ open, may_open }) => may_open && !open).map(({ key }) => key),
        params: view.params ?? {},
        parameter_set: view.parameter_set ?? null
      }
    });
  }
};
function isOld(notice) {
  return notice !== null && !["loading", "untrusted"].includes(notice.kind);
}
var SOURCE_ONLY = "Read from the source, not run: unknown values show as written";
var LAST_GOOD2 = "The last version that rendered; the source has changed since";

// src/webview/saved.ts
var SAVED = "This page was saved to a file: nothing in it can be changed.";
function showSaved(text, markdown2) {
  const { shown, states, blocks, matrix, differences } = JSON.parse(text);
  const show = (set) => {
    const state = states[set];
    if (state === void 0) {
      const failed = matrix.sets.find(({ name }) => name === set)?.error;
      throw new Error(failed ?? `This file doesn’t show the prompt with ${set}.`);
    }
    const own = state.blocks.flatMap((place) => blocks[place] ?? []);
    page.show({ ...state, blocks: own, whole: true, reveals: false, notice: null });
  };
  const perform = async (action) => {
    switch (action.action) {
      case "copy":
        await navigator.clipboard.writeText(action.text);
        return void 0;
      case "setParams":
        show(action.parameter_set ?? refuse(SAVED));
        return void 0;
      case "compareSets":
        return matrix;
      case "diff": {
        const { before_set = "", after_set = "" } = action;
        const found = before_set in differences ? void 0 : differences[after_set];
        return found ?? refuse("This file compares sets with the first one alone.");
      }
      default:
        return refuse(SAVED);
    }
  };
  document.body.classList.add("saved");
  const page = new Page({
    inEditor: false,
    perform,
    load: () => ({}),
    save: () => void 0,
    markdown: markdown2,
    // Nothing can be read: what is summarized here stays so.
    markdownOf: () => []
  });
  show(shown);
}
function refuse(reason) {
  throw new Error(reason);
}

// src/webview/theme.ts
var KEY = "foldline-theme";
var THEMES = { "light dark": "System", light: "Light", dark: "Dark" };
function themeSwitch() {
  const options = Object.entries(THEMES).map(([value, name]) => element("option", { value }, name));
  const list = element("select.theme", {}, ...options);
  const stored = localStorage.getItem(KEY) ?? "";
  list.value = stored in THEMES ? stored : "light dark";
  const apply = () => {
    document.documentElement.style.colorScheme = list.value;
    localStorage.setItem(KEY, list.value);
  };
  list.addEventListener("change", apply);
  apply();
  return element("label.row", {}, "Theme", list);
}

// src/webview/browser.ts
var NOTHING = {
  ...{ uri: "", name: "", fidelity: "", order: [], blocks: [], whole: true, reveals: false },
  notice: { kind: "loading", text: "Loading the preview…", actions: [] }
};
var STATE = "foldline";
var Browser = class {
  page;
  last = NOTHING;
  stale = null;
  /** What came in between is told once more when the connection is back. */
  lost = null;
  constructor() {
    history.replaceState(null, "", location.pathname);
    this.page = new Page({
      inEditor: false,
      perform: (action) => this.perform(action),
      load: () => JSON.parse(sessionStorage.getItem(STATE) ?? "{}"),
      save: (state) => sessionStorage.setItem(STATE, JSON.stringify(state)),
      markdown,
      markdownOf: (section) => section.markdown,
      extra: themeSwitch()
    });
    this.page.show(NOTHING);
    const events = new EventSource("events");
    events.addEventListener("message", ({ data }) => {
      this.lost = null;
      this.receive(JSON.parse(data));
    });
    events.addEventListener("over", () => {
      events.close();
      this.lose("The preview was closed.");
    });
    events.addEventListener(
      "error",
      () => this.lose(
        events.readyState === EventSource.CLOSED ? "The preview is no longer served." : "The preview does not respond. Trying again every few seconds."
      )
    );
  }
  lose(text) {
    this.lost = { kind: "stopped", text, actions: [] };
    this.show(this.last);
  }
  receive(news) {
    const { stale, order, fidelity, uri } = news;
    this.stale = stale && {
      ...staleNotice(stale, order.length > 0, fidelity, uri),
      actions: []
    };
    document.title = `${news.name || "Preview"} · foldline`;
    this.last = { ...news, blocks: [], whole: false, notice: null };
    this.show({ ...news, notice: null });
  }
  show(view) {
    this.page.show({ ...view, notice: this.lost ?? this.stale });
  }
  async perform(action) {
    switch (action.action) {
      case "copy":
        return navigator.clipboard.writeText(action.text);
      case "notice":
      case "document":
      case "compare":
        throw new Error("Only an editor can do that.");
      default:
        return send(action);
    }
  }
};
async function send(action) {
  const answer = await fetch("actions", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(action)
  }).catch((error) => {
    throw new Error(`The preview did not answer: ${String(error)}`);
  });
  if (!answer.ok) {
    throw new Error((await answer.text()).trim());
  }
  return answer.status === 204 ? void 0 : answer.json();
}
function markdown(block, part) {
  return block.markdown[part];
}
var saved = document.getElementById("saved");
if (saved === null) {
  new Browser();
} else {
  showSaved(saved.textContent, markdown);
}
