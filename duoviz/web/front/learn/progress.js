// How far the reader has come, kept by this browser: pages seen, and questions answered rightly.

import { remember, remembered } from "../visualizer/remembered.js";

const PROGRESS_KEY = "duoviz lessons";

function keptProgress() {
  try {
    const { seen, right } = JSON.parse(remembered(PROGRESS_KEY));
    return { seen: new Set(seen), right: new Set(right) };
  } catch {
    // Nothing yet.
    return { seen: new Set(), right: new Set() };
  }
}

// told: called whenever the reader has come farther.
export function createProgress(told) {
  const { seen, right } = keptProgress();
  const keyOf = (lesson, page) => `${lesson.name}/${page + 1}`;
  const add = (set, lesson, page) => {
    set.add(keyOf(lesson, page));
    remember(PROGRESS_KEY, JSON.stringify({ seen: [...seen], right: [...right] }));
    told();
  };
  const seenOf = (lesson) => lesson.pages.filter((page, index) => seen.has(keyOf(lesson, index))).length;
  // Pages not yet seen, and questions not yet answered rightly.
  const isOpen = (lesson) => ({ question }, index) => (
    !seen.has(keyOf(lesson, index)) || (question && !right.has(keyOf(lesson, index)))
  );
  return {
    see: (lesson, page) => add(seen, lesson, page),
    answer: (lesson, page) => add(right, lesson, page),
    share: (lesson) => seenOf(lesson) / lesson.pages.length,
    isDone: (lesson) => !lesson.pages.some(isOpen(lesson)),
    // The first page with something left to do, or the first of all.
    next: (lesson) => Math.max(0, lesson.pages.findIndex(isOpen(lesson))),
    words(lesson) {
      const [count, all] = [seenOf(lesson), lesson.pages.length];
      if (!count) return "not started";
      if (count < all) return `${count} of ${all} pages`;
      return lesson.pages.some(isOpen(lesson)) ? "question open" : "done";
    },
  };
}
