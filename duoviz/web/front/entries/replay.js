// A run as one file: the trace and the methods stand in the page as JSON.

import { readTrace } from "../visualizer/check.js";
import { know } from "../visualizer/methods.js";
import { mount } from "../visualizer/mount.js";
import { eventsOf } from "../visualizer/state.js";

const textOf = (id) => document.getElementById(id).textContent;

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
    const { trace, problem } = await readTrace(textOf("trace"));
    const events = trace ? eventsOf(trace, document.title) : [{ type: "error", message: problem }];
    events.forEach(callback);
  },
});
