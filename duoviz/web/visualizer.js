// The visualizer: draws one run from its trace events (duoviz/trace/schema.py) and plays it back.

const SVG = "http://www.w3.org/2000/svg";
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const MARKS = { pending: "○", accepted: "✓", rejected: "✗", discarded: "–", correction: "➜", window: "◇" };
const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];
const STOPPED = {
  eos: "Finished: the target ended its answer.",
  length: "Finished: the limit on new tokens was reached.",
  context: "Finished: the context is full.",
  stopped: "Stopped.",
  time: "Stopped: the time for a run was over.",
  error: "The run failed.",
};
const NOTHING_YET = "Nothing has run yet. Start a run, and each step of the two models appears here as it happens: "
  + "the text, the tokens that the draft proposes, and what the target makes of them.";
const ITERATIONS_IN_VIEW = 12;
const EVENTS_PER_FRAME = 80;
const MAX_TREE_NODES = 300;
const MIN_BAR_PX = 3;
const MIN_SYNC_PX = 8;
const CAPTION_WIDTH = 110;

let mounted = 0;

// ---- DOM ----

function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function svg(tag, attributes = {}, text = null) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== null) node.textContent = text;
  return node;
}

function section(name, heading, ...children) {
  return el("section", { class: `dv-section dv-${name}`, "aria-label": heading }, el("h3", { class: "dv-heading" }, heading), ...children);
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function iconButton(label, path, act) {
  const icon = svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" });
  icon.append(svg("path", { d: path }));
  const button = el("button", { type: "button", class: "dv-button", "aria-label": label, title: label }, icon);
  button.addEventListener("click", act);
  return button;
}

function textButton(label, act) {
  const button = el("button", { type: "button", class: "dv-button dv-button-text" }, label);
  button.addEventListener("click", act);
  return button;
}

// ---- Words and numbers ----

// Control and direction characters would move or hide what stands beside them.
function visible(text) {
  return String(text).replace(/\r?\n/g, "↵").replace(/\t/g, "⇥").replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, "·");
}

function clip(text, length) {
  const points = Array.from(text.slice(0, 4 * length));
  return points.length > length ? points.slice(0, length - 1).join("") + "…" : points.join("");
}

const tokenLabel = (text) => clip(visible(String(text).slice(0, 200)).replace(/ /g, "␣"), 12) || "∅";

function quote(text) {
  const shown = String(text).slice(0, 200);
  const word = clip(visible(shown.trim() ? shown.replace(/^ +| +$/g, "") : shown.replace(/ /g, "␣")), 24);
  const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(word);
  return rightToLeft ? `"\u2068${word}\u2069"` : `"${word}"`;
}

const known = (value) => value !== null && value !== undefined && Number.isFinite(value);
const fixed = (value, digits) => (known(value) ? value.toFixed(digits) : "–");
const percent = (value) => (known(value) ? `${Math.round(100 * value)} %` : "–");
const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

function duration(seconds) {
  if (!known(seconds)) return "–";
  return seconds < 1 ? `${(1000 * seconds).toFixed(seconds < 0.1 ? 1 : 0)} ms` : `${seconds.toFixed(2)} s`;
}

// ---- The sentence ----

const roots = (iteration) => iteration.drafted.filter((node) => node.parent === -1 && node.status !== "correction");

function prefillSentence(iteration, header) {
  const readers = header?.draft ? "Both models read" : "The target read";
  const read = `${readers} the prompt (${count(iteration.target.rows, "token")})`;
  const first = iteration.committed[0];
  if (!first) return `${read}; the first new token comes later.`;
  const guessed = iteration.verdict.outcome === "hit" ? ", as the draft had guessed" : "";
  return `${read}; the target's first token is ${quote(first.text)}${guessed}.`;
}

function draftingClause(iteration, header) {
  const starts = roots(iteration);
  if (!starts.length) return "";
  const named = starts.filter((node) => known(node.q)).slice(0, 3).map((node) => `${fixed(node.q, 2)} for ${quote(node.text)}`);
  const list = named.length ? ` (${named.join(", ")}${starts.length > named.length ? ", …" : ""})` : "";
  const began = `${count(starts.length, "sequence")} started`;
  if (!known(iteration.theta) || (header?.settings?.sequences ?? "dynamic") !== "dynamic") return `${began}${list}`;
  if (starts.length > 1) return `The draft was unsure${list}, so ${began}`;
  return starts[0].q >= 0.5 ? `The draft was fairly sure${list}, so ${began}`
    : `Only one first token was over the threshold${list}, so ${began}`;
}

function checkedClause(iteration) {
  const tested = iteration.checked.filter((node) => node.status !== "correction" && node.status !== "window");
  const accepted = tested.filter((node) => node.status === "accepted").length;
  if (!tested.length) return "";
  if (accepted === tested.length) {
    return accepted === 1 ? "accepted the pending token" : accepted === 2 ? "accepted both pending tokens" : `accepted all ${accepted} pending tokens`;
  }
  if (!accepted) return "";
  return `accepted ${accepted} of ${count(tested.length, "pending token")}`;
}

function rejectionSentence(iteration) {
  const nodes = iteration.checked.concat(iteration.drafted);
  const rejected = nodes.find((node) => node.status === "rejected");
  const own = nodes.find((node) => node.status === "correction") ?? iteration.committed.at(-1);
  const accepted = checkedClause(iteration);
  const refused = rejected ? `rejected ${quote(rejected.text)}` : "rejected the next";
  const placed = own ? ` and put its correction ${quote(own.text)} there` : "";
  const rest = nodes.some((node) => node.status === "discarded") ? "; all that was drafted after it is discarded" : "";
  return `The target ${accepted ? `${accepted}, ` : ""}${refused}${placed}${rest}.`;
}

function verdictClause(iteration) {
  const accepted = checkedClause(iteration);
  const starts = roots(iteration).length;
  const own = iteration.drafted.find((node) => node.status === "correction") ?? iteration.committed.at(-1);
  const also = accepted ? `${accepted} and ` : "";
  if (iteration.verdict.outcome === "hit") {
    if (starts > 1) return `${also}chose the ${ORDINALS[(iteration.verdict.sequence ?? 1) - 1] ?? `${iteration.verdict.sequence}th`}`;
    return starts ? `${also}chose its first token` : accepted || "agreed";
  }
  if (!own) return accepted || "tested it";
  return starts ? `${also}chose ${quote(own.text)}, which no sequence starts with: the correction` : `${also}added ${quote(own.text)}`;
}

