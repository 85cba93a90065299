"""How fast the machine was, and whether two things that are shown were measured alike."""

from duoviz.lab import machine
from duoviz.lab.plan import DUO, SPS, VANILLA
from duoviz.lab.tables import compared, environments
from tests.lab.made_results import ENVIRONMENT, results, row


def of_passes(*seconds):
    """Rows with an answer of vanilla's for each; passes of several tokens, and another method's, do not count."""
    rows = [row(VANILLA, question, target=[1.0, each, each], rows=[30, 1, 1]) for question, each in enumerate(seconds)]
    return [*rows, row(SPS, target=[9.0], rows=[1])]


def test_the_speed_is_the_median_of_vanillas_passes_of_one_token_beside_the_recordings(monkeypatch):
    monkeypatch.setattr(machine, "recorded_speed", {"small": 0.020}.get)
    said = machine.about_speed(of_passes(0.019, 0.020, 0.021, 0.025, 0.015), "small")
    assert said == " Vanilla's forward pass of one token took 20.0 ms (half of the answers: 19.0 to 21.0 ms)."
    assert machine.about_speed(of_passes(0.021), "small").endswith("took 21.0 ms.")
    for other in (0.030, 0.010):
        assert machine.about_speed(of_passes(other), "small").endswith(
            "In the recorded runs of the other tabs it took 20.0 ms: compare speed-ups with them, not tokens/s."
        )
    assert machine.about_speed(of_passes(0.030), "large").endswith("took 30.0 ms.")
    assert machine.about_speed(of_passes(), "small") == "" and machine.pass_in_words([]) == "not measured"


def test_a_draft_step_is_told_alone_and_beside_the_target():
    # The first reads the prompt, and one of two tokens is no step of one.
    measured = row(DUO, draft=[0.9, 0.006, 0.009, 0.7], draft_steps=[1, 2, 3, 1], draft_rows=[30, 2, 3, 2])
    costs = ENVIRONMENT["costs"] | {"in turn": {"draft": [[0.001]]}}
    assert machine.about_steps([measured], {"costs": costs}) == (
        " A draft step took 1.00 ms where both models take turns on all cores, 2.00 ms on the draft's own, and 3.00 ms "
        "there beside the target."
    )
    assert machine.about_steps([], ENVIRONMENT) == ""


def test_the_environment_is_in_words_with_the_cores_that_are_lent():
    environment = ENVIRONMENT | {"devices": {"draft in DuoDecoding": "CPU core 0"}}
    for cpu, own, lent in ((True, [1], True), (True, [0], False), (False, [1], False)):
        held = environment | {"cpu": cpu, "cores": {"target": own, "draft": [0]}}
        told = machine.part_in_words(held, "devices")
        assert told.startswith("draft in DuoDecoding: CPU core 0") and ("lent to the target" in told) == lent
    told = dict(environments([results()]).lines)
    assert (told["Kind of run"], told["Questions from"]) == (["full"], ["duoviz itself, of the paper's seven kinds"])
    for tasks, words in ((["qa", "own"], "Question answering, own"), (3, "3")):
        assert machine.part_in_words({"tasks": tasks}, "tasks") == words


def test_results_side_by_side_say_how_fast_each_machine_was():
    first, second, third = (results(*of_passes(each)) for each in (0.020, 0.030, 0.021))
    second.name = "second"
    assert compared([first, second]).note.endswith("made, 20.0 ms; second, 30.0 ms. So compare φ, and not tokens/s.")
    assert compared([first, third]).note.endswith("made, 20.0 ms; made, 21.0 ms.")
    assert dict(environments([first, second]).lines)["Vanilla's forward pass of one token"] == ["20.0 ms", "30.0 ms"]
