"""What the runs of a comparison come to: a table, the agreement of their texts, the reasons, and disturbances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from statistics import mean, median_low
from typing import TYPE_CHECKING

from duoviz.decoding.costs import BUSY, Estimate
from duoviz.runs import Lane
from duoviz.trace.agreement import CUT, agreement, first_difference, sentence, worst, written
from duoviz.trace.explanation import explain

if TYPE_CHECKING:
    from duoviz.decoding.engine import Engine

# By which factor the rounds of one method differ at most on a machine that does nothing else.
LARGEST_SPREAD = 5 / 4
# The table's means, of which metric each.
MEANS = {"ttft": "ttft", "tau": "tau", "acceptance": "acceptance", "tokens": "new_tokens", "seconds": "wall"}
WORDS = "This machine was busy with other work: {}."


def baseline(rows: Sequence[dict], cores: str) -> list[dict]:
    """The rows of vanilla, at its best here (`auto`) or on the target's cores."""
    return [row for row in rows if row["settings"]["method"] == "vanilla" and row["cores"] == cores]


def by_lane(rows: Iterable[dict]) -> dict[tuple[str, str], list[dict]]:
    """The rows of each lane on its cores."""
    lanes: dict[tuple[str, str], list[dict]] = {}
    for row in rows:
        lanes.setdefault((row["method"], row["cores"]), []).append(row)
    return lanes


def table(rows: Sequence[dict]) -> list[dict]:
    """Each method's means over its rounds, with the lowest and the highest tokens a second.

    tps: the tokens of all rounds over their seconds. phi, phi_same_cores: φ over vanilla at its best here and on the
    target's cores; phi_lowest, phi_highest: that of single rounds. same_text: in how many rounds it wrote the tokens of
    that vanilla.
    """
    lines, everything, same_cores = [], baseline(rows, "auto"), baseline(rows, "target")
    for (method, cores), mine in by_lane(rows).items():
        speeds = [row["metrics"]["tps"] for row in wrote(mine)]
        pairs = finished(mine, everything)
        single = [each for pair in pairs if (each := phi([pair]))]
        line = {"method": method, "cores": cores, "runs": len(mine), "tps": speed(mine)}
        for name, of in MEANS.items():
            known = [row["metrics"][of] for row in mine if row["metrics"][of] is not None]
            line[name] = mean(known) if known else None
        line |= {"tps_lowest": min(speeds, default=None), "tps_highest": max(speeds, default=None)}
        line |= {"phi": phi(pairs), "phi_lowest": min(single, default=None), "phi_highest": max(single, default=None)}
        same = sum(row["token_ids"] == base["token_ids"] for row, base in rounds(mine, everything))
        lines.append(line | {"phi_same_cores": phi(finished(mine, same_cores)), "same_text": same})
    return lines


def wrote(rows: Iterable[dict]) -> list[dict]:
    """The rows that wrote anything, and so have a speed."""
    return [row for row in rows if row["metrics"]["tps"] is not None]


def speed(rows: Iterable[dict]) -> float | None:
    """All tokens over all seconds of the rows that wrote any; None where none did."""
    metrics = [row["metrics"] for row in wrote(rows)]
    return sum(each["new_tokens"] for each in metrics) / sum(each["wall"] for each in metrics) if metrics else None


def rounds(rows: Sequence[dict], others: Sequence[dict]) -> list[tuple[dict, dict]]:
    """The rows that have another of the same prompt and repeat, with it."""
    partners = {(row["prompt"], row["repeat"]): row for row in reversed(others)}
    return [(row, partners[key]) for row in rows if (key := (row["prompt"], row["repeat"])) in partners]


def finished(rows: Sequence[dict], others: Sequence[dict]) -> list[tuple[dict, dict]]:
    """The `rounds` of which neither run was cut."""
    return [pair for pair in rounds(rows, others) if not any(map(was_cut, pair))]


def phi(pairs: Sequence[tuple[dict, dict]]) -> float | None:
    """The ratio of both speeds over these rounds, as the Lab has it for a task."""
    mine, theirs = (speed(pair[side] for pair in pairs) for side in (0, 1))
    return mine / theirs if mine and theirs else None


def against_vanilla(engine: Engine, rows: Sequence[dict]) -> list[dict]:
    """The agreement of each row with vanilla at its best in its round, under the row's method, cores and round."""
    others = [row for row in rows if (row["settings"]["method"], row["cores"]) != ("vanilla", "auto")]
    return [
        {name: row[name] for name in ("method", "cores", "prompt", "repeat")} | agreed(engine, base, row)
        for row, base in rounds(others, baseline(rows, "auto"))
    ]