function sentence(iteration, header) {
  const promptOnly = iteration.index === 0 && iteration.committed.length === 1;
  if (iteration.mode === "prefill" || (iteration.mode === null && promptOnly)) return prefillSentence(iteration, header);
  if (iteration.verdict.outcome === "none") {
    const why = header?.draft ? "Nothing could be tested, so the target computed" : "The target computed";
    const tokens = iteration.committed;
    if (!tokens.length) return `${why} no new token.`;
    // A special token has no text of its own among the committed ones; its node names it.
    const own = iteration.checked.find((node) => node.status === "correction") ?? tokens[0];
    return tokens.length === 1 ? `${why} one token: ${quote(own.text)}.` : `${why} ${tokens.length} tokens.`;
  }
  if (iteration.verdict.outcome === "rejection") return rejectionSentence(iteration);
  const drafting = draftingClause(iteration, header);
  return `${drafting ? `${drafting}; the` : "The"} target ${verdictClause(iteration)}.`;
}

// ---- State ----

const emptyState = () => ({
  epoch: 0, phase: "empty", message: "", header: null, iterations: [], totals: [], tails: [],
  metrics: null, shown: -1, follow: true, playing: false, speed: 1, clock: 0,
});

function overlapOf({ target, draft }) {
  let both = 0;
  for (const step of draft) both += Math.max(0, Math.min(step.end, target.end) - Math.max(step.start, target.start));
  return both;
}

// Running sums up to each iteration, so that any one can be shown without going through all before it.
function addIteration(state, iteration) {
  const before = state.totals.at(-1) ?? { tokens: 0, forwards: 0, tested: 0, accepted: 0, overlap: 0, ttft: null };
  const tokens = before.tokens + iteration.committed.length;
  state.totals.push({
    tokens,
    forwards: before.forwards + 1,
    tested: before.tested + iteration.verdict.tested,
    accepted: before.accepted + iteration.verdict.accepted,
    overlap: before.overlap + overlapOf(iteration),
    ttft: before.ttft ?? (tokens ? iteration.sync : null),
  });
  const text = iteration.committed.map((token) => token.text).join("");
  const tail = state.tails.at(-1) ?? String(state.header?.prompt ?? "").slice(-80);
  if (!state.tails.length) state.tails.push(tail);
  state.tails.push((tail + text).slice(-80));
  state.iterations.push(iteration);
}

function applyEvent(state, event) {
  if (event.type === "reset") {
    Object.assign(state, emptyState(), { epoch: state.epoch + 1, phase: "running", speed: state.speed });
  } else if (event.type === "status") {
    state.message = event.text;
  } else if (event.type === "header") {
    Object.assign(state, { header: event.header, phase: "running" });
  } else if (event.type === "iteration") {
    addIteration(state, event.iteration);
    Object.assign(state, { phase: "running", message: "Running." });
    if (state.follow) state.shown = state.iterations.length - 1;
  } else if (event.type === "end") {
    const message = event.end?.message ?? STOPPED[event.end?.stopped] ?? "Finished.";
    Object.assign(state, { phase: event.end?.stopped === "error" ? "error" : "done", metrics: event.metrics ?? null, message });
  } else if (event.type === "error") {
    Object.assign(state, { phase: "error", message: event.message });
  }
}

function runningNumbers(state) {
  const sums = state.totals[state.shown];
  if (!sums) return {};
  const { sync } = state.iterations[state.shown];
  return {
    tps: sync > 0 ? sums.tokens / sync : null,
    tau: sums.tokens / sums.forwards,
    acceptance: sums.tested ? sums.accepted / sums.tested : null,
    overlap: state.header?.can_overlap && sync > 0 ? sums.overlap / sync : null,
    ttft: sums.ttft,
  };
}

// ---- Numbers ----

const NUMBERS = [
  ["tps", "tokens/s", (value) => fixed(value, 1)],
  ["tau", "τ tokens per target forward", (value) => fixed(value, 2)],
  ["acceptance", "acceptance", percent],
  ["overlap", "overlap of both models", percent],
  ["ttft", "time to first token", duration],
  ["k", "k sequences", (value) => fixed(value, 0)],
  ["gamma", "γ draft budget", (value) => fixed(value, 0)],
  ["theta", "θ threshold", (value) => fixed(value, 3)],
];

function createNumbers({ state }) {
  const values = {};
  const scope = el("span", { class: "dv-scope" });
  const row = el("div", { class: "dv-number-row" });
  for (const [name, label] of NUMBERS) {
    values[name] = el("span", { class: "dv-number-value", "data-number": name }, "–");
    row.append(el("div", { class: "dv-number" }, values[name], el("span", { class: "dv-number-label" }, label)));
  }
  const node = section("numbers", "Numbers", row);
  node.firstChild.append(scope);
  return {
    node,
    draw() {
      const whole = state.metrics && !state.playing;
      const iteration = state.iterations[state.shown];
      const numbers = whole ? state.metrics : runningNumbers(state);
      const all = { ...numbers, k: iteration?.sequences, gamma: iteration?.budget, theta: iteration?.theta };
      for (const [name, , format] of NUMBERS) setText(values[name], format(all[name]));
      setText(scope, whole ? "whole run; k, γ, θ of the iteration shown" : "up to the iteration shown");
    },
  };
}

// ---- Text ----

// Newlines get a sign from CSS, so that textContent stays the decoded text exactly.
function fillToken(span, text) {
  text.split("\n").forEach((line, position) => {
    if (position) span.append(el("i", { class: "dv-newline", "aria-hidden": "true" }), "\n");
    if (line) span.append(line);
  });
}

function tokenSpan(token, position, nodes) {
  const at = nodes.findIndex((node) => node.id === token.id && (node.status === "accepted" || node.status === "correction"));
  const [node] = at < 0 ? [] : nodes.splice(at, 1);
  const source = token.source === "draft" || token.source === "target" ? `from the ${token.source}` : `from ${token.source}`;
  const facts = [`iteration ${position}`, source];
  if (known(node?.q)) facts.push(`draft probability ${fixed(node.q, 2)}`);
  if (known(node?.p)) facts.push(`target probability ${fixed(node.p, 2)}`);
  if (known(token.gap)) facts.push(`gap to the second best ${fixed(token.gap, 2)}`);
  const span = el("span", { class: "dv-token", "data-iteration": position, "data-source": token.source, title: facts.join(" · ") });
  if (/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(token.text)) span.classList.add("dv-isolated");
  fillToken(span, token.text);
  return span;
}

