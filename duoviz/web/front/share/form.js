// What keys do in Live's form, whose parts may be laid out after the visualizer.

// Stop stands where Generate stood, and takes its focus; and the other way.
export function passFocus(root) {
  const pass = () => {
    const [generate, stop] = ["generate", "stop"].map((id) => document.getElementById(id));
    const [from, to] = root.dataset.live === "yes" ? [generate, stop] : [stop, generate];
    if (from && document.activeElement === from) to.focus({ preventScroll: true });
  };
  new MutationObserver(pass).observe(root, { attributeFilter: ["data-live"] });
}

// From a method's chip the run starts as from the prompt: Generate may not be there.
export function startFromChips() {
  document.addEventListener("keydown", ({ key, target }) => {
    if (key === "Enter" && target.closest?.("#method")) document.getElementById("generate").click();
  });
}
