// The bar that makes and opens links. Its values are what it says, as JSON strings.

import { createBar } from "../share/bar.js";
import { limitKeys } from "../share/limits.js";
import { copyLink, LEFT, leftOf, openLink, selectedTab, startRun } from "../share/page.js";
import { leave } from "../visualizer/remembered.js";
import { page } from "../page.js";

export function start({ element, props, trigger }) {
  const { site } = props;
  limitKeys(() => selectedTab(site));
  let values = null;
  const hear = (...all) => { values = all; };
  leave(LEFT, () => leftOf(values, site));
  page.share = { copyLink: (...now) => copyLink(now, site), openLink: () => openLink(site), startRun, hear };
  const say = createBar(element.querySelector(".dv-share"), trigger);
  return (text) => say(JSON.parse(text));
}
