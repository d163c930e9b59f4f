// Made of editors/vscode/src/webview by `npm run page`.

// src/preview/stale.ts
var LAST_GOOD = "This is the last good text. ";
var SOURCE_ALONE = "This is rendered from the source alone. ";
var UNTRUSTED = {
  kind: "untrusted",
  text: `Nothing of this folder is executed before you trust it. ${SOURCE_ALONE.trim()}`,
  actions: [{ id: "trust", title: "Manage Trust" }]
};
function staleNotice(stale, hasText, fidelity) {
  if (stale.kind === "untrusted") {
    return UNTRUSTED;
  }
  const shown = fidelity === "static" ? SOURCE_ALONE : LAST_GOOD;
  return {
    kind: "stale",
    text: (hasText ? shown : "") + sentence(stale.message),
    actions: stale.file === null ? [] : [{ id: "revealProblem", title: "Go to Problem" }]
  };
}
function sentence(text) {
  return /[.!?…:]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`;
}

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
function button(classes, attributes, pressed, ...children) {
  const made = element("button", { type: "button", class: classes, ...attributes }, ...children);
  made.addEventListener("click", pressed);
  return made;
}

// src/webview/controls.ts
var Controls = class {
  root = element("span.controls");
  sets = element("select", {
    "aria-label": "Parameter set",
    title: "The values that the prompt is rendered with"
  });
  undo;
  reset;
  constructor(act) {
    this.undo = button("", { title: "Undo the last step" }, () => act("undo", ""));
    this.undo.append("Undo");
    this.reset = button("", { title: "Show the prompt as it first was" }, () => act("reset", ""));
    this.reset.append("Reset");
    this.sets.addEventListener("change", () => act("set", this.sets.value));
    this.root.append(this.sets, this.undo, this.reset);
  }
  /** `steps` are those that were taken, the first of which is the beginning. */
  show(sets, chosen, steps) {
    this.undo.hidden = this.reset.hidden = steps < 2;
    this.sets.hidden = sets.length === 0;
    const names = [...sets.map(({ name }) => name), "none"];
    if (names.join("\n") !== [...this.sets.options].map(({ value }) => value).join("\n")) {
      this.sets.replaceChildren(...names.map((name) => element("option", { value: name }, name)));
    }
    this.sets.value = chosen ?? "none";
  }
};

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

// src/webview/tokens.ts
var TAGS = /* @__PURE__ */ new Set([
  ...["p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "hr", "br"],
  ...["em", "strong", "s", "table", "thead", "tbody", "tr", "th", "td"]
]);
function elementsOf(tokens) {
  const fragment = document.createDocumentFragment();
  append(fragment, tokens);
  return fragment;
}
function append(root, tokens) {
  const open = [root];
  for (const token of tokens) {
    const parent = open.at(-1) ?? root;
    if (token.nesting === -1) {
      open.pop();
      continue;
    }
    const node = token.type === "inline" ? inline(token) : nodeOf(token);
    parent.appendChild(node);
    if (token.nesting === 1) {
      open.push(token.hidden ? parent : node);
    }
  }
}
function inline(token) {
  return elementsOf(token.children ?? []);
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
      return document.createTextNode("\n");
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
    this.change = button("change", {}, () => {
      this.change.disabled = true;
      actions.change(this.block.opened ? "close" : "open", this.block.key);
    });
    this.source = button(
      "source",
      { title: "Go to the source of this section" },
      () => actions.reveal(id)
    );
    this.source.append("↗");
    this.body = element("div.body", { id: bodyId });
    this.root = element(
      "section.block",
      { "data-id": id },
      this.role,
      element("div.head", {}, this.heading, this.source, this.costs, this.badge, this.change),
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
  source;
  body;
  shown = "";
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
  update(block, mode, reveals) {
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
    this.costs.replaceChildren(...costsOf(block));
    this.change.hidden = !(block.enabled && (summary || block.opened));
    this.change.textContent = block.opened ? "Close" : "Open";
    this.change.setAttribute("aria-label", `${block.opened ? "Close" : "Open"} ${label}`);
    this.source.hidden = block.location === null || !reveals;
    this.source.setAttribute("aria-label", `Go to the source of ${label}`);
    const text = JSON.stringify([block.text, block.segments, block.error]);
    const differs = text !== this.shown;
    if (differs || mode !== this.mode) {
      this.body.replaceChildren(mode === "text" ? asText(block) : this.asMarkdown());
      this.shown = text;
      this.mode = mode;
    }
    return differs;
  }
  setFolded(folded, hidden) {
    this.fold.setAttribute("aria-expanded", String(!folded));
    this.body.hidden = folded;
    this.root.hidden = hidden;
  }
  settle() {
    this.change.disabled = false;
  }
  asMarkdown() {
    const { error } = this.block;
    if (error) {
      return element("div.error", { role: "alert" }, error.message);
    }
    const fragment = document.createDocumentFragment();
    const [body, suffix] = PARTS.map((part) => this.actions.markdown(this.block, part));
    fragment.append(element("div.markdown", {}, elementsOf(body ?? [])));
    if (suffix !== void 0 && suffix.length > 0) {
      const title = SEGMENT_TITLES.suffix ?? "";
      fragment.append(element("div.suffix", { title }, elementsOf(suffix)));
    }
    return fragment;
  }
};
function badgeOf(block) {
  if (!block.enabled) {
    return "disabled";
  }
  return block.visibility === "SUMMARY" ? "summary" : block.opened ? "opened" : "";
}
function costsOf({ tokens }) {
  if (tokens === void 0) {
    return [];
  }
  const costs = [cost("", tokens.self, tokens.self === 1 ? "token" : "tokens", "Its own text")];
  if (tokens.subtree !== tokens.self) {
    costs.push(cost("subtree", tokens.subtree, "in all", "With the sections below it"));
  }
  if (tokens.if_opened !== null) {
    costs.push(cost("if-opened", tokens.if_opened, "opened", "Once it is opened"));
  }
  return costs;
}
function cost(kind, count, word, title) {
  return element("span", { class: `cost ${kind}`, title }, `${count.toLocaleString("en")} ${word}`);
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

// src/webview/costs.ts
var Costs = class {
  root = element("div.total");
  words = element("span.words");
  strip = element("div.strip", { "aria-hidden": "true" });
  sentence = element("summary", { title: PLAN });
  stages = element("div.stages");
  plan = element("details.plan", {}, this.sentence, this.stages);
  /** `pressed` is told which section a piece of the strip stands for. */
  constructor(pressed) {
    this.root.append(this.words, this.plan, this.strip);
    this.strip.addEventListener("click", ({ target }) => {
      const id = target.dataset.for;
      if (id !== void 0) {
        pressed(id);
      }
    });
  }
  /** `effects` are what the module does beside its prompts: they belong to its price. */
  show(blocks, tokens, kept, plan, effects) {
    this.root.hidden = tokens === null;
    if (tokens === null) {
      return;
    }
    const said = [
      `${amount(tokens.total)} tokens`,
      tokens.tools > 0 && `${amount(tokens.tools)} of them tools`,
      tokens.output > 0 && `${amount(tokens.output)} the output's schema`,
      tokens.exact ? tokens.encoding : "estimated"
    ];
    const cache = keptOf(tokens, kept);
    const done = effects.map(({ line, message }) => `line ${line} ${message}`).join(" · ");
    this.words.replaceChildren(
      element("span", {}, said.filter(Boolean).join(" · ")),
      ...cache === null ? [] : [element("span.kept", { title: KEPT }, cache)],
      ...done === "" ? [] : [element("span.effects", { title: EFFECTS }, done)]
    );
    this.plan.hidden = !plan?.sentence;
    this.sentence.textContent = plan?.sentence ?? "";
    this.stages.replaceChildren(tableOf(plan?.stages ?? []));
    this.drawStrip(blocks, kept, plan);
  }
  drawStrip(blocks, kept, plan) {
    const marks = (plan?.breakpoints ?? []).filter((mark) => mark.kept);
    let end = 0;
    const pieces = blocks.map((block) => {
      const start = end;
      end += block.text.length;
      const mark = marks.find(({ offset }) => start < offset && offset <= end);
      const kind = block.visibility === "SUMMARY" ? "folded" : block.opened ? "unfolded" : "full";
      const fresh = kept !== null && (!kept.tools || end > kept.characters) ? " fresh" : "";
      const own = block.tokens?.self ?? 0;
      const name = [block.number, block.title].filter(Boolean).join(" ");
      const upTo = mark ? `; a cache can keep the ${amount(mark.tokens)} tokens up to here` : "";
      const piece = element("span", {
        class: `piece ${kind}${fresh}${mark ? " breakpoint" : ""}`,
        title: `${name}: ${amount(own)} tokens${fresh && ", not kept by the cache"}${upTo}`,
        "data-for": block.id
      });
      piece.style.setProperty("flex-grow", String(Math.max(own, 1)));
      return piece;
    });
    this.strip.replaceChildren(...pieces);
  }
};
var KEPT = "A provider's prompt cache keeps what the last version and this one begin with alike, the tools first.";
var PLAN = "How much of the prompt begins alike in other requests, by what the types of its fields say. A provider can be asked to keep it.";
var EFFECTS = "Side effects of importing the module.";
function tableOf(stages) {
  const head = ["sections", "tokens", "changes", "a change makes new"];
  const rows = stages.flatMap(({ first, last, tokens, why, change, breakpoint }) => [
    element(
      "tr",
      {},
      element("td", {}, first === last ? first : `${first} … ${last}`),
      element("td.amount", {}, amount(tokens)),
      element("td", {}, why),
      element("td.amount", {}, amount(change))
    ),
    ...breakpoint === null ? [] : [element("tr.mark", {}, element("td", { colspan: "4" }, breakpoint))]
  ]);
  return element(
    "table",
    {},
    element("thead", {}, element("tr", {}, ...head.map((name) => element("th", {}, name)))),
    element("tbody", {}, ...rows)
  );
}
function keptOf(tokens, kept) {
  if (kept === null) {
    return null;
  }
  if (!kept.tools) {
    return "the tools changed: the cache keeps nothing";
  }
  if (kept.tokens >= tokens.text) {
    return "the cache keeps all of it";
  }
  const count = kept.tokens + tokens.tools;
  return count === 0 ? "the cache keeps nothing" : `the cache keeps ${amount(count)} of them`;
}
function amount(count) {
  return count.toLocaleString("en");
}

