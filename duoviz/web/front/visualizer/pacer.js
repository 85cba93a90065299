// Long work in slices, so that the page draws and listens meanwhile.

const SLICE_MS = 8;

// Not a timer, which browsers hold back.
function nextTask() {
  return new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { port1.close(); done(); };
    port2.postMessage(null);
  });
}

// A function to await between two small pieces of work: at the end of a slice, the rest waits its turn.
export function createPacer() {
  let end = performance.now() + SLICE_MS;
  return async () => {
    if (performance.now() < end) return;
    await nextTask();
    end = performance.now() + SLICE_MS;
  };
}
