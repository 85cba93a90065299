// An iteration in words: what goes on, what happened in at most 20 words, and the details.

import { aboutOf } from "./methods.js";
import { lookAt, timesOf } from "./moments.js";
import { count, countGuesses, endsAnswer, fateOf, fixed, known, quote } from "./words.js";

const LONGEST_END = 48;
const MORE = 3;
const LEAST_GAIN = 0.01;

// Proposals come first in `checked`, so that their parents are indices into this list too.
export const proposalsOf = ({ checked }) => checked.filter(({ status }) => status !== "correction" && status !== "window");
const startsOf = ({ drafted }) => drafted.filter(({ parent, status }) => parent === -1 && status !== "correction");
// A special token has no text of its own among the committed ones; its node names it.
const isChosen = ({ status }) => status === "accepted" || status === "correction";
const chosenBy = ({ checked, drafted }) => [...checked, ...drafted].filter(isChosen);

// Of each token that an iteration adds to the text, the node of the tree that it was: {list, index, node}; null where
// it was none.
export function nodesOf({ checked, drafted, committed }) {
  const chosen = Object.entries({ checked, drafted }).flatMap(([list, nodes]) => (
    nodes.map((node, index) => ({ list, index, node })).filter(({ node }) => isChosen(node))));
  return committed.map(({ id }) => {
    const at = chosen.findIndex(({ node }) => node.id === id);
    return at < 0 ? null : chosen.splice(0, at + 1).at(-1);
  });
}

// For whoever does not see the tree: each token with what became of it, and what it follows where that is not the one
// named before it.
function listWords(nodes, fateIn) {
  const fateWords = (node) => (node.status === "correction" ? "written by the large model" : fateIn(node));
  const beginning = ({ parent }, at) => (
    parent === at - 1 ? "" : ` after ${parent < 0 ? "the text before" : quote(nodes[parent].text)}`);
  return nodes.map((node, at) => `${quote(node.text)} ${fateWords(node)}${beginning(node, at)}`).join(", ");
}

export function treeWords(iteration, header) {
  const lists = [["Checked", "checked"], ["Guessed meanwhile", "drafted"]].filter(([, list]) => iteration[list].length);
  const wordsOf = (list) => listWords(iteration[list], (node) => fateOf(list, node, iteration[list], header));
  return [`Tree of iteration ${iteration.index}`, ...lists.map(([name, list]) => `${name}: ${wordsOf(list)}`)].join(". ");
}

function branchesOf(proposals) {
  const parents = new Set(proposals.map(({ parent }) => parent));
  return proposals.filter((_, index) => !parents.has(index)).length;
}

function listChances(nodes) {
  const named = nodes.filter(({ q }) => known(q)).slice(0, MORE).map(({ q, text }) => `${fixed(q, 2)} for ${quote(text)}`);
  return named.length ? `${named.join(", ")}${nodes.length > named.length ? ", …" : ""}` : "";
}

// A method's own words. The places in them: {end}, {chances}, {tokens:one|many} and {branches:one|many}, # being the
// number.
function proposedWords(words, { matched }, proposals) {
  const numbered = (number) => (one = "", many = "") => (number === 1 ? one : many).replace("#", number);
  // Older traces do not say how long the end of the text was that occurs elsewhere.
  const end = matched ? `The last ${matched.tokens === 1 ? "token" : `${matched.tokens} tokens`}, ${quote(matched.text, LONGEST_END)},` : "The end of the text";
  const places = new Map([
    ["end", () => end], ["chances", () => listChances(proposals)],
    ["tokens", numbered(proposals.length)], ["branches", numbered(branchesOf(proposals))],
  ]);
  return words.replace(/\{(\w+)(?::([^{}|]*)\|([^{}|]*))?\}/g, (_, name, one, many) => places.get(name)?.(one, many) ?? "");
}

const FATES = { rejection: ". Everything after a rejected token is dropped", none: ", too late to be checked" };

function startedWords(iteration) {
  const starts = startsOf(iteration);
  const { outcome } = iteration.verdict;
  if (!starts.length) return iteration.index && outcome === "none" ? "The draft was still reading the prompt" : "";
  const [chances, fate] = [listChances(starts), FATES[outcome] ?? ""];
  return `The draft started ${count(starts.length, "sequence")}${chances && ` (${chances})`}${fate}`;
}

function draftingWords(iteration, { header, before, end, last }) {
  const { parallel, proposers, verified, nothing } = aboutOf(header);
  const proposals = proposalsOf(iteration);
  if (iteration.mode === "alone") return "Guesses are rarely right here, so none is checked";
  if (parallel) return startedWords(iteration);
  if (proposals.length) return proposedWords(verified, iteration, proposals);
  if (!proposers.length || !iteration.index) return "";
  const isFull = header.settings.max_new_tokens - before === 1 || (last && end?.stopped === "context");
  return isFull ? "There was room for only one token" : nothing;
}

function startWords({ start }, { can_overlap }) {
  if (!known(start?.gain)) return "";
  if (can_overlap) return "Checking started at once; the next draft step runs alongside";
  const milliseconds = fixed(1000 * start.seconds, 1);
  const gain = start.gain < LEAST_GAIN ? `less than ${LEAST_GAIN} tokens` : `only ${fixed(start.gain, 2)} tokens`;
  return `Another draft step (${milliseconds}\u00a0ms) would gain ${gain}, so checking began`;
}

// An answer may end, or reach its limit, before the last of the tokens that the target chose.
function droppedWords(iteration, { end, last }) {
  const beyond = chosenBy(iteration).length - iteration.committed.length;
  if (beyond <= 0) return "";
  const isFull = last && ["length", "context"].includes(end?.stopped);
  const border = isFull ? "limit" : "end of the answer";
  return beyond === 1 ? `The last token comes after the ${border} and is dropped`
    : `The last ${beyond} tokens come after the ${border} and are dropped`;
}