// Committed tokens, one group an iteration. Paragraphs are blocks of their own, so that a new token lays out one
// paragraph and not the whole text.
function createFlow(box) {
  let groups = [], paragraph = null;
  const openGroup = (position) => {
    if (!paragraph) box.append((paragraph = el("div", { class: "dv-paragraph" })));
    const group = el("span", { class: "dv-group dv-later", "data-group": position });
    paragraph.append(group);
    groups[position].push(group);
    return group;
  };
  return {
    size: () => groups.length,
    of: (position) => groups[position] ?? [],
    mark: (position, name, on) => groups[position]?.forEach((group) => group.classList.toggle(name, on)),
    clear() {
      [groups, paragraph] = [[], null];
      box.replaceChildren();
    },
    append(iteration) {
      const position = groups.push([]) - 1;
      const nodes = iteration.checked.concat(iteration.drafted);
      let group = null;
      for (const token of iteration.committed) {
        group ??= openGroup(position);
        group.append(tokenSpan(token, position, nodes));
        if (token.text.endsWith("\n")) paragraph = group = null;
      }
    },
  };
}

function scrollInto(box, node) {
  const [outer, inner] = [box.getBoundingClientRect(), node.getBoundingClientRect()];
  if (inner.bottom > outer.bottom - 4) box.scrollTop += inner.bottom - outer.bottom + 12;
  else if (inner.top < outer.top) box.scrollTop += inner.top - outer.top - 12;
}

function createText({ state, choose }) {
  const box = el("div", { class: "dv-text-box", tabindex: "-1" });
  const flow = createFlow(box);
  let epoch = state.epoch, lit = -1, outlined = -1;
  box.addEventListener("click", (event) => {
    const token = event.target.closest(".dv-token");
    if (token) choose(Number(token.dataset.iteration));
  });
  return {
    node: section("text", "Text", box),
    highlight: (position, on) => flow.mark(position, "dv-lit", on),
    draw() {
      if (epoch !== state.epoch) {
        flow.clear();
        [epoch, lit, outlined] = [state.epoch, -1, -1];
      }
      while (flow.size() < state.iterations.length) flow.append(state.iterations[flow.size()]);
      while (lit < state.shown) flow.mark(++lit, "dv-later", false);
      while (lit > state.shown) flow.mark(lit--, "dv-later", true);
      if (outlined === state.shown) return;
      flow.mark(outlined, "dv-shown", false);
      flow.mark(state.shown, "dv-shown", true);
      outlined = state.shown;
      if (flow.of(outlined).length) scrollInto(box, flow.of(outlined).at(-1));
    },
  };
}

// ---- Tree ----

const ROW_HEIGHT = 32;
const TREE_TOP = 24;
const COLUMN_GAP = 26;

// Pixels at the tree's 12 px monospace; from U+3000 on (and emoji) characters are twice as wide.
const textWidth = (text) => Array.from(text).reduce((sum, char) => sum + (char.codePointAt(0) >= 0x3000 ? 13 : 7.4), 0);

// Depth and row of each node: a first child stays on its parent's row, each further one opens a row below.
function layOut(nodes) {
  const children = new Map();
  nodes.forEach((node, index) => children.set(node.parent, [...(children.get(node.parent) ?? []), index]));
  const places = [];
  let rows = 0;
  const visit = (index, depth, row) => {
    places[index] = { depth, row };
    (children.get(index) ?? []).forEach((child, order) => visit(child, depth + 1, order ? rows++ : row));
  };
  (children.get(-1) ?? []).forEach((root) => visit(root, 0, rows++));
  return { places, rows, depth: Math.max(-1, ...places.filter(Boolean).map((place) => place.depth)) };
}

// For each drafted node, the number (from 1) of the sequence it belongs to.
function sequenceOf(nodes) {
  const numbers = [];
  let last = 0;
  nodes.forEach((node, index) => {
    numbers[index] = node.parent >= 0 ? numbers[node.parent] : node.status === "correction" ? 0 : ++last;
  });
  return numbers;
}

function lastWords(text) {
  const end = Array.from(visible(text)).slice(-20).join("");
  const short = end.length < visible(text).length ? end.replace(/^\S{0,12}\s(?=\S)/, "") : end;
  return short === visible(text) ? short || "start" : `…${short}`;
}

function treeItems(iteration, tail) {
  const items = [{ list: "text", label: lastWords(tail), column: 0, row: 0 }];
  const lists = { checked: iteration.checked.slice(0, MAX_TREE_NODES), drafted: iteration.drafted.slice(0, MAX_TREE_NODES) };
  const layouts = { checked: layOut(lists.checked), drafted: layOut(lists.drafted) };
  const sequences = sequenceOf(lists.drafted);
  const firstColumn = { checked: 1, drafted: 2 + layouts.checked.depth };
  let anchor = items[0];
  for (const list of ["checked", "drafted"]) {
    const root = anchor;
    const own = [];
    lists[list].forEach((node, index) => {
      const { depth, row } = layouts[list].places[index] ?? { depth: 0, row: 0 };
      const taken = list === "drafted" && sequences[index] > 0 && sequences[index] === iteration.verdict.sequence;
      const item = { list, index, node, taken, row, column: firstColumn[list] + depth, from: own[node.parent] ?? root, label: tokenLabel(node.text) };
      own.push(item);
      if (list === "checked" && row === 0) anchor = item;
    });
    items.push(...own);
  }
  return { items, split: firstColumn.drafted, rows: Math.max(1, layouts.checked.rows, layouts.drafted.rows) };
}

function placeColumns(items) {
  const widths = [];
  for (const item of items) {
    item.width = textWidth(item.label) + (item.node ? 30 : 18);
    widths[item.column] = Math.max(widths[item.column] ?? 0, item.width);
  }
  const lefts = [2];
  for (let column = 0; column < widths.length; column++) lefts.push(lefts[column] + (widths[column] ?? 0) + COLUMN_GAP);
  for (const item of items) Object.assign(item, { x: lefts[item.column], y: TREE_TOP + ROW_HEIGHT * (item.row + 0.5) });
  return lefts;
}

