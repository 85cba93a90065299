// The figures of lessons by their names: each gives its node and, where a question may ask for it, its reading.

import { budgetFigure } from "./budget.js";
import { costsFigure } from "./costs.js";
import { coupledFigure } from "./coupled.js";
import { ruleFigure } from "./rule.js";
import { speedsFigure } from "./speeds.js";
import { thresholdFigure } from "./threshold.js";

export const FIGURES = {
  "target costs": costsFigure, costs: costsFigure, budget: budgetFigure, threshold: thresholdFigure, "coupled draws": coupledFigure,
  "classical rule": ruleFigure, speeds: speedsFigure,
};
