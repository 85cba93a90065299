"""The length policy: where a draft sequence ends, by how sure its own tokens are."""

from collections.abc import Sequence
from typing import NamedTuple

from duoviz.decoding.acceptance_table import AcceptanceTable, Recalibration, corrected, of_rank
from duoviz.decoding.costs import ROW_COUNTS
from duoviz.decoding.iteration import Node
from duoviz.decoding.settings import Settings


class StopRule(NamedTuple):
    """How sure a sequence must be to go on: the product of its tokens' chances is above `least`.

    chances: of the draft's tokens (see `AcceptanceTable.at`). factor: observed over expected acceptance in this run.
    first: include the first token's chance (False if later tokens are only reached when it was accepted).
    """

    chances: Sequence[Sequence[float]]
    factor: float
    least: float
    first: bool

    def chance(self, rank: int, q: float) -> float:
        """That the target writes the draft's token of this rank (from 0) and probability."""
        return corrected(of_rank(self.chances, rank, q), self.factor)


class LengthPolicy:
    """How long the draft's sequences may be, by the chances of their own tokens, followed in the run.

    table: None where no table was fitted to the draft; all sequences are of one length then.
    """

    def __init__(self, table: AcceptanceTable | None, settings: Settings):
        self.chances = table and table.at(settings.temperature)
        self.recalibration = Recalibration()

    def observe(self, chain: Sequence[Node]) -> None:
        """Verified tokens; the first one that was refused is the last that says anything."""
        for node in chain:
            if self.chances and node.q is not None and node.status in ("accepted", "rejected"):
                chance = of_rank(self.chances, 0, node.q)
                self.recalibration.observe(node.source, chance, node.status == "accepted")

    def bounds(self, length: int, alpha: float, *, first: bool) -> tuple[int, StopRule | None]:
        """The longest that a sequence may be, and where it ends before, for an average one of L tokens that pays.

        At the average chance α that one is worth α^(L−1), or α^L where its first token counts (see `StopRule`): a
        surer one may be longer, a less sure one ends before.
        """
        if not self.chances:
            return length, None
        least = alpha ** (length if first else length - 1)
        return max(length, ROW_COUNTS[-1] - 1), StopRule(self.chances, self.recalibration.factor("draft"), least, first)