function edgePath(item) {
  const [x0, x1] = [item.from.x + item.from.width, item.x];
  const middle = Math.max(x0, x1 - COLUMN_GAP / 2);
  const d = `M${x0} ${item.from.y}H${Math.max(x0, x1 - COLUMN_GAP)}C${middle} ${item.from.y} ${middle} ${item.y} ${x1} ${item.y}`;
  const edge = svg("path", { class: `dv-edge${item.taken ? " dv-taken" : ""}`, d, "data-list": item.list, "data-index": item.index, "data-status": item.node.status });
  edge.style.strokeWidth = `${known(item.node.q) ? 1 + 6 * item.node.q : 1.25}px`;
  return edge;
}

function nodeTitle({ text, id, q, p, count: seen, status, source }) {
  const facts = [`${quote(text)} · id ${id}`, `${status}, from ${source}`];
  facts.push(known(q) ? `q (draft) ${fixed(q, 3)}` : known(seen) ? `count ${seen}` : "q –");
  facts.push(known(p) ? `p (target) ${fixed(p, 3)}` : "p –");
  return facts.join("\n");
}

function nodeGroup(item) {
  const { node } = item;
  const data = node ? { "data-list": item.list, "data-index": item.index, "data-status": node.status } : {};
  const group = svg("g", { class: `${node ? "dv-node" : "dv-context"}${item.taken ? " dv-taken" : ""}`, transform: `translate(${item.x} ${item.y})`, ...data });
  group.append(svg("rect", { y: -11, width: item.width, height: 22, rx: 6 }), svg("text", { class: "dv-label", x: 9, y: 4 }, item.label));
  if (!node) return group;
  group.append(svg("text", { class: "dv-mark", x: item.width - 8, y: 4, "text-anchor": "end" }, MARKS[node.status] ?? ""), svg("title", {}, nodeTitle(node)));
  return group;
}

function createTree({ state }) {
  const drawing = svg("svg", { class: "dv-tree-drawing", role: "img" });
  const box = el("div", { class: "dv-tree-box", tabindex: "0", role: "group", "aria-label": "Tree of drafted tokens, scrolls sideways" }, drawing);
  const note = el("p", { class: "dv-note" });
  const candidates = createCandidates();
  const body = el("div", { class: "dv-tree-body" }, el("div", { class: "dv-tree-side" }, box, note), candidates.node);
  let drawn = null;
  return {
    node: section("tree", "Tree", body),
    highlight: (position, on) => box.classList.toggle("dv-lit", on && position === state.shown),
    draw() {
      const iteration = state.iterations[state.shown];
      if (iteration === drawn) return;
      drawn = iteration;
      candidates.draw(iteration);
      if (!iteration) return drawing.replaceChildren();
      const { items, split, rows } = treeItems(iteration, state.tails[state.shown]);
      const lefts = placeColumns(items);
      drawing.setAttribute("width", Math.max(lefts.at(-1), (lefts[split] ?? 0) + CAPTION_WIDTH));
      drawing.setAttribute("height", TREE_TOP + ROW_HEIGHT * rows + 4);
      drawing.setAttribute("aria-label", `Tree of iteration ${state.shown}`);
      const tokens = items.filter((item) => item.node);
      drawing.replaceChildren(...treeCaptions(iteration, lefts, split), ...tokens.map(edgePath), ...items.map(nodeGroup));
      box.scrollLeft = Math.max(0, (lefts[split] ?? 0) - 0.5 * box.clientWidth);
      const missing = Math.max(0, iteration.checked.length - MAX_TREE_NODES) + Math.max(0, iteration.drafted.length - MAX_TREE_NODES);
      setText(note, missing ? `${missing} more tokens are not drawn.` : "");
    },
  };
}

function treeCaptions(iteration, lefts, split) {
  const captions = [svg("text", { class: "dv-caption", x: 2, y: 12 }, "verified text")];
  if (iteration.checked.length) captions.push(svg("text", { class: "dv-caption", x: lefts[1], y: 12 }, "checked"));
  if (iteration.drafted.length) captions.push(svg("text", { class: "dv-caption", x: lefts[split], y: 12 }, "drafted meanwhile"));
  return captions;
}

function candidateRow({ text, p, over, id }) {
  const bar = el("span", { class: "dv-candidate-bar" });
  bar.style.width = `${100 * Math.min(1, Math.max(0, p))}%`;
  const label = el("span", { class: "dv-candidate-label" }, `${over ? "●" : "○"} ${tokenLabel(text)}`);
  return el("li", { class: "dv-candidate", "data-over": Boolean(over), title: `${quote(text)} · id ${id} · q ${fixed(p, 3)} · ${over ? "over" : "not over"} the threshold` },
    label, el("span", { class: "dv-candidate-track" }, bar), el("span", { class: "dv-candidate-value" }, fixed(p, 2)));
}

function createCandidates() {
  const list = el("ol", { class: "dv-candidate-list" });
  const line = el("div", { class: "dv-theta" }, el("span", { class: "dv-theta-line" }, el("span", { class: "dv-theta-label" })));
  const note = el("p", { class: "dv-note" });
  const chart = el("div", { class: "dv-candidate-chart" }, line, list);
  const node = el("div", { class: "dv-candidates" }, el("h4", { class: "dv-subheading" }, "First tokens the draft thought of"), chart, note);
  const describe = (iteration, candidates) => {
    if (!candidates.length) return "No first tokens: nothing was drafted here.";
    if (!known(iteration.theta)) return "";
    const over = candidates.filter((candidate) => candidate.over).length;
    return `${over} over the threshold ● → k = ${iteration.sequences ?? "–"}`;
  };
  return {
    node,
    draw(iteration) {
      const candidates = iteration?.candidates ?? [];
      list.replaceChildren(...candidates.map(candidateRow));
      const theta = candidates.length ? iteration.theta : null;
      line.hidden = !known(theta);
      line.firstChild.style.left = `${100 * Math.min(1, theta ?? 0)}%`;
      setText(line.firstChild.firstChild, `θ ${fixed(theta, 2)}`);
      setText(note, iteration ? describe(iteration, candidates) : "");
    },
  };
}

// ---- Timeline ----

const LANE_HEIGHT = 26;
const LANES = { target: 20, draft: 72 };

function laneBars(lane, iteration, position) {
  if (lane === "target") return [{ ...iteration.target, position, label: iteration.target.rows, what: `target forward, ${count(iteration.target.rows, "row")}` }];
  return iteration.draft.map((step) => ({ ...step, position, label: step.tokens, what: `draft step, ${count(step.tokens, "token")}` }));
}

