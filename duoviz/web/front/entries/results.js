// Results of the Lab on a page. Its values are {overview, parts, opened}, as JSON strings.

import { mountResults } from "../results_view/mount_results.js";
import { leave, takeLeft } from "../visualizer/remembered.js";
import { page } from "../page.js";

const KEY = "duoviz results";

// The server gives a file's whole address, as it sees itself: behind a proxy it may see neither TLS nor the port.
addEventListener("click", ({ target }) => {
  const found = /gradio_api\/file=.*/.exec(target.href);
  if (found) [target.href] = found;
}, { capture: true });

// What a proxy before the page says of too large a file is a page of its own, which Gradio would show as it is.
const TOO_LARGE = "This file is larger than the proxy before this page accepts. Its owner can raise that (nginx: client_max_body_size).";
const { fetch } = window;
window.fetch = async (...asked) => {
  const answer = await fetch(...asked);
  return answer.status === 413 ? new Response(TOO_LARGE, { status: 413 }) : answer;
};

export function start({ element, trigger }) {
  let part = "";
  const chosen = takeLeft(KEY) ?? {};
  leave(KEY, () => chosen);
  const open = (name) => {
    part = name;
    trigger("opened");
  };
  const show = mountResults(element.querySelector(".ll-root"), open, chosen);
  page.openPart = () => part;
  // What was opened stands below the row, which may be at the window's end.
  page.showPart = () => part && document.getElementById("lab-part")?.scrollIntoView({ block: "start" });
  return (text) => {
    const value = JSON.parse(text);
    part = value.opened ?? part;
    show({ ...value, opened: part });
  };
}
