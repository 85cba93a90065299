"""What a method does in a run: the loop asks it what to verify, and shows it what came of that."""

from collections.abc import Sequence
from typing import Any

from duoviz.decoding.iteration import Drafting, Node, Verified
from duoviz.decoding.sampling import DraftNotFinite, TargetDraws

NOTHING = Drafting()


class Drafter:
    """One method in one run. This one proposes nothing, as vanilla decoding does.

    The loop calls, for each target forward: propose, start, join, observe. The first forward reads the prompt, and
    nothing is proposed for it. idle: whether nothing is drafted beside the next forward, so that the target may have
    all cores.
    """

    idle = False

    def propose(self, text: Sequence[int], longest: int) -> list[Node]:
        """What the target reads after the text, as a tree, parents before children; -1 is the text's end.

        Nodes that are `pending` come first and are verified; others are read only. longest: how deep a node may lie
        and still fit into the text. Raises DraftDied, Stopped.
        """
        return []

    def start(self, text: Sequence[int], tree: Sequence[Node]) -> None:
        """Begin what is done while the target reads the tree; tree: as proposed. Raises DraftDied.

        A target on a GPU has company from the prompt on, one on the processor only from the second forward on.
        """

    def join(self) -> list[Node]:
        """What the draft wrote meanwhile, after the last node of the tree that was proposed; -1 is that node.

        Its `pending` first tokens are verified too. Raises DraftDied, Stopped.
        """
        return []

    def observe(self, text: Sequence[int], verified: Verified, own: TargetDraws) -> Drafting:
        """See what came of the forward; text: with the committed tokens. own: what the target writes after each row."""
        return NOTHING

    def close(self) -> None:
        """The run is over."""


class Alone(Drafter):
    """The target goes on alone."""

    idle = True


class WhileFinite(Drafter):
    """A method's drafter as long as its draft's logits are finite; why they no longer are is put among the notes."""

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

    def propose(self, text: Sequence[int], longest: int) -> list[Node]:
        return self.ask("propose", text, longest)

    def start(self, text: Sequence[int], tree: Sequence[Node]) -> None:
        self.ask("start", text, tree)

    def join(self) -> list[Node]:
        return self.ask("join")

    def observe(self, text: Sequence[int], verified: Verified, own: TargetDraws) -> Drafting:
        return self.ask("observe", text, verified, own)

    def close(self) -> None:
        self.drafter.close()
