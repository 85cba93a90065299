// The one object of ours on `window`: what Gradio's events call of the scripts, by name.

export const page = (window.duoviz ??= {});

// What a module at this address of the page's exports.
export const imported = async (address) => (await import(new URL(address, document.baseURI))).default;