def agreed(engine: Engine, first: dict, second: dict) -> dict:
    """Whether two rows of a round wrote the same text (see `trace.agreement`); δ is measured where they differ."""
    texts = written(first["trace"]), written(second["trace"])
    delta = 0.0
    if first_difference(*texts) is not None:
        ids = engine.pair.encode(first["prompt"], raw=first["settings"]["raw"])
        delta = engine.rounding_delta(ids + first["token_ids"])
    return agreement(*texts, delta)


def outcome(engine: Engine, lanes: Sequence[Lane], rows: Sequence[dict], errors: dict[str, str]) -> dict:
    """What a race on one prompt came to, as JSON: lanes, baselines of φ, verdict, and what follows or disturbed it.

    lanes: the two sides first. errors: of the lanes that could not run.
    """
    mine = [[row for row in rows if row["method"] == lane.name] for lane in lanes[:2]]
    agreements = [agreed(engine, *pair) for pair in rounds(*mine)]
    # Of a run that was cut the prompt is a larger part: it does not count where its lane has a whole one.
    known = {row["method"] for row in rows if not was_cut(row)}
    counted = [row for row in rows if not was_cut(row) or row["method"] not in known]
    return summed_up(lanes, counted, errors, agreements, disturbance(counted))


def phis(result: dict) -> dict[str, float]:
    """The speed-ups φ over vanilla of an undisturbed outcome's lanes that are not vanilla themselves and have one."""
    known = [
        lane for lane in result["lanes"] if not result["disturbance"] and lane["figures"] and lane["figures"]["phi"]
    ]
    others = [lane for lane in known if lane["summary"]["settings"]["method"] != "vanilla"]
    return {lane["name"]: lane["figures"]["phi"] for lane in others}


def with_smaller(result: dict, pair: str, smaller: Mapping[str, Mapping[str, float]]) -> dict:
    """An outcome whose headline also says what φ was with a smaller target; see `workers.tasks.Comparison`."""
    found = {pair: phis(result), **smaller}
    lines = [
        f"{name}: φ " + ", ".join(f"{phi[name]:.2f} with {each}" for each, phi in found.items() if name in phi) + "."
        for name in phis(result)
    ]
    return result | {"headline": " ".join(filter(None, [result["headline"], *lines]))} if smaller else result


def was_cut(row: dict) -> bool:
    """Whether something ended the run before its text was whole."""
    return row["stopped"] in CUT


def summed_up(
    lanes: Sequence[Lane], rows: Sequence[dict], errors: dict[str, str], agreements: list[dict], disturbed: str | None
) -> dict:
    """The outcome of a race whose rounds were found to agree so, and to be disturbed or not.

    Nothing is concluded from a side that was cut.
    """
    mine = [[row for row in rows if row["method"] == lane.name] for lane in lanes]
    lines = {line["method"]: line for line in table(rows)}
    verdict = worst(agreements) if agreements else None
    sides = [row for row in map(median_row, mine[:2]) if row]
    comparable = len(sides) == 2 and not disturbed and not any(was_cut(row) for row in sides)
    said = [capital(f"{row['method']}: {row['message']}") for row in sides if "message" in row]
    sides_and_traces = [lane.name for lane in lanes[:2]], [row["trace"] for row in sides]
    return {
        "lanes": [
            {"name": lane.name, "error": errors.get(lane.name), "figures": lines.get(lane.name)}
            | run_summary(median_row(runs))
            for lane, runs in zip(lanes, mine, strict=True)
        ],
        "baselines": {"all": baseline_of(rows, lines, "auto"), "target": baseline_of(rows, lines, "target")},
        "verdict": verdict and verdict | {"sentence": sentence(verdict)},
        "disturbance": disturbed,
        "headline": capital(headline([lines[lane.name] for lane in lanes[:2]], sides)) if comparable else "",
        "sentences": [*map(capital, explain(*sides_and_traces))] if comparable else [],
        "warnings": said if comparable else [],
    }


def capital(sentence: str) -> str:
    """It may begin with a lane's name, "the large model alone"."""
    return sentence[0].upper() + sentence[1:]


