"""What a method does in a run: it says what to verify, and sees the result."""

from collections.abc import Sequence

from duoviz.decoding.iteration import Iteration, Node
from duoviz.decoding.sampling import TargetDraws


class Drafter:
    """One method in one run. This one proposes nothing, as vanilla decoding does.

    For each target forward the loop calls propose, start, join and observe; not propose for the first, which reads the
    prompt. idle: nothing is drafted during the next forward, so the target may use all cores.
    """

    idle = False

    def propose(self, text: Sequence[int], longest: int) -> list[Node]:
        """What the target reads after the text: a tree, parents before children; parent -1 is the text's end.

        `pending` nodes come first and are verified; others are only read. longest: the greatest depth that fits into
        the text. No pending node may follow a token that ends the text (`plan.pair.eos`). Raises DraftDied, Stopped.
        """
        return []

    def start(self, text: Sequence[int], tree: Sequence[Node]) -> None:
        """Start drafting in parallel to the forward over the tree. Raises DraftDied.

        Not called while a target on the CPU reads the prompt.
        """

    def join(self) -> list[Node]:
        """What was drafted meanwhile, after the tree's last node, which is parent -1.

        `pending` first tokens are verified too. Raises DraftDied, Stopped.
        """
        return []

    def observe(self, text: Sequence[int], iteration: Iteration, target_tokens: TargetDraws) -> None:
        """See the result, and add what the method did; text: with the committed tokens.

        target_tokens: what the target writes after each row.
        """

    def close(self) -> None:
        """The run is over."""


class Alone(Drafter):
    """The target goes on without a draft."""

    idle = True
