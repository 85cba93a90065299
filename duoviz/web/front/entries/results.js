// Results of the Lab on a page. Its values are {overview, parts, opened}, as JSON strings.

import { mountResults } from "../results_view/mount_results.js";
import { page } from "../page.js";

export function start({ element, trigger }) {
  let part = "";
  const show = mountResults(element.querySelector(".ll-root"), (name) => {
    part = name;
    trigger("opened");
  });
  // Which part is open goes to the page's field.
  page.openPart = () => part;
  return (text) => {
    const value = JSON.parse(text);
    part = value.opened ?? part;
    show({ ...value, opened: part });
  };
}
