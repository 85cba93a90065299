"""What holds for every method: its record, that its text is vanilla's, where a text ends, what an iteration says."""

import json
from dataclasses import replace
from functools import partial
from itertools import product

import pytest
import torch

from duoviz.decoding import METHODS
from duoviz.decoding.loop import depths
from duoviz.decoding.method import DESCRIBED
from duoviz.decoding.settings import Settings
from tests.callers_draft import CallersDraft
from tests.decoding.counting import counting_engine
from tests.decoding.proposals import check_first, check_iteration, proposed, tokens
from tests.decoding.stores import build
from tests.tiny import VOCABULARY, reference_model, run, tiny_engine

PROMPTS = [[5, 9, 3], [2] * 12, [*range(2, 14)] * 2]
SAMPLED = {"temperature": 0.8, "top_p": 0.9, "seed": 5}
THOROUGH = partial(pytest.param, marks=pytest.mark.thorough)
IN_TURN = [name for name, method in METHODS.items() if method.proposers and not method.parallel]


def columns(names, *rows):
    return [dict(zip(names.split(), row, strict=True)) for row in rows]


VARIANTS = {
    "vanilla": [{}],
    "speculative": [{"budget": budget} for budget in ("auto", 1, 2, 5, 13)],
    "prompt_lookup": [
        {"lookup_occurrence": occurrence, "lookup_ngram": ngram, "lookup_tokens": most}
        for occurrence, (ngram, most) in product(("first", "latest"), [(3, 10), (1, 3), (16, 64)])
    ],
    "rest": columns("rest_longest rest_shortest rest_tokens", (16, 2, 64), (1, 1, 5), (3, 1, 1), (4, 3, 30)),
    "lookahead": columns(
        "lookahead_window lookahead_ngram lookahead_guesses",
        (7, 5, 7), (1, 2, 1), (1, 5, 3), (5, 2, 1), (4, 3, 1), (15, 8, 12),
    ),
    "duodecoding": columns(
        "sequences budget draft_mode",
        ("dynamic", "auto", "batched"), (3, 13, "paper"), (8, 13, "batched"), (1, 5, "paper"), (2, 1, "batched"),
    ),
    "duotree": columns(
        "tree_children tree_budget overlap",
        (4, "auto", "in_turn"), (4, "auto", "beside"), (1, "auto", "beside"), (8, 64, "in_turn"), (2, 1, "beside"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("id, method", METHODS.items())
def test_a_record_is_complete(id, method):
    assert method.id == id and method.about.endswith(".")
    # What proposes and takes turns has words for what it proposed; what works in parallel has others.
    assert bool(method.verified and method.nothing and method.caption) == (
        bool(method.proposers) and not method.parallel
    )
    assert ("acceptance" in method.numbers) == bool(method.proposers)
    described = method.described()
    assert json.loads(json.dumps(described)) == described and tuple(described) == DESCRIBED


def test_vanilla_equals_transformers():
    reference, engine = reference_model(0), tiny_engine()
    for prompt in PROMPTS:
        with torch.no_grad():
            out = reference.generate(
                torch.tensor([prompt]), max_new_tokens=60, do_sample=False, eos_token_id=None, pad_token_id=0
            )
        assert tokens(run(engine, "vanilla", prompt, Settings(max_new_tokens=60))) == out[0, len(prompt) :].tolist()


def test_seed_temperature_and_filters_change_the_text():
    engine, base = tiny_engine(), Settings(max_new_tokens=30, temperature=1.0)
    changes = [{}, {"seed": 1}, {"temperature": 0.5}, {"top_k": 2}, {"top_p": 0.3}]
    texts = {tuple(tokens(run(engine, "vanilla", PROMPTS[0], replace(base, **change)))) for change in changes}
    assert len(texts) == len(changes)


@pytest.mark.parametrize("changes", [{}, *map(THOROUGH, [{"temperature": 1.3}, SAMPLED])], ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_the_text_is_seeded_vanillas(method, changes, store):
    base = Settings(max_new_tokens=30, rest_datastore=store, **changes)
    variants = [*VARIANTS[method]]
    if not METHODS[method].classical_rule:
        # It has nothing to divide by where no draft's distribution is known.
        variants.append({"acceptance": "rejection"})
    for noise, prompt in zip((0.0, 0.2, 3.0), PROMPTS, strict=True):
        engine = tiny_engine(noise=noise)
        expected = tokens(run(engine, "vanilla", prompt, base))
        for variant in variants:
            assert tokens(run(engine, method, prompt, replace(base, **variant))) == expected, (noise, variant)


@pytest.mark.parametrize(
    "changes", [{}, *map(THOROUGH, [SAMPLED, {"temperature": 1.0, "acceptance": "rejection", "seed": 3}])], ids=str
)
@pytest.mark.parametrize("method", IN_TURN)
def test_iterations_are_consistent(method, changes, store):
    engine, outcomes = tiny_engine(noise=0.3), set()
    settings = Settings(max_new_tokens=80, rest_datastore=store, rest_shortest=1, overlap="in_turn", **changes)
    for prompt in PROMPTS:
        text, iterations = list(prompt), run(engine, method, prompt, settings)
        for number, iteration in enumerate(iterations):
            outcomes.add(iteration.outcome)
            if number:
                check_iteration(iteration, {proposer.id for proposer in METHODS[method].proposers})
                assert all(step.end <= iteration.target.start for step in iteration.draft)
            else:
                check_first(iteration, prompt)
            text += tokens([iteration])
            # What the target knows is the text but its last token.
            assert iteration.stop or engine.pair.target.length == len(text) - 1
    assert outcomes == {"none", "hit", "rejection"}


@pytest.fixture
def counting(tmp_path):
    """Target, draft and datastore that count; the prompt has counted already. A function of what ends the text."""

    def made(*eos):
        engine = counting_engine(eos=frozenset(eos))
        engine.draft_beside = engine.draft_in_turn = CallersDraft(counting_engine().pair.target)
        return engine

    made.prompt = [*range(VOCABULARY), 0, 1, 2]
    made.store = str(build([[*range(VOCABULARY)]], tmp_path / "store"))
    return made


@pytest.mark.parametrize(
    "method, length, changes, written",
    [
        ("prompt_lookup", 30, {}, [1, *[11] * 4, 10]),
        ("rest", VOCABULARY, {}, [1, 11, 11, 10]),
        ("lookahead", 6, dict(lookahead_window=3, lookahead_ngram=5, lookahead_guesses=2), [1, *[5] * 11, 4]),
    ],
)
def test_a_text_that_is_known_is_proposed_and_accepted(method, length, changes, written, counting):
    settings = Settings(max_new_tokens=sum(written), rest_datastore=counting.store, **changes)
    iterations = list(run(counting_engine(length), method, [*range(length), 0, 1], settings))
    assert [len(iteration.committed) for iteration in iterations] == written
    assert [iteration.outcome for iteration in iterations] == ["none", *["hit"] * (len(written) - 1)]
    assert tokens(iterations) == [(2 + place) % length for place in range(sum(written))]


@pytest.mark.parametrize("method", IN_TURN + ["duodecoding"])
def test_stops_at_the_end_inside_an_accepted_run_and_proposes_nothing_beyond(method, counting):
    for variant in [{}, *VARIANTS[method]]:
        settings = Settings(rest_datastore=counting.store, **variant)
        iterations = list(run(counting(7), method, counting.prompt, settings))
        assert tokens(iterations) == [3, 4, 5, 6, 7] and iterations[-1].stop == "eos"
        # Where the sizes are as they come, the end was proposed.
        assert variant or len(iterations[-1].committed) <= iterations[-1].accepted
        for iteration in iterations:
            for nodes in ([*iteration.checked, *iteration.unverified], iteration.drafted):
                guesses = [node for node in nodes if node.status not in ("correction", "window")]
                assert all(node.parent < 0 or nodes[node.parent].token != 7 for node in guesses)


@pytest.mark.parametrize("count", [1, 2, 7, 23])
@pytest.mark.parametrize("method", METHODS)
def test_stops_at_the_length(method, count, counting):
    for variant in VARIANTS[method]:
        settings = Settings(max_new_tokens=count, rest_datastore=counting.store, **variant)
        iterations = list(run(counting(), method, counting.prompt, settings))
        assert tokens(iterations) == [*range(3, 3 + count)] and iterations[-1].stop == "length"
        left = count
        for iteration in iterations:
            # The target adds a token of its own; a draft writes one at least.
            assert max([0, *depths(proposed(iteration))]) < max(2 * METHODS[method].draft, left)
            left -= len(iteration.committed)


@pytest.mark.parametrize("length", [30, 60, 62, 63])
@pytest.mark.parametrize("method", METHODS)
def test_stops_at_the_context(method, length, store):
    engine, prompt = tiny_engine(noise=0.05, context=64), [2 + place % 7 for place in range(length)]
    base = Settings(max_new_tokens=200, rest_datastore=store, rest_shortest=1)
    expected = tokens(run(engine, "vanilla", prompt, base))
    assert len(expected) == 64 - length
    large = {"lookahead_window": 32, "lookahead_ngram": 8, "lookahead_guesses": 32}
    for variant in [*VARIANTS[method], large] if method == "lookahead" else VARIANTS[method]:
        iterations = list(run(engine, method, prompt, replace(base, **variant)))
        assert tokens(iterations) == expected and iterations[-1].stop == "context"
