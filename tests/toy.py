"""A method of a test's own, in one object: the last token is proposed again."""

from duoviz.decoding.drafter import Drafter
from duoviz.decoding.iteration import Node
from duoviz.decoding.method import VERIFYING, Method, Proposer


class Again(Drafter):
    def propose(self, text, longest):
        return [Node(text[-1], index - 1, "echo") for index in range(min(2, longest))]

    def observe(self, text, iteration, target_tokens):
        iteration.matched = text[-1:]


TOY = Method(
    id="again",
    title="Again",
    name="Once again",
    about="The last token is proposed again.",
    drafter=lambda plan: Again(),
    proposers=(Proposer(id="echo", token="token said again", origin="said again"),),
    settings=("cores",),
    statuses=VERIFYING,
    numbers=("acceptance",),
    caption="said again, now checked",
    verified="{tokens:# echo was|# echoes were} heard",
    nothing="Nothing was left to say again",
)