// src/webview/page.ts
var FIDELITIES = {
  executed: "Rendered by running the code of the prompt",
  static: "Rendered from the source alone: unknown values show as written"
};
var ONE_LINE = 24;
var USER = "user";
function roleOf(block) {
  return block.role ?? USER;
}
var Page = class {
  constructor(host) {
    this.host = host;
    const state = host.load();
    this.folded = new Set(state.folded ?? []);
    this.mode = state.mode ?? "markdown";
    this.scrollWanted = state.scroll ?? null;
    this.modeButton = button("", { title: "The exact text that the model gets" }, () => {
      this.mode = this.mode === "text" ? "markdown" : "text";
      this.keepingPlace(() => this.draw());
    });
    this.modeButton.append("Text");
    this.foldButton = button("", {}, () => this.foldAll());
    this.notice.hidden = true;
    document.body.append(
      // What the reader must know stays in view with the bar, however far down the text is.
      element(
        "header",
        {},
        element(
          "div.bar",
          {},
          this.name,
          this.fidelity,
          element("span.space"),
          host.controls,
          this.modeButton,
          this.foldButton
        ),
        this.costs.root,
        this.notice
      ),
      this.main,
      this.tools
    );
    this.main.addEventListener("keydown", (event) => this.key(event));
    addEventListener("scroll", () => this.save(), { passive: true });
    host.post({ type: "ready" });
  }
  host;
  blocks = new Blocks();
  views = /* @__PURE__ */ new Map();
  folded;
  mode;
  prompt = { uri: "", name: "" };
  scrollWanted;
  reveals = true;
  name = element("h1");
  fidelity = element("span.fidelity");
  modeButton;
  foldButton;
  notice = element("div.notice", { role: "status", "aria-live": "polite" });
  costs = new Costs((id) => this.views.get(id)?.root.scrollIntoView());
  main = element("main");
  tools = element("footer");
  receive(message) {
    if (message.type === "settled") {
      for (const view of this.views.values()) {
        if (view.key === message.key) {
          view.settle();
        }
      }
    } else {
      this.keepingPlace(() => this.show(message.view));
    }
  }
  show(view) {
    this.prompt = { uri: view.uri, name: view.name };
    this.name.textContent = view.name;
    this.fidelity.textContent = view.fidelity;
    this.fidelity.title = FIDELITIES[view.fidelity] ?? "";
    this.fidelity.hidden = view.fidelity === "";
    if (view.whole) {
      this.blocks.clear();
    }
    this.blocks.apply(view.order, view.blocks);
    this.reveals = view.reveals ?? true;
    this.draw();
    this.costs.show(this.blocks.all(), view.tokens, view.kept, view.cache, view.effects ?? []);
    this.showNotice(view.notice);
    this.showTools(view.tools);
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
    let next = this.main.firstElementChild;
    let role = this.blocks.all().some((block) => roleOf(block) !== USER) ? "" : USER;
    for (const block of this.blocks.all()) {
      const view = this.viewOf(block);
      view.update(block, this.mode, this.reveals);
      view.begins(roleOf(block) === role ? null : roleOf(block));
      role = roleOf(block);
      if (view.root === next) {
        next = next.nextElementSibling;
      } else {
        this.main.insertBefore(view.root, next);
      }
    }
    this.applyFolds();
    this.modeButton.setAttribute("aria-pressed", String(this.mode === "text"));
    this.save();
  }
  viewOf(block) {
    const there = this.views.get(block.id);
    if (there !== void 0) {
      return there;
    }
    const made = new BlockView(block, {
      fold: (id) => this.toggle(id),
      change: (change, key) => this.host.post({ type: change, key }),
      reveal: (id) => this.host.post({ type: "reveal", id }),
      markdown: (shown, part) => this.host.markdown(shown, part)
    });
    this.views.set(block.id, made);
    return made;
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
    this.foldButton.hidden = this.modeButton.hidden = this.views.size === 0;
  }
  showNotice(notice) {
    this.notice.hidden = notice === null;
    this.notice.className = `notice ${notice?.kind ?? ""}`;
    const current = notice === null || ["loading", "untrusted"].includes(notice.kind);
    this.main.classList.toggle("outdated", !current);
    const actions = (notice?.actions ?? []).map(
      ({ id, title }) => button("", {}, () => this.host.post({ type: "action", id }), title)
    );
    this.notice.replaceChildren(element("span", {}, notice?.text ?? ""), ...actions);
  }
  showTools(tools) {
    const open = this.tools.querySelector("details")?.open ?? false;
    this.tools.hidden = tools.length === 0;
    const list = tools.map((tool) => [
      element(
        "dt",
        {},
        element("code", {}, tool.name),
        tool.tokens !== void 0 && ` ${tool.tokens.toLocaleString("en")} tokens`
      ),
      element("dd", {}, tool.description)
    ]);
    const details = element(
      "details",
      {},
      element("summary", {}, `Tools (${tools.length})`),
      element("dl", {}, ...list.flat())
    );
    details.open = open;
    this.tools.replaceChildren(details);
  }
  /** Up and down walk the heads, left folds, right unfolds, o opens and c closes the section. */
  key(event) {
    const head = event.target.closest(".fold");
    const id = head?.closest(".block")?.dataset.id;
    const block = id === void 0 ? void 0 : this.blocks.get(id);
    if (event.ctrlKey || event.altKey || event.metaKey || block === void 0 || head === null) {
      return;
    }
    const heads = [...this.main.querySelectorAll(".block:not([hidden]) .fold")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== void 0) {
      heads[heads.indexOf(head) + step]?.focus();
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      this.toggle(block.id, event.key === "ArrowLeft");
    } else if (event.key === "o" && block.enabled && block.visibility === "SUMMARY") {
      this.host.post({ type: "open", key: block.key });
    } else if (event.key === "c" && block.opened) {
      this.host.post({ type: "close", key: block.key });
    } else {
      return;
    }
    event.preventDefault();
  }
  /** Runs a change of the page so that the first section in view stays where it is. */
  keepingPlace(change) {
    const edge = this.main.previousElementSibling?.getBoundingClientRect().bottom ?? 0;
    const top = [...this.views.values()].find(
      ({ root }) => !root.hidden && root.getBoundingClientRect().bottom > edge + ONE_LINE
    );
    const before = top?.root.getBoundingClientRect().top ?? 0;
    const scrolled = scrollY > 0;
    change();
    if (scrolled && top?.root.isConnected) {
      scrollBy({ top: top.root.getBoundingClientRect().top - before });
    }
  }
  save() {
    if (this.prompt.uri !== "" && this.scrollWanted === null) {
      this.host.save({
        ...this.prompt,
        folded: [...this.folded],
        mode: this.mode,
        scroll: scrollY
      });
    }
  }
};

