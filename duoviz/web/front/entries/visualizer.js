// The visualizer on a page. Its values are JSON strings: batches {run, seq, events} of a run, or a {view} that a link
// asks for.

import { keepRun, takeKeptRun, createOpening } from "../visualizer/opening.js";
import { know } from "../visualizer/methods.js";
import { mount } from "../visualizer/mount.js";
import { createReceiver } from "../visualizer/feed.js";
import { PAGE_KEYS } from "../visualizer/help.js";
import { passFocus, startFromChips } from "../share/form.js";
import { storyIn } from "../share/link.js";
import { createStory, NO_STORY, TOLD } from "../story/story.js";
import { page } from "../page.js";

// The story, where there is a recording that tells it; the stage waits behind it.
function storyOver(root, shown, { addresses }, opening) {
  if (!addresses[TOLD]) return NO_STORY;
  return createStory(root, {
    recordingOf: opening.recordingOf,
    hold: () => { if (shown.state.playing) shown.show(shown.state.shown); },
    onClose: opening.uncover,
    prompt: () => document.querySelector("#prompt textarea"),
  });
}

export function start({ element, props, server, methods }) {
  know(methods);
  const receiver = createReceiver();
  const root = element.querySelector(".dv-root");
  const shown = mount(root, receiver, { replayParts: () => server.one_file(), pageKeys: PAGE_KEYS });
  let isRestored = false;
  const showsNone = () => !receiver.isOpen() && !isRestored && (shown.state.recorded || shown.state.header === null);
  const about = { ...props.opening, isFree: showsNone, isCovered: () => story.isOpen() };
  const opening = createOpening(receiver, props.opening.addresses, about);
  const story = storyOver(root, shown, props.opening, opening);
  page.opening = opening;
  passFocus(root);
  startFromChips();
  // The element's own id is another one each time the page is loaded.
  const key = `duoviz ${element.parentElement.closest("[id]")?.id}`;
  addEventListener("pagehide", () => {
    if (receiver.isOpen()) keepRun(key, shown.run);
  });
  takeKeptRun(key).then((events) => {
    isRestored = events !== null;
    if (isRestored && !receiver.isOpen()) events.forEach(receiver.send);
    story.begin(showsNone());
    if (!isRestored) opening.begin();
  });
  return (text) => {
    const value = JSON.parse(text);
    if (!value.view) {
      const [before, run] = [element.dataset.run, receiver.take(value)];
      element.dataset.run = run;
      if (run !== before) story.close();
      return;
    }
    if (storyIn(location.hash).stop === null) story.close();
    receiver.holdNext(value.view.iteration);
    opening.setPrompt(value.view.prompt);
    if (value.view.recording !== null) opening.at(value.view.recording, value.view.method);
  };
}
