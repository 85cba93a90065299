// The course on a page, and its game.

import { know } from "../visualizer/methods.js";
import { fetchRecording } from "../visualizer/opening.js";
import { mountCourse } from "../learn/course.js";
import { mountGame } from "../game/game.js";
import { leave, takeLeft } from "../visualizer/remembered.js";
import { imported, page } from "../page.js";

const KEY = "duoviz course";

export function start({ element, props, trigger, methods }) {
  know(methods);
  const root = element.querySelector(".dl-root");
  const [lessons, games] = props.recorded;
  const left = takeLeft(KEY);
  let [place, game] = [left?.place ?? null, null];
  leave(KEY, () => ({ place, game: game?.left() }));
  page.placeInCourse = () => [place.lesson, place.page];
  imported(props.course).then((course) => {
    const moved = (to) => { place = to; trigger("moved"); };
    const fetchTrace = (method) => fetchRecording(lessons[method]);
    mountCourse(root, course, { fetchTrace, play: () => game.open(), moved, begin: place });
    game = mountGame(root, () => fetchRecording(games.duotree), left);
  });
}