// about: the trace's `header` and `end`, how many tokens were written `before`, and whether the iteration is the
// `last`.
export function note(iteration, about) {
  const { header } = about;
  const window = iteration.checked.filter(({ status }) => status === "window").length;
  return [
    iteration.index === 0 && `The prompt has ${count(header.prompt_tokens, "token")}`,
    draftingWords(iteration, about),
    window && `In the same forward pass, a window of ${count(window, "token")} looked for new guesses`,
    startWords(iteration, header),
    droppedWords(iteration, about),
  ].filter(Boolean).map((words) => `${words}.`).join(" ");
}

const alone = (iteration) => (iteration.index === 0 ? "reads the prompt" : "computes the next token");

function inParallel(iteration, header, clock) {
  const { target, draft, checked, drafted } = iteration;
  const pending = checked.filter(({ status }) => status !== "correction").length;
  const does = pending ? `checks ${count(pending, "pending token")}` : alone(iteration);
  const times = timesOf(iteration, "drafted", header);
  const guesses = drafted.filter(({ status }, index) => status !== "correction" && lookAt(times[index], status, clock) !== "unborn").length;
  const guessed = guesses ? `: ${countGuesses(guesses)} so far` : "";
  const draftsUntil = draft.at(-1)?.end ?? 0;
  if (clock >= target.end) return clock < draftsUntil ? `The large model is ready and waits for the small one${guessed}.` : "The large model is ready: the verdict follows.";
  if (!draft.length) return `The large model ${does}.`;
  if (clock >= draftsUntil) return `The large model still ${does}; the small one has made ${countGuesses(guesses)}${guesses > draft.length ? ` in ${count(draft.length, "step")}` : ""}${header.target.borrows ? " and helps" : " and waits"}.`;
  return `The large model ${does} while the small one guesses ahead${guessed}.`;
}

function inTurn(iteration, header, clock) {
  const proposals = proposalsOf(iteration).length;
  if (clock < iteration.target.start && iteration.draft.length) return "The small model guesses, and the large one waits.";
  const alongside = header.can_overlap ? " while the small one continues" : "";
  return `The large model ${proposals ? `checks ${countGuesses(proposals)} in one forward pass` : alone(iteration)}${alongside}.`;
}

export function meanwhile(iteration, header, clock) {
  return aboutOf(header).parallel ? inParallel(iteration, header, clock) : inTurn(iteration, header, clock);
}

const LONGEST_TEXT = 24;

function checkedIn(iteration) {
  const proposals = proposalsOf(iteration);
  const starts = ["hit", "miss"].includes(iteration.verdict.outcome) ? startsOf(iteration) : [];
  const firsts = proposals.filter(({ parent }) => parent === -1).length;
  const ways = proposals.length ? branchesOf(proposals) : starts.length;
  return { total: proposals.length + Math.min(1, starts.length), ways, firsts };
}

const guessed = (text) => (endsAnswer(text) ? "The guessed end of the answer" : `The guess ${quote(text)}`);

function outcomeWords(accepted, { total, ways, firsts }, rejected) {
  const [right, noun] = [accepted.length, firsts ? "branches" : "sequences"];
  if (firsts > 1 && right < 2) return `${right ? "✓ One" : "✗ None"} of ${firsts} first guesses was right`;
  if (!firsts && ways > 1 && right < 2) return `${right ? "✓ One" : "✗ None"} of ${ways} ${noun} began right`;
  // Guesses after a wrong one are not tested.
  if (!right) return total > 1 ? `✗ First of ${total} guesses wrong` : `✗ ${guessed(rejected?.text ?? "")} was wrong`;
  if (ways > 1) return `✓ ${countGuesses(right)} right, in one of ${ways} ${noun}`;
  if (right < total) return `✓ First ${right === 1 ? "" : `${right} `}of ${total} guesses right`;
  return `✓ ${["", "The guess was", "Both guesses"][right] ?? `All ${right} guesses`} right`;
}

export function sentence(iteration) {
  const chosen = chosenBy(iteration);
  const own = chosen.slice(0, iteration.committed.length).find(({ status }) => status === "correction");
  const accepted = chosen.filter(({ status }) => status === "accepted");
  const rejected = [...iteration.checked, ...iteration.drafted].filter(({ status }) => status === "rejected");
  const checked = checkedIn(iteration);
  const wrote = (verb) => (own && endsAnswer(own.text) ? "ended the answer" : `${verb} ${own ? quote(own.text) : "nothing new"}`);
  if (iteration.mode === "alone") return `Nothing was guessed: the small model rests. The large one ${wrote("wrote")}.`;
  if (!checked.total) return `The large model ${iteration.index ? "" : "read the prompt and "}${wrote("wrote")}.`;
  const written = accepted.filter((node) => chosen.indexOf(node) < iteration.committed.length);
  const text = written.map((node) => node.text).filter((part, at) => !at || !endsAnswer(part)).join("");
  const link = written.length < accepted.length ? "; the answer ends after" : ":";
  const outcome = outcomeWords(accepted, checked, rejected[0]) + (written.length ? `${link} ${quote(text, LONGEST_TEXT)}` : "");
  if (!own) return `${outcome}.`;
  if (!rejected.length) return `${outcome}. The large model ${wrote("added")}.`;
  const isNamed = rejected.length === 1 && checked.ways === 1 && checked.total > 1;
  const instead = isNamed ? ` instead of ${quote(rejected[0].text)}` : accepted.length ? " next" : "";
  return `${outcome}. The large model ${wrote("wrote")}${instead}.`;
}
