// Draws the report's figures, in the colours of the reader's light or dark page, and saves them as pictures.

const { drawings, config } = JSON.parse(document.getElementById("data").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
const letters = () => (dark.matches ? "#c3cad6" : "#4b5563");

for (const [name, drawing] of Object.entries(drawings)) {
  drawing.layout.font = { color: letters() };
  Plotly.newPlot(`drawing-${name}`, drawing.data, drawing.layout, config);
}
dark.addEventListener("change", () => {
  for (const name of Object.keys(drawings)) Plotly.relayout(`drawing-${name}`, { "font.color": letters() });
});
for (const button of document.querySelectorAll("[data-save]")) {
  const { save, format } = button.dataset;
  const place = document.getElementById(`drawing-${save}`);
  button.addEventListener("click", () => {
    const { width, height } = place.getBoundingClientRect();
    Plotly.downloadImage(place, { format, width, height, scale: format === "png" ? 2 : 1, filename: save });
  });
}