// Neighbours too narrow to tell apart become one bar: this bounds the number of nodes at any zoom.
function mergeBars(bars, pixels) {
  const merged = [];
  for (const bar of bars) {
    const last = merged.at(-1);
    if (last && (bar.end - last.start) * pixels < MIN_BAR_PX) Object.assign(last, { end: bar.end, label: "", several: (last.several ?? 1) + 1 });
    else merged.push({ ...bar });
  }
  return merged;
}

function barTitle(lane, bar) {
  if (bar.several) return `${bar.several} ${lane} bars from iteration ${bar.position}: zoom in to tell them apart`;
  return `Iteration ${bar.position}: ${bar.what}\nstart ${(1000 * bar.start).toFixed(2)} ms, duration ${(1000 * (bar.end - bar.start)).toFixed(2)} ms`;
}

function barNodes(lane, bar, toX, shown) {
  const [x, width] = [toX(bar.start), Math.max(0.75, toX(bar.end) - toX(bar.start))];
  const rect = svg("rect", { class: `dv-bar${bar.position === shown ? " dv-shown" : ""}`, x: x.toFixed(2), y: LANES[lane], width: width.toFixed(2), height: LANE_HEIGHT,
    "data-lane": lane, "data-iteration": bar.position, "data-start": bar.start, "data-end": bar.end });
  rect.append(svg("title", {}, barTitle(lane, bar)));
  const text = String(bar.label);
  const [left, right] = [Math.max(0, x), Math.min(toX.width, x + width)];
  if (!text || right - left < 8 + 7 * text.length) return [rect];
  const middle = (left + right) / 2;
  return [rect, svg("text", { class: "dv-bar-label", x: middle.toFixed(1), y: LANES[lane] + 17, "text-anchor": "middle" }, text)];
}

function tickStep(span, ticks) {
  const rough = span / ticks;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
}

function axisNodes(view, toX, y) {
  const step = tickStep(view.end - view.start, Math.max(2, toX.width / 130));
  const nodes = [];
  for (let n = Math.max(0, Math.ceil(view.start / step)); n * step < view.end; n++) {
    const label = step < 1 ? `${+(1000 * n * step).toFixed(3)} ms` : `${+(n * step).toFixed(3)} s`;
    nodes.push(svg("line", { class: "dv-tick", x1: toX(n * step), x2: toX(n * step), y1: y, y2: y + 4 }));
    nodes.push(svg("text", { class: "dv-axis", x: toX(n * step) + 3, y: y + 13 }, label));
  }
  return nodes;
}

