// Chance that can be repeated: the same seed gives the same draws.

// Uniform numbers between 0 and 1, both excluded (mulberry32).
export function uniform(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (((mixed ^ (mixed >>> 14)) >>> 0) + 0.5) / 4294967296;
  };
}

// Exponential noise: p / noise is largest for one outcome, and for each with its probability.
export const exponentials = (count, next) => Array.from({ length: count }, () => -Math.log(next()));

export function drawIndex(weights, next) {
  let left = next() * weights.reduce((sum, weight) => sum + weight, 0);
  const found = weights.findIndex((weight) => (left -= weight) < 0);
  return found < 0 ? weights.findLastIndex((weight) => weight > 0) : found;
}

export const largest = (values) => values.reduce((best, value, index) => (value > values[best] ? index : best), 0);
