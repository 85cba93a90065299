// The course on a page, and its game.

import { know } from "../visualizer/methods.js";
import { fetchRecording } from "../visualizer/opening.js";
import { mountCourse } from "../learn/course.js";
import { mountGame } from "../game/game.js";
import { page } from "../page.js";

export function start({ element, props, trigger, methods }) {
  know(methods);
  const root = element.querySelector(".dl-root");
  const fetchTrace = (method) => fetchRecording(props.traces[method]);
  let place = null;
  page.placeInCourse = () => [place.lesson, place.page];
  import(new URL(props.course, document.baseURI)).then(({ default: course }) => {
    const moved = (to) => { place = to; trigger("moved"); };
    mountCourse(root, course, { fetchTrace, play: () => game.open(), moved });
    const game = mountGame(root, fetchTrace);
  });
}
