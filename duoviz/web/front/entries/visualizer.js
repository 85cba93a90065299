// The visualizer on a page. Its values are JSON strings: batches {run, seq, events} of a run, or a {view} that a link
// asks for.

import { createOpening, eventsOfLeft, GONE, leftOf, leftOfFile } from "../visualizer/opening.js";
import { aboutOf, know } from "../visualizer/methods.js";
import { leave, takeLeft } from "../visualizer/remembered.js";
import { mount } from "../visualizer/mount.js";
import { createReceiver } from "../visualizer/feed.js";
import { PAGE_KEYS } from "../visualizer/help.js";
import { foldMethods, followRuns, onChange, startFromChips } from "../share/form.js";
import { storyIn } from "../share/link.js";
import { createStory, opensItself, TOLD } from "../story/story.js";
import { createOverStage } from "../first_screen/over_stage.js";
import { imported, page } from "../page.js";

// The story and the first screen, where there is a recording that tells them; the stage waits behind them.
function overStage(root, shown, { addresses, expected, averages }, opening) {
  if (!addresses[TOLD]) return [];
  const options = {
    recordingOf: opening.recordingOf, averages,
    ownRuns: () => (shown.state.file === null && shown.run.alone ? [shown.run, shown.run.alone] : null),
    hold: () => { if (shown.state.playing) shown.show(shown.state.shown); },
    onClose: opening.uncover,
  };
  // After the story the stage stands still where the story was: what is seen first is known.
  const land = (iteration) => {
    const isTold = iteration !== null && shown.state.recorded && shown.state.header.method === TOLD;
    return isTold ? opening.at(iteration, TOLD) : opening.uncover();
  };
  const story = createStory(root, { ...options, onClose: land, prompt: () => document.querySelector("#prompt textarea") });
  return [story, createOverStage(root, { ...options, expected, tell: () => story.open(1, true) })];
}

export function start({ element, props, methods }) {
  know(methods);
  const receiver = createReceiver();
  const root = element.querySelector(".dv-root");
  const shown = mount(root, receiver, { replayParts: () => imported(props.replay), pageKeys: PAGE_KEYS });
  // The element's own id is another one each time the page is loaded.
  const key = `duoviz ${element.parentElement.closest("[id]")?.id}`;
  const left = takeLeft(key);
  const leftWith = (run) => ({
    run: leftOf(run, shown.state.shown, receiver.isOpen()), file: leftOfFile(shown.state),
    // Behind the first screen none is followed yet.
    recording: shown.state.recorded ? [first?.isOpen() ? null : shown.state.shown, shown.state.header.method] : null,
    story: story?.stop(), first: first?.isOpen(),
  });
  leave(key, () => leftWith(shown.run), () => leftWith({ ...shown.run, alone: null }), () => ({ run: {} }));
  let isRestored = Boolean(left?.run?.trace ?? left?.file);
  const showsNone = () => !receiver.isOpen() && !isRestored && (shown.state.recorded || shown.state.header === null);
  const about = { ...props.opening, isFree: showsNone, isCovered: () => story?.isOpen() || first?.isOpen() };
  const opening = createOpening(receiver, about);
  const [story, first] = overStage(root, shown, props.opening, opening);
  const uncover = () => [story, first].forEach((each) => each?.close());
  // A run of one's own stays until the next begins.
  const tellChosen = (method) => {
    if (showsNone() || receiver.isOpen() || shown.state.header === null || shown.state.file !== null) return;
    const [asked, shownNow] = [{ method }, shown.state.header].map((header) => aboutOf(header).title);
    const [isOther, wasOther] = [asked !== shownNow, root.dataset.other === "yes"];
    root.dataset.other = isOther ? "yes" : "no";
    if (!isOther && !wasOther) return;
    const more = isOther ? ` Chosen: ${asked}; press Generate to run it.` : "";
    receiver.send({ type: "status", text: `Shown: ${shownNow}.${more}` });
  };
  // Whoever asks from the first screen comes back to it, with the own prompt, unless something is done meanwhile.
  let comesBack = false;
  for (const touched of ["pointerdown", "keydown"]) root.addEventListener(touched, () => { comesBack = false; });
  page.opening = { of: (method) => Promise.all([opening.of(method), first?.of(method), tellChosen(method)]) };
  followRuns(root);
  onChange(root, () => receiver.send({ type: "changed" }));
  foldMethods(document.querySelectorAll("#ask .methods"));
  startFromChips();
  Promise.all([left?.run, left?.file].map(eventsOfLeft)).then(async ([run, file]) => {
    isRestored = run !== null || file !== null;
    if (run && !receiver.isOpen()) run.forEach(receiver.send);
    if (file) shown.showFile(file);
    // What stood over the stage before, or what the link or a first visit opens.
    if (left?.recording) first?.of(left.recording[1]);
    if (left?.story) story?.open(left.story);
    else if (left?.first) await first?.open();
    else if ((left || !story?.openLinked()) && showsNone() && opensItself()) await first?.open({ isWanted: showsNone });
    if (isRestored) return;
    await (left?.recording ? opening.at(...left.recording) : opening.begin());
    if (left?.run) receiver.send({ type: "status", text: GONE });
  });
  return (text) => {
    const value = JSON.parse(text);
    if (!value.view) {
      const [before, run] = [element.dataset.run, receiver.take(value)];
      element.dataset.run = run;
      if (run !== before) {
        root.dataset.other = "no";
        comesBack = Boolean(first?.isOpen());
        uncover();
      } else if (comesBack && shown.run.alone) {
        comesBack = false;
        first.open({ own: [shown.run, shown.run.alone] });
      }
      return;
    }
    if (!value.view.isLeft && storyIn(location.hash).stop === null) uncover();
    receiver.holdNext(value.view.iteration);
    opening.setPrompt(value.view.prompt);
    if (value.view.recording !== null) opening.at(value.view.recording, value.view.method);
  };
}
