"""Vanilla decoding: one token a target forward."""

from collections.abc import Iterator

from duoviz.decoding.iteration import Committed, Iteration, Node, room_for, timed_forward
from duoviz.decoding.method import Method
from duoviz.decoding.prefill import target_prefill
from duoviz.decoding.sampling import Choices
from duoviz.decoding.settings import Settings
from duoviz.decoding.theory import ALONE
from duoviz.models.pair import Pair


def vanilla(pair: Pair, prompt_ids: list[int], settings: Settings) -> Iterator[Iteration]:
    """Autoregressive decoding: the baseline that every other method must equal token for token."""
    target = pair.target
    room = room_for(len(prompt_ids), settings.max_new_tokens, target.context_limit)
    text = list(prompt_ids)
    logits, span = target_prefill(pair, prompt_ids)
    while True:
        own = Choices(logits, [len(text)], settings.sampling)
        token = own[0]
        committed, stop = room.cut(len(text), [Committed(token, "target", own.gap(0))], pair.eos)
        node = Node(token, -1, "target", p=own.probability(0, token), status="correction")
        text.append(token)
        yield Iteration(span, span.end, committed, checked=[node], stop=stop)
        if stop:
            return
        logits, span = timed_forward(target, [token])


VANILLA = Method(
    id="vanilla",
    title="Vanilla",
    name="Vanilla decoding",
    about="The target writes one token a forward: the baseline, whose very text every other method must write.",
    decode=vanilla,
    settings=("cores",),
    expected=ALONE,
    colour="#8a93a3",
    shape="",
    mark="circle",
)
