// What opens over the page closes where something else is pressed, and with Escape.

const DRAWERS = ["about", "settings", "race-settings"];
const openDrawers = () => DRAWERS.map((id) => document.getElementById(id)).filter((drawer) => drawer?.querySelector(".label-wrap.open"));
// A list of choices opens at the page's end, and Escape closes it alone.
const LIST = "ul.options, [role=listbox]";
const isInside = (drawer, target) => drawer.contains(target) || target.closest?.(LIST);

export function closeDrawers() {
  const toggle = (drawer) => drawer.querySelector(".label-wrap").click();
  document.addEventListener("pointerdown", ({ target }) => {
    openDrawers().filter((drawer) => !isInside(drawer, target)).forEach(toggle);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || document.querySelector(LIST)) return;
    for (const drawer of openDrawers()) {
      toggle(drawer);
      drawer.querySelector(".label-wrap").focus();
    }
  // Before the list hears it, and is gone.
  }, true);
}