def headline(sides: Sequence[dict], replayed: Sequence[dict]) -> str:
    """Which of two lines of the `table` was faster, in one sentence; replayed: the row that stands for each.

    As in the Lab, only what is beyond noise is a winner: every round of the one was faster than all of the other. Of
    one round each, nothing is concluded.
    """
    slow, fast = sorted(sides, key=itemgetter("tps"))
    one_round = min(side["runs"] for side in sides) == 1
    of_rounds, times = "" if one_round else " over all rounds", f"{fast['tps'] / slow['tps']:.2f}"
    tps = {row["method"]: row["metrics"]["tps"] for row in replayed}
    if not one_round and (seen := f"{tps[fast['method']] / tps[slow['method']]:.2f}") != times:
        of_rounds += f"; {seen} times in those replayed"
    speeds = f"({fast['tps']:.1f} against {slow['tps']:.1f} tokens/s{of_rounds})"
    names, times = f"{fast['method']} and {slow['method']}", f"{times} times as fast as"
    if one_round:
        return (
            f"In the runs shown, {fast['method']} was {times} {slow['method']} {speeds}. "
            "One run is too few to say more."
        )
    if fast["tps_lowest"] <= slow["tps_highest"]:
        return f"No difference beyond noise between {names} {speeds}."
    return f"{fast['method']} was {times} {slow['method']} {speeds}."


def reasons(rows: Sequence[dict]) -> dict[str, list[str]]:
    """For each method, on one prompt, why its speed is not that of vanilla at its best here."""
    base = median_row(baseline(rows, "auto"))
    methods = dict.fromkeys(row["method"] for row in rows if row["settings"]["method"] != "vanilla")
    return {
        method: explain(("vanilla", method), (base["trace"], middle_row["trace"]))
        for method in methods
        if base and (middle_row := median_row([row for row in rows if row["method"] == method]))
    }


def median_row(rows: Sequence[dict]) -> dict | None:
    """The row that stands for its lane: the one of median speed, of an even number the slower one."""
    if not (known := wrote(rows)):
        return None
    speed = median_low(row["metrics"]["tps"] for row in known)
    return next(row for row in known if row["metrics"]["tps"] == speed)


def run_summary(row: dict | None) -> dict:
    """Which repeat stands for a lane, where it ran, and its summary; nothing where it wrote nothing."""
    if row is None:
        return {"repeat": None, "device": None, "summary": None}
    summary = {name: row[name] for name in ("text", "token_ids", "stopped", "settings", "metrics")}
    return {"repeat": row["repeat"], "device": row["trace"]["header"]["target"]["device"], "summary": summary}


def baseline_of(rows: Sequence[dict], lines: dict[str, dict], cores: str) -> dict | None:
    """A baseline of φ: which lane it is, where it ran and its tokens a second; None where it did not run."""
    if not (row := median_row(baseline(rows, cores))):
        return None
    device = row["trace"]["header"]["target"]["device"]
    return {"lane": row["method"], "device": device, "tps": lines[row["method"]]["tps"]}


def busy_words(target: Estimate) -> str | None:
    """The sentence for a visitor where forwards took far longer than usual by the end of a run; None where not."""
    longer = f"the large model's passes took {target.slowdown:.1f} times as long as at their fastest here"
    return WORDS.format(longer) if target.slowdown > BUSY else None


def disturbance(rows: Sequence[dict]) -> str | None:
    """Why the rows of a comparison (see `runner.row`) allow no conclusion, in words; None where they do."""
    if not (signs := [sign for mine in by_lane(wrote(rows)).values() if (sign := unsteady(mine) or slowed(mine))]):
        return None
    return (
        f"{WORDS.format('; '.join(signs))} Such times allow no conclusion about the methods, and φ is rough. "
        "Try again when the machine is idle."
    )


def slowed(rows: Sequence[dict]) -> str | None:
    """How many times longer than usual one method's forwards took, where most of its runs say so (see `busy_words`)."""
    start, end = WORDS.split("{}")
    said = [row["trace"]["end"].get("message", "") for row in rows]
    said = [text.removeprefix(start).removesuffix(end) for text in said if text.startswith(start)]
    return f"{said[0]}, with {rows[0]['method']}" if len(said) * 2 > len(rows) else None


def unsteady(rows: Sequence[dict]) -> str | None:
    """How far one method's rounds are apart, where that is too far; of several prompts, on the median one."""
    by_prompt: dict[str, list[float]] = {}
    for row in rows:
        by_prompt.setdefault(row["prompt"], []).append(row["metrics"]["tps"])
    # Of an even number the steadier one of the two in the middle.
    spreads = sorted(by_prompt.values(), key=lambda speeds: max(speeds) / min(speeds))
    speeds = spreads[(len(spreads) - 1) // 2]
    if max(speeds) <= LARGEST_SPREAD * min(speeds):
        return None
    return (
        f"{rows[0]['method']} wrote {min(speeds):.1f} tokens/s in one round and {max(speeds):.1f} in another, "
        f"more than {LARGEST_SPREAD:.2f} times as many"
    )
