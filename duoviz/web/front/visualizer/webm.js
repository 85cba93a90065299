// A recorded WebM with its length in it: browsers write a recording's head before they know how long it will be.

const [SEGMENT_ID, INFO_ID, LENGTH_ID] = [0x18538067, 0x1549a966, 0x4489];
// The size of what was still being written.
const OPEN_END = Infinity;

const numberIn = (bytes, at, length) => bytes.slice(at, at + length).reduce((number, byte) => 256 * number + byte, 0);

// The element {id, start, from, end} that begins here; its content goes from `from` to `end`.
function elementAt(bytes, start) {
  const idLength = Math.clz32(bytes[start]) - 23;
  const sizeLength = Math.clz32(bytes[start + idLength]) - 23;
  const from = start + idLength + sizeLength;
  // The first byte's first 1 only tells how many bytes the size has; nothing but ones is an open end.
  const first = bytes[start + idLength] - 2 ** (8 - sizeLength);
  const size = numberIn([first, ...bytes.slice(start + idLength + 1, from)], 0, sizeLength);
  const end = size === 2 ** (7 * sizeLength) - 1 ? OPEN_END : from + size;
  return { id: numberIn(bytes, start, idLength), start, from, end };
}

function lengthElement(milliseconds) {
  const view = new DataView(new ArrayBuffer(11));
  view.setUint16(0, LENGTH_ID);
  view.setUint8(2, 0x88);
  view.setFloat64(3, milliseconds);
  return new Uint8Array(view.buffer);
}

// The same film, and where its head is as browsers write it, with its length.
export function withLength(bytes, seconds) {
  const segment = elementAt(bytes, elementAt(bytes, 0).end);
  const info = segment.id === SEGMENT_ID && segment.end === OPEN_END ? elementAt(bytes, segment.from) : {};
  if (info.id !== INFO_ID) return [bytes];
  const kept = [];
  for (let child = elementAt(bytes, info.from); child.start < info.end; child = elementAt(bytes, child.end)) {
    if (child.id !== LENGTH_ID) kept.push(bytes.slice(child.start, child.end));
  }
  const content = [...kept, lengthElement(1000 * seconds)];
  const size = new DataView(new ArrayBuffer(12));
  size.setUint32(0, INFO_ID);
  size.setBigUint64(4, 2n ** 56n + BigInt(content.reduce((sum, { length }) => sum + length, 0)));
  return [bytes.slice(0, info.start), size.buffer, ...content, bytes.slice(info.end)];
}