function hatchPattern(id) {
  const pattern = svg("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  pattern.append(svg("line", { class: "dv-hatch", x1: 0, x2: 0, y1: 0, y2: 6 }));
  const defs = svg("defs");
  defs.append(pattern);
  return defs;
}

const beginOf = (iteration) => Math.min(iteration.target.start, iteration.draft[0]?.start ?? Infinity);

function firstEndingAfter(iterations, time) {
  let [low, high] = [0, iterations.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (iterations[middle].sync < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function timelineLane(lane, { state, visibleRange, toX, pixels, hatch, view }) {
  const device = state.header?.[lane]?.device ?? "";
  const name = `${lane === "target" ? "Target" : "Draft"}${device ? ` · ${device}` : ""}`;
  const label = svg("text", { class: "dv-lane-label", x: 0, y: LANES[lane] - 6, "data-lane": lane }, clip(visible(name), Math.floor(toX.width / 6.6)));
  label.append(svg("title", {}, name));
  const [from, to] = [Math.max(0, view.start), Math.min(view.end, state.iterations.at(-1).sync)];
  const idle = svg("rect", { class: "dv-idle", "data-lane": lane, x: toX(from), y: LANES[lane], width: Math.max(0, toX(to) - toX(from)), height: LANE_HEIGHT, fill: `url(#${hatch})` });
  idle.append(svg("title", {}, "idle"));
  const bars = [];
  for (let position = visibleRange[0]; position < visibleRange[1]; position++) bars.push(...laneBars(lane, state.iterations[position], position));
  const inView = bars.filter((bar) => bar.end >= view.start && bar.start <= view.end);
  return [label, idle, ...mergeBars(inView, pixels).flatMap((bar) => barNodes(lane, bar, toX, state.shown))];
}

function syncLines(state, [from, to], toX, height) {
  const lines = [];
  let last = -Infinity;
  for (let position = from; position < to; position++) {
    const x = toX(state.iterations[position].sync);
    if (x - last < MIN_SYNC_PX || x > toX.width + 1) continue;
    lines.push(svg("line", { class: "dv-sync", x1: x.toFixed(2), x2: x.toFixed(2), y1: 14, y2: height, "data-iteration": position }));
    last = x;
  }
  return lines;
}

function shownBand(state, toX, height) {
  const iteration = state.iterations[state.shown];
  if (!iteration) return [];
  const [x0, x1] = [toX(beginOf(iteration)), toX(iteration.sync)];
  return [svg("rect", { class: "dv-band", x: x0, y: 14, width: Math.max(1, x1 - x0), height: height - 14 })];
}

// What part of the clock is in view. `auto` follows the iteration shown; zooming or panning by hand ends it.
function createView(state) {
  const view = { start: 0, end: 1, auto: true };
  const runEnd = () => state.iterations.at(-1)?.sync ?? 1;
  const set = (start, span) => {
    const limited = Math.min(Math.max(span, 0.0005), 1.1 * runEnd());
    view.start = Math.min(Math.max(start, -0.05 * limited), Math.max(0, runEnd() - 0.5 * limited));
    view.end = view.start + limited;
  };
  view.zoom = (factor, at) => {
    const pivot = at ?? (view.start + view.end) / 2;
    view.auto = false;
    set(pivot - (pivot - view.start) * factor, (view.end - view.start) * factor);
  };
  view.pan = (seconds) => {
    view.auto = false;
    set(view.start + seconds, view.end - view.start);
  };
  view.whole = () => {
    view.auto = false;
    set(-0.01 * runEnd(), 1.02 * runEnd());
  };
  view.showWindow = (last) => {
    const from = beginOf(state.iterations[Math.max(0, last - ITERATIONS_IN_VIEW + 1)]);
    const span = state.iterations[last].sync - from;
    set(from - 0.01 * span, 1.02 * span);
  };
  view.follow = () => {
    const iteration = state.iterations[state.shown];
    if (!iteration) return;
    const inside = beginOf(iteration) >= view.start && iteration.sync <= view.end;
    if (view.auto && state.follow) view.showWindow(state.shown);
    else if (!inside && view.auto) view.showWindow(Math.min(state.iterations.length - 1, state.shown + ITERATIONS_IN_VIEW / 2));
    else if (!inside) set((beginOf(iteration) + iteration.sync - view.end + view.start) / 2, view.end - view.start);
  };
  return view;
}

function addPointer(drawing, view, { redraw, choose, hover }) {
  let drag = null;
  const secondsPerPixel = () => (view.end - view.start) / Math.max(1, drawing.clientWidth);
  const iterationAt = (target) => (target.dataset?.iteration === undefined ? -1 : Number(target.dataset.iteration));
  drawing.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    drag = { x: event.clientX, moved: 0, position: iterationAt(event.target) };
    drawing.setPointerCapture(event.pointerId);
  });
  drawing.addEventListener("pointermove", (event) => {
    if (!drag) return hover(iterationAt(event.target));
    const dx = event.clientX - drag.x;
    drag.moved += Math.abs(dx);
    drag.x = event.clientX;
    if (drag.moved <= 4) return;
    view.pan(-dx * secondsPerPixel());
    redraw();
  });
  drawing.addEventListener("pointerup", () => {
    if (drag && drag.moved <= 4 && drag.position >= 0) choose(drag.position);
    drag = null;
  });
  drawing.addEventListener("pointercancel", () => { drag = null; });
  drawing.addEventListener("pointerleave", () => hover(-1));
  drawing.addEventListener("wheel", (event) => {
    event.preventDefault();
    const x = event.clientX - drawing.getBoundingClientRect().left;
    view.zoom(Math.exp(0.002 * Math.max(-200, Math.min(200, event.deltaY))), view.start + x * secondsPerPixel());
    redraw();
  }, { passive: false });
}

function addTimelineKeys(drawing, view, redraw) {
  const acts = {
    w: () => view.zoom(0.7), s: () => view.zoom(1 / 0.7),
    a: () => view.pan(-0.15 * (view.end - view.start)), d: () => view.pan(0.15 * (view.end - view.start)),
  };
  drawing.addEventListener("keydown", (event) => {
    const act = acts[event.key.toLowerCase()];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
    redraw();
  });
}

function drawLanes(drawing, layer, { state, view, width, hatch }) {
  const lanes = state.header?.draft === null ? ["target"] : ["target", "draft"];
  const bottom = LANES[lanes.at(-1)] + LANE_HEIGHT + 4;
  drawing.setAttribute("height", bottom + 18);
  const pixels = width / (view.end - view.start);
  const toX = (time) => Math.min(width + 9, Math.max(-9, (time - view.start) * pixels));
  toX.width = width;
  const past = Math.min(state.iterations.length, firstEndingAfter(state.iterations, view.end) + 1);
  const visibleRange = [firstEndingAfter(state.iterations, view.start), past];
  const about = { state, visibleRange, toX, pixels, hatch, view };
  layer.replaceChildren(...shownBand(state, toX, bottom), ...lanes.flatMap((lane) => timelineLane(lane, about)),
    ...syncLines(state, visibleRange, toX, bottom), ...axisNodes(view, toX, bottom));
}

function timelineTools(state, view, redraw) {
  const near = textButton(`${ITERATIONS_IN_VIEW} iterations`, () => {
    view.auto = true;
    if (state.shown >= 0) view.showWindow(state.shown);
    redraw();
  });
  const whole = textButton("Whole run", () => { view.whole(); redraw(); });
  return el("div", { class: "dv-tools" }, near, whole, el("span", { class: "dv-hint" }, "wheel or W S: zoom · drag or A D: move · hatched: idle"));
}

function createTimeline({ state, choose, redraw, hover }) {
  const hatch = `dv-hatch-${mounted}`;
  const drawing = svg("svg", { class: "dv-timeline-drawing", tabindex: "0", role: "img", "aria-label": "Timeline: W and S zoom, A and D move" });
  const layer = svg("g");
  const playhead = svg("line", { class: "dv-playhead", y1: 10, y2: "100%" });
  drawing.append(hatchPattern(hatch), layer, playhead);
  const view = createView(state);
  addPointer(drawing, view, { redraw, choose, hover });
  addTimelineKeys(drawing, view, redraw);
  let drawn = "", followed = "";
  return {
    node: section("timeline", "Timeline", drawing, timelineTools(state, view, redraw)),
    view,
    highlight: (position, on) => layer.querySelectorAll(`.dv-bar[data-iteration="${position}"]`).forEach((bar) => bar.classList.toggle("dv-lit", on)),
    draw() {
      const width = drawing.clientWidth;
      if (!state.iterations.length) layer.replaceChildren();
      if (!state.iterations.length || !width) return;
      const place = `${state.epoch} ${state.shown} ${state.follow} ${view.auto}`;
      if (place !== followed) view.follow();
      followed = place;
      const key = `${place} ${state.iterations.length} ${width} ${view.start} ${view.end} ${Boolean(state.header)}`;
      if (key !== drawn) drawLanes(drawing, layer, { state, view, width, hatch });
      drawn = key;
      const x = ((state.clock - view.start) / (view.end - view.start)) * width;
      playhead.setAttribute("visibility", state.playing && x >= 0 && x <= width ? "visible" : "hidden");
      playhead.setAttribute("x1", x);
      playhead.setAttribute("x2", x);
    },
  };
}

// ---- Charts ----

const CHART_HEIGHT = 56;
const SERIES = [["k", "k sequences", "sequences"], ["gamma", "γ draft budget", "budget"], ["theta", "θ threshold", "theta"]];

function linePath(values, top, width, steps) {
  const unit = width / Math.max(1, values.length);
  let path = "", pen = false;
  values.forEach((value, index) => {
    if (!known(value)) return (pen = false);
    const [x, y] = [index * unit, CHART_HEIGHT - 2 - (value / top) * (CHART_HEIGHT - 8)];
    path += `${pen ? "L" : "M"}${(steps ? x : x + unit / 2).toFixed(1)} ${y.toFixed(1)}`;
    if (steps) path += `H${(x + unit).toFixed(1)}`;
    pen = true;
  });
  return path;
}

function createChart([name, label, field], { state, choose }) {
  const path = svg("path", { class: "dv-line", "data-chart": name });
  const marker = svg("rect", { class: "dv-chart-marker", y: 0, height: CHART_HEIGHT });
  const drawing = svg("svg", { class: "dv-chart-drawing", height: CHART_HEIGHT, role: "img", "aria-label": `${label} over iterations` });
  drawing.append(marker, path);
  const range = el("span", { class: "dv-scope" });
  drawing.addEventListener("click", (event) => {
    const box = drawing.getBoundingClientRect();
    choose(Math.floor(((event.clientX - box.left) / box.width) * state.iterations.length));
  });
  let drawn = "";
  return {
    node: el("div", { class: "dv-chart" }, el("h4", { class: "dv-subheading" }, label, range), drawing),
    draw() {
      const width = drawing.clientWidth;
      const total = state.iterations.length;
      const unit = width / Math.max(1, total);
      marker.setAttribute("x", Math.max(0, state.shown) * unit);
      marker.setAttribute("width", state.shown < 0 ? 0 : Math.max(1.5, unit));
      const key = `${state.epoch} ${total} ${width}`;
      if (key === drawn || !width) return;
      drawn = key;
      const values = state.iterations.map((iteration) => iteration[field]);
      const highest = values.reduce((high, value) => (known(value) ? Math.max(high, value) : high), 0);
      const top = name === "theta" ? 1 : Math.max(1, highest);
      path.setAttribute("d", linePath(values, top, width, name !== "theta"));
      setText(range, `0 to ${top}`);
    },
  };
}

function histogramNodes(counts) {
  const most = Math.max(1, ...counts);
  const unit = 240 / Math.max(8, counts.length - 1);
  const nodes = [];
  for (let k = 1; k <= Math.max(8, counts.length - 1); k++) {
    const number = counts[k] ?? 0;
    const height = (48 * number) / most;
    const middle = (k - 0.5) * unit;
    nodes.push(svg("rect", { class: "dv-histogram-bar", "data-k": k, "data-count": number, x: middle - 0.34 * unit, y: 62 - height, width: 0.68 * unit, height }));
    if (number) nodes.push(svg("text", { class: "dv-axis", x: middle, y: 58 - height, "text-anchor": "middle" }, String(number)));
    nodes.push(svg("text", { class: "dv-axis", x: middle, y: 75, "text-anchor": "middle" }, String(k)));
  }
  return nodes;
}

function createCharts(context) {
  const { state } = context;
  const charts = SERIES.map((series) => createChart(series, context));
  const histogram = svg("svg", { class: "dv-histogram", viewBox: "0 0 240 80", role: "img", "aria-label": "How often each number of sequences was used" });
  const histogramBox = el("div", { class: "dv-chart" }, el("h4", { class: "dv-subheading" }, "Iterations by k"), histogram);
  const grid = el("div", { class: "dv-chart-grid" }, ...charts.map((chart) => chart.node), histogramBox);
  const note = el("p", { class: "dv-note" }, "This method has no sequences, draft budget or threshold.");
  let epoch, counts, counted, used;
  return {
    node: section("charts", "Sequences, budget, threshold", grid, note),
    draw() {
      if (epoch !== state.epoch) [epoch, counts, counted, used] = [state.epoch, [0], -1, new Set()];
      const isNew = Math.max(0, counted) < state.iterations.length || counted < 0;
      for (counted = Math.max(0, counted); counted < state.iterations.length; counted++) {
        const iteration = state.iterations[counted];
        SERIES.forEach(([, , field], index) => known(iteration[field]) && used.add(charts[index]));
        const k = iteration.sequences;
        if (k > 0) counts[k] = (counts[k] ?? 0) + 1;
      }
      if (isNew) histogram.replaceChildren(...histogramNodes(Array.from(counts, (number) => number ?? 0)));
      for (const chart of charts) chart.node.hidden = !used.has(chart);
      histogramBox.hidden = counts.length < 2;
      grid.hidden = !used.size;
      note.hidden = !grid.hidden;
      charts.forEach((chart) => chart.draw());
    },
  };
}

// ---- Transport, message and legend ----

const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z", back: "M10 3 5 8l5 5 1.4-1.4L7.8 8l3.6-3.6z", play: "M4 2v12l10-6z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z", forward: "M6 3l5 5-5 5-1.4-1.4L8.2 8 4.6 4.4z", last: "M11 3h2v10h-2zM3 3v10l7-5z",
};

function createTransport({ state, actions, choose }) {
  const play = iconButton("Play", ICONS.play, actions.togglePlay);
  const slider = el("input", { type: "range", class: "dv-slider", min: 0, max: 0, step: 1, value: 0, "aria-label": "Iteration shown" });
  const place = el("span", { class: "dv-place" });
  const speed = el("select", { class: "dv-speed", "aria-label": "Replay speed" }, ...SPEEDS.map((value) => el("option", { value }, `${value}×`)));
  const follow = textButton("Follow live", actions.toggleFollow);
  slider.addEventListener("input", () => choose(Number(slider.value)));
  speed.addEventListener("change", () => actions.setSpeed(Number(speed.value)));
  const buttons = el("div", { class: "dv-buttons" },
    iconButton("First iteration", ICONS.first, actions.first), iconButton("Step back", ICONS.back, actions.back), play,
    iconButton("Step forward", ICONS.forward, actions.forward), iconButton("Last iteration", ICONS.last, actions.last));
  const said = el("p", { class: "dv-sentence" });
  let explained = null;
  return {
    node: el("section", { class: "dv-section dv-transport", "aria-label": "Player" }, el("div", { class: "dv-controls" }, buttons, slider, place, speed, follow), said),
    draw() {
      const iteration = state.iterations[state.shown];
      slider.max = Math.max(0, state.iterations.length - 1);
      slider.value = Math.max(0, state.shown);
      setText(place, state.iterations.length ? `${state.shown} / ${state.iterations.length - 1}` : "");
      speed.value = String(state.speed);
      follow.setAttribute("aria-pressed", state.follow);
      play.setAttribute("aria-label", state.playing ? "Pause" : "Play");
      play.title = state.playing ? "Pause (space)" : "Play (space)";
      play.querySelector("path").setAttribute("d", state.playing ? ICONS.pause : ICONS.play);
      // A screen reader should not be talked over while iterations stream past.
      said.setAttribute("aria-live", state.playing || (state.follow && state.phase === "running") ? "off" : "polite");
      if (iteration !== explained) setText(said, iteration ? sentence(iteration, state.header) : "");
      explained = iteration;
    },
  };
}

function createMessage({ state }) {
  const node = el("p", { class: "dv-message", role: "status" });
  return {
    node,
    draw() {
      setText(node, state.message || (state.phase === "empty" ? NOTHING_YET : "Waiting for the first tokens."));
      node.setAttribute("data-kind", state.phase === "error" ? "error" : "status");
    },
  };
}

function createLegend() {
  const sources = [["draft", "token from the draft"], ["target", "token from the target"], ["other", "token from elsewhere (prompt, datastore, lookahead)"]];
  const statuses = [["pending", "drafted, not yet checked"], ["accepted", "the target agrees"], ["rejected", "the target disagrees"],
    ["discarded", "hung on a rejected token, a branch not taken, or too long to be worth checking"], ["correction", "the target's own token"]];
  const entries = sources.map(([source, words]) => el("li", {}, el("span", { class: "dv-sample", "data-source": source }, "abc"), ` ${words}`));
  for (const [status, words] of statuses) {
    entries.push(el("li", {}, el("span", { class: "dv-legend-mark", "data-status": status }, MARKS[status]), " ", el("b", {}, status), ` ${words}`));
  }
  return { node: section("legend", "Legend", el("ul", { class: "dv-legend-list" }, ...entries)), draw() {} };
}

// ---- Player ----

function createActions(state, redraw, resetView) {
  const lastIndex = () => state.iterations.length - 1;
  const choose = (index) => {
    if (!state.iterations.length) return;
    Object.assign(state, { follow: false, playing: false, shown: Math.min(lastIndex(), Math.max(0, Math.round(index))) });
    redraw();
  };
  const setSpeed = (speed) => { state.speed = speed; redraw(); };
  const shiftSpeed = (by) => setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, SPEEDS.indexOf(state.speed) + by))]);
  const togglePlay = () => {
    if (!state.iterations.length) return;
    state.playing = !state.playing;
    state.follow = false;
    if (state.playing && state.shown >= lastIndex()) Object.assign(state, { shown: 0, clock: beginOf(state.iterations[0]) });
    else state.clock = state.iterations[state.shown].sync;
    redraw();
  };
  const toggleFollow = () => {
    state.follow = !state.follow;
    if (state.follow) Object.assign(state, { playing: false, shown: lastIndex() });
    if (state.follow) resetView();
    redraw();
  };
  return {
    choose, setSpeed, togglePlay, toggleFollow,
    first: () => choose(0), last: () => choose(lastIndex()), back: () => choose(state.shown - 1), forward: () => choose(state.shown + 1),
    faster: () => shiftSpeed(1), slower: () => shiftSpeed(-1),
  };
}

