// What keys and presses do in Live's form and in what opens over the page.

import { button, el, listen } from "../visualizer/dom.js";
import { remember, remembered } from "../visualizer/remembered.js";

// Stop stands where what starts a run stood, and takes its focus; and the other way. ids: of both; change: is called
// with what the root says of itself, as it may have changed.
export function swapFocus(root, ids, isOn, change = () => {}) {
  new MutationObserver(() => {
    const [go, stop] = ids.map((id) => document.getElementById(id));
    const [from, to] = isOn(root.dataset) ? [go, stop] : [stop, go];
    if (from && document.activeElement === from) to.focus({ preventScroll: true });
    change(root.dataset);
  }).observe(root, { attributeFilter: ["data-live", "data-state", "data-story"] });
}

// A setting's name: in brackets after its label, or the label itself.
const NAMED = /(?:^|\()([a-z_]+)\)?: enter /i;

// What is wrong with a setting stands over its field, too: the settings lie over the message, which has its name.
export function tellAtFields(message, tab) {
  new MutationObserver(() => {
    tab.querySelector(".wrong-field")?.remove();
    tab.querySelector("input[aria-invalid]")?.removeAttribute("aria-invalid");
    const [, name] = (message.dataset.kind === "error" && NAMED.exec(message.textContent)) || [];
    const id = name?.toLowerCase().replaceAll("_", "-");
    const field = id && tab.querySelector(`#${id}, #compare-${id}, #first-${id}, #second-${id}`);
    (field?.closest(".row") ?? field)?.before(el("p", { class: "wrong-field" }, message.textContent));
    field?.querySelector("input")?.setAttribute("aria-invalid", "true");
  }).observe(message, { childList: true, characterData: true, subtree: true, attributeFilter: ["data-kind"] });
}

// On a phone the form gives its room to what is looked at, a run or a recording, until its prompt is pressed.
export function followRuns(root) {
  // A visualizer may stand on a page without a form.
  const tab = root.closest("#tab-live") ?? root;
  let last = "";
  const fold = ({ live, state, story }) => {
    const shown = live === "yes" ? "run" : state === "recording" && story === undefined ? state : "";
    if (shown && shown !== last) tab.dataset.folded = "";
    last = shown;
  };
  swapFocus(root, ["generate", "stop"], ({ live }) => live === "yes", fold);
  const unfold = ({ target }) => { if (target.closest("#prompt")) delete tab.dataset.folded; };
  listen(tab, { pointerdown: unfold, focusin: unfold });
  tellAtFields(root.querySelector(".dv-message"), tab);
}

const EXAMPLES = "#examples";

// Tells when the question beside a visualizer changes: by what is typed or chosen, or by an example.
export function onChange(root, tell) {
  const hear = ({ type, target }) => {
    if (!root.contains(target) && (type === "input" || target.closest(EXAMPLES))) tell();
  };
  listen(root.closest("[id^=tab-]") ?? root, { input: hear, click: hear });
}

const ALL_METHODS = "duoviz methods";

// A form has one method until somebody wants the others, and from then on all.
export function foldMethods(fields) {
  if (remembered(ALL_METHODS)) return;
  const unfold = ({ currentTarget: { parentElement: own } }) => {
    remember(ALL_METHODS, "all");
    for (const field of fields) {
      delete field.dataset.folded;
      field.querySelector(".more-methods").remove();
    }
    own.querySelector("input:checked")?.focus({ preventScroll: true });
  };
  for (const field of fields) {
    field.dataset.folded = "";
    field.append(button({ class: "more-methods" }, unfold, "More methods"));
  }
}

// A run of an empty prompt marks its field, until something is written there; what is wrong is said by the run.
export function markEmptyPrompts() {
  const mark = (pressed) => {
    const field = pressed.closest("#ask, #ask-race")?.querySelector("textarea");
    field?.setAttribute("aria-invalid", !field.value.trim());
    if (field && !field.value.trim()) field.focus();
  };
  document.addEventListener("click", ({ target }) => { if (target.closest?.("#generate, #ask-race > button:not(#stop-race)")) mark(target); });
  document.addEventListener("keydown", ({ key, target }) => { if (key === "Enter" && target.matches?.("textarea")) mark(target); });
  const unmark = (field) => field?.removeAttribute("aria-invalid");
  document.addEventListener("input", ({ target }) => { if (target.matches?.("textarea")) unmark(target); });
  document.addEventListener("click", ({ target }) => { if (target.closest?.(EXAMPLES)) unmark(document.querySelector("#prompt textarea")); });
}

// From a method's chip the run or race starts as from the prompt: Generate may not be there.
export function startFromChips() {
  document.addEventListener("keydown", ({ key, target }) => {
    const methods = key === "Enter" && target.closest?.(".methods");
    if (methods) document.getElementById(methods.closest("#ask") ? "generate" : "race").click();
  });
}

const DRAWERS = ["about", "settings", "race-settings"];
const openDrawers = () => DRAWERS.map((id) => document.getElementById(id)).filter((drawer) => drawer?.querySelector(".label-wrap.open"));
// A list of choices opens at the page's end, and Escape closes it alone.
const LIST = "ul.options, [role=listbox]";

export function closeDrawers() {
  const toggle = (drawer) => drawer.querySelector(".label-wrap").click();
  document.addEventListener("pointerdown", ({ target }) => {
    openDrawers().filter((drawer) => !drawer.contains(target) && !target.closest?.(LIST)).forEach(toggle);
  });
  const leave = () => {
    for (const drawer of openDrawers()) {
      toggle(drawer);
      drawer.querySelector(".label-wrap").focus({ preventScroll: true });
    }
  };
  document.addEventListener("click", ({ target }) => { if (target.closest?.(".close-drawer")) leave(); });
  // Before the list hears it, and is gone.
  document.addEventListener("keydown", ({ key }) => { if (key === "Escape" && !document.querySelector(LIST)) leave(); }, true);
}
