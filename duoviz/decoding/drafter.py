"""What a method does in a run: it says what to verify, and sees the result."""

from collections.abc import Sequence
from typing import Any

from duoviz.decoding.iteration import Drafting, Node, Verified
from duoviz.decoding.sampling import DraftNotFinite, TargetDraws

NOTHING = Drafting()


class Drafter:
    """One method in one run. This one proposes nothing, as vanilla decoding does.

    For each target forward the loop calls propose, start, join and observe; not propose for the first, which reads the
    prompt. idle: nothing is drafted during the next forward, so the target may use all cores.
    """

    idle = False

    def propose(self, text: Sequence[int], longest: int) -> list[Node]:
        """What the target reads after the text: a tree, parents before children; parent -1 is the text's end.

        `pending` nodes come first and are verified; others are only read. longest: the greatest depth that fits into
        the text. Raises DraftDied, Stopped.
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

    def observe(self, text: Sequence[int], verified: Verified, target_tokens: TargetDraws) -> Drafting:
        """See the result; text: with the committed tokens. target_tokens: what the target writes after each row."""
        return NOTHING

    def close(self) -> None:
        """The run is over."""


class Alone(Drafter):
    idle = True


def asking(name: str) -> Any:
    """A method that lets the drafter in force do what is so named."""
    return lambda self, *arguments: self.ask(name, *arguments)


class WhileFinite(Drafter):
    """A method's drafter until its draft's logits are not finite; then the target goes on alone, as the notes say."""

    propose, start, join, observe = map(asking, ("propose", "start", "join", "observe"))

    def __init__(self, drafter: Drafter, notes: list[str]):
        self.drafter, self.notes = drafter, notes

    def ask(self, name: str, *arguments: Any) -> Any:
        try:
            return getattr(self.drafter, name)(*arguments)
        except DraftNotFinite as error:
            self.notes.append(f"{error} The target wrote the rest alone.")
            self.close()
            self.drafter = Alone()
            return getattr(self.drafter, name)(*arguments)
        finally:
            self.idle = self.drafter.idle

    def close(self) -> None:
        self.drafter.close()