// A long pause (a hidden tab) must not jump the replay ahead.
function advancePlay(state, elapsed) {
  state.clock += Math.min(0.25, elapsed) * state.speed;
  const last = state.iterations.length - 1;
  while (state.shown < last && state.iterations[state.shown + 1].sync <= state.clock) state.shown++;
  if (state.shown < last) return;
  state.playing = false;
  state.follow = state.phase === "running";
}

function keyHandler(root, actions) {
  const acts = {
    " ": actions.togglePlay, ArrowLeft: actions.back, ArrowRight: actions.forward, Home: actions.first, End: actions.last,
    "+": actions.faster, "=": actions.faster, "-": actions.slower, "−": actions.slower,
  };
  const onScreen = () => {
    const box = root.getBoundingClientRect();
    return box.height > 0 && box.bottom > 0 && box.top < window.innerHeight;
  };
  return (event) => {
    const act = acts[event.key];
    const target = event.target instanceof Element ? event.target : document.body;
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.closest("input, textarea, select, [contenteditable]:not([contenteditable=false]), [role=tab], [role=slider], [role=listbox], video, audio")) return;
    if (event.key === " " && target.closest("button, a, summary, [role=button]")) return;
    const owner = target.closest(".dv");
    if ((owner && owner !== root) || root.dataset.iterations === "0" || !onScreen()) return;
    event.preventDefault();
    act();
  };
}

