// The one object of ours on `window`: what Gradio's events call of the scripts, by name.

export const page = (window.duoviz ??= {});
