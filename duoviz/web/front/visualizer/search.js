// The first number from 0 on for which it is so, as it is for all after it; `end` where that is so for none before it.

export function firstSo(end, isSo) {
  let [low, high] = [0, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isSo(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
