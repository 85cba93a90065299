// Results of the Lab on a page. Its values are {overview, parts, opened}, as JSON strings.

import { mountResults } from "../results_view/mount_results.js";
import { page } from "../page.js";

// The server gives a file's whole address, as it sees itself: behind a proxy it may see neither TLS nor the port.
addEventListener("click", ({ target }) => {
  const found = /gradio_api\/file=.*/.exec(target.href);
  if (found) [target.href] = found;
}, { capture: true });

export function start({ element, trigger }) {
  let part = "";
  const show = mountResults(element.querySelector(".ll-root"), (name) => {
    part = name;
    trigger("opened");
  });
  page.openPart = () => part;
  // What was opened stands below the row, which may be at the window's end.
  page.showPart = () => part && element.querySelector(".ll-thumbnails")?.scrollIntoView({ block: "start" });
  return (text) => {
    const value = JSON.parse(text);
    part = value.opened ?? part;
    show({ ...value, opened: part });
  };
}
