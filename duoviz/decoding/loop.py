"""The one loop of all methods: propose, forward, verify, commit, roll back, observe."""

from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from functools import partial

from torch import Tensor

from duoviz.decoding.drafter import Drafter
from duoviz.decoding.forward import Stopped, timed_forward, timed_prefill
from duoviz.decoding.iteration import Iteration, Node, Span
from duoviz.decoding.plan import RunPlan
from duoviz.decoding.sampling import TargetDraws
from duoviz.decoding.verification import judge
from duoviz.models.cores import on_cores
from duoviz.models.language_model import LanguageModel


def decode(plan: RunPlan) -> Iterator[Iteration]:
    """Decode by proposing and verifying, until the text ends: Leviathan et al. 2023 (arXiv 2211.17192), algorithm 1.

    With trees as in SpecInfer (Miao et al. 2023, arXiv 2305.09781), and, where a method drafts meanwhile, with the
    synchronisation of DuoDecoding (arXiv 2503.00784, §3.1). Call it on the plan's cores. Raises DraftDied, Stopped.
    """
    text = list(plan.prompt_ids)
    with closing(plan.method.drafter(plan)) as drafter:
        stop = None
        while not stop:
            if plan.stopped():
                raise Stopped
            iteration = iterate(plan, drafter, text)
            stop = iteration.stop
            yield iteration


def iterate(plan: RunPlan, drafter: Drafter, text: list[int]) -> Iteration:
    """One iteration; the text, token ids, grows by what is committed."""
    length = len(text)
    reads_prompt = length == len(plan.prompt_ids)
    # The target adds a token of its own, so one fewer than fits is proposed.
    tree = [] if reads_prompt else drafter.propose(text, plan.room.limit - length - 1)
    # A processor reads the prompt with all its cores: nobody drafts yet, and everybody waits for the first token.
    if not reads_prompt or plan.target.device != "cpu":
        drafter.start(text, tree)
    logits, span = read_prompt(plan) if reads_prompt else forward_tree(plan.target, text, tree)
    own = TargetDraws(logits, [length + depth for depth in (0, *depths(tree))], plan.settings.sampling)
    cut = partial(plan.room.cut, length, eos=plan.pair.eos)
    verified = judge(tree, drafter.join(), own, plan.classical, target=span, cut=cut)
    if tree:
        roll_back(plan.target, length, tree)
    text += [token.token for token in verified.committed]
    return Iteration(**vars(verified), **vars(drafter.observe(text, verified, own)))


def read_prompt(plan: RunPlan) -> tuple[Tensor, Span]:
    """The target's logits [1, vocab] after the prompt, and when it read it. Raises Stopped."""
    target = plan.target
    with on_cores(plan.pair.cores.all) if target.device == "cpu" else nullcontext():
        target.crop(0)
        return timed_prefill(target, plan.prompt_ids, stopped=plan.stopped)


def forward_tree(target: LanguageModel, text: Sequence[int], tree: Sequence[Node]) -> tuple[Tensor, Span]:
    """Forward the text's last token, and the proposed tokens after it.

    Returns logits [1 + nodes, vocab], after the text (row 0) and after each node i (row i + 1), and the span.
    """
    root = len(text) - 1
    parents = None if is_chain(tree) else [root - 1, *(root + 1 + node.parent for node in tree)]
    return timed_forward(target, [text[-1], *(node.token for node in tree)], parents=parents)


def is_chain(tree: Sequence[Node]) -> bool:
    """Whether every node is the child of the one before it."""
    return all(node.parent == index - 1 for index, node in enumerate(tree))


def depths(tree: Sequence[Node]) -> list[int]:
    """1 for a child of the text's end, 2 for its children, …"""
    levels: list[int] = []
    for node in tree:
        levels.append(1 if node.parent < 0 else levels[node.parent] + 1)
    return levels


def roll_back(target: LanguageModel, length: int, tree: Sequence[Node]) -> None:
    """Rollback: of the tree after a text of this length, the target's cache keeps the accepted path."""
    path = [length + index for index, node in enumerate(tree) if node.status == "accepted"]
    if path and not is_chain(tree):
        target.keep(path)
    else:
        target.crop(length + len(path))
