"""A method of a test's own, in one object: the last token is proposed again."""

from duoviz.decoding.in_turn import propose_and_verify
from duoviz.decoding.iteration import Node
from duoviz.decoding.method import VERIFYING, Method, Proposer


def again(pair, prompt_ids, settings):
    def propose(text, longest):
        return 1, [Node(text[-1], index - 1, "echo") for index in range(min(2, longest))]

    return propose_and_verify(pair, prompt_ids, settings, propose)


TOY = Method(
    id="again",
    title="Again",
    name="Once again",
    about="The last token is proposed again.",
    decode=again,
    proposers=(Proposer(id="echo", token="token said again", origin="said again"),),
    settings=("cores",),
    statuses=VERIFYING,
    numbers=("acceptance",),
    caption="said again, now checked",
    verified="{tokens:# echo was|# echoes were} heard; {target}",
    nothing="Nothing was left to say again",
    colour="#123456",
    shape="+",
    mark="hexagon",
)