// src/webview/browser.ts
var STATE = "foldline";
var Browser = class {
  page;
  controls = new Controls((action, key) => void this.send(action, key));
  keys = /* @__PURE__ */ new Map();
  last = null;
  /** What came in between is told once more when the connection is back. */
  lost = null;
  refusal = null;
  constructor() {
    history.replaceState(null, "", location.pathname);
    this.page = new Page({
      post: (message) => void this.act(message),
      load: () => JSON.parse(sessionStorage.getItem(STATE) ?? "{}"),
      save: (state) => sessionStorage.setItem(STATE, JSON.stringify(state)),
      controls: this.controls.root,
      markdown: (block, part) => block.markdown[part]
    });
    const events = new EventSource("events");
    events.addEventListener("message", ({ data }) => {
      this.lost = this.refusal = null;
      this.show(JSON.parse(data));
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
    this.showAgain();
  }
  show(news) {
    for (const { id, key } of news.blocks) {
      this.keys.set(id, key);
    }
    this.last = { ...news, blocks: [], whole: false };
    document.title = `${news.name || "Preview"} · foldline`;
    this.controls.show(news.parameter_sets, news.parameter_set, news.steps);
    const { uri, name, fidelity, order, blocks, whole, tools, tokens, kept, cache, effects } = news;
    this.page.receive({
      type: "view",
      view: {
        ...{ uri, name, fidelity, order, blocks, whole, tools, tokens, kept, cache, effects },
        reveals: news.reveals,
        notice: this.noticeOf(news)
      }
    });
  }
  showAgain() {
    this.show(this.last ?? NOTHING);
  }
  noticeOf({ stale, order, fidelity }) {
    const old = stale && { ...staleNotice(stale, order.length > 0, fidelity), actions: [] };
    return this.lost ?? this.refusal ?? old;
  }
  async act(message) {
    if (message.type === "ready" || message.type === "action") {
      return;
    }
    const key = message.type === "reveal" ? this.keys.get(message.id) : message.key;
    await this.send(message.type, key ?? "");
    if (message.type !== "reveal") {
      this.page.receive({ type: "settled", key: message.key });
    }
  }
  async send(action, key) {
    const refused = await send({ action, key });
    if (refused !== null) {
      this.refusal = { kind: "failed", text: refused, actions: [] };
      this.showAgain();
    }
  }
};
var NOTHING = {
  ...{ sessionId: "", uri: "", name: "", version: null, fidelity: "", order: [], blocks: [] },
  ...{
    tools: [],
    tokens: null,
    kept: null,
    cache: null,
    effects: [],
    stale: null,
    whole: true,
    reveals: false
  },
  ...{ parameter_sets: [], parameter_set: null, steps: 1 }
};
async function send(action) {
  try {
    const answer = await fetch("actions", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(action)
    });
    return answer.ok ? null : await answer.text();
  } catch (error) {
    return `The preview did not answer: ${String(error)}`;
  }
}
new Browser();