// ---- Mount ----

function createHover(parts) {
  let current = -1;
  return (position) => {
    if (position === current) return;
    for (const part of parts()) part.highlight?.(current, false);
    current = position;
    if (position >= 0) for (const part of parts()) part.highlight?.(position, true);
  };
}

function writeAttributes(root, state) {
  root.dataset.iterations = state.iterations.length;
  root.dataset.shown = state.shown;
  root.dataset.state = state.phase;
  root.dataset.draft = state.header?.draft === null ? "none" : "yes";
}

export function mount(root, feed) {
  mounted += 1;
  const state = emptyState();
  const queue = [];
  let frame = 0, lastTime = null, parts = [];

  const redraw = () => { frame ||= requestAnimationFrame(draw); };
  const takeEvents = () => {
    for (const event of queue.splice(0, EVENTS_PER_FRAME)) {
      if (event.type === "reset") timeline.view.auto = true;
      applyEvent(state, event);
    }
  };
  const draw = (time) => {
    frame = 0;
    takeEvents();
    if (state.playing) advancePlay(state, lastTime === null ? 0 : (time - lastTime) / 1000);
    lastTime = state.playing ? time : null;
    writeAttributes(root, state);
    for (const part of parts) part.draw();
    if (queue.length || state.playing) redraw();
  };

  const actions = createActions(state, redraw, () => { timeline.view.auto = true; });
  const context = { state, actions, redraw, choose: actions.choose, hover: createHover(() => parts) };
  const timeline = createTimeline(context);
  parts = [createMessage(context), createNumbers(context), createTransport(context), createText(context),
    createTree(context), timeline, createCharts(context), createLegend()];
  root.classList.add("dv");
  root.tabIndex = 0;
  root.replaceChildren(...parts.map((part) => part.node));
  const onKey = keyHandler(root, actions);
  document.addEventListener("keydown", onKey);
  const sizes = new ResizeObserver(redraw);
  sizes.observe(root);
  const unsubscribe = feed.subscribe((event) => { queue.push(event); redraw(); });
  writeAttributes(root, state);
  redraw();

  const destroy = () => {
    unsubscribe?.();
    sizes.disconnect();
    document.removeEventListener("keydown", onKey);
    cancelAnimationFrame(frame);
    root.replaceChildren();
    root.classList.remove("dv");
  };
  return { destroy, show: actions.choose, state };
}
