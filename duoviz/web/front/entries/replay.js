// A run as one file: the trace and the methods stand in the page as JSON.

import { readTrace } from "../visualizer/check.js";
import { know } from "../visualizer/methods.js";
import { mount } from "../visualizer/mount.js";
import { eventsOf } from "../visualizer/state.js";

const textOf = (id) => document.getElementById(id).textContent;

// A trace's JSON; where it is packed it stands there as one JSON string, gzip in base64.
async function traceText() {
  const text = textOf("trace");
  if (!text.startsWith('"')) return text;
  const bytes = Uint8Array.from(atob(JSON.parse(text)), (sign) => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

function followTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => document.documentElement.classList.toggle("dark", dark.matches);
  dark.addEventListener("change", follow);
  follow();
}

followTheme();
know(JSON.parse(textOf("methods")));
mount(document.querySelector(".dv-root"), {
  async subscribe(callback) {
    const { trace, problem } = await readTrace(await traceText());
    const events = trace ? eventsOf(trace, document.title) : [{ type: "error", message: problem }];
    events.forEach(callback);
  },
});
