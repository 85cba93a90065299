"""The queue: bounded, in turns between addresses, and those who wait for their models let others go first."""

from itertools import count

import pytest

from duoviz.decoding.settings import Settings
from duoviz.errors import UserError
from duoviz.workers.request_queue import Bounds, Client, Job, RequestQueue
from duoviz.workers.tasks import Comparison, Run

QUEUE_LENGTH = Bounds().length


def job(session, address=None, **options):
    task = Run(pair="embedded", method="vanilla", prompt="hello", settings=Settings(), raw=False)
    return Job(**{"task": task} | options, client=Client(session, address))


def filled(*jobs, **options):
    queue = RequestQueue(**options)
    for each in jobs:
        queue.add(each)
    return queue


def admitted(queue, address):
    """How many visitors of this address are admitted, one run each."""
    for number in count():
        try:
            queue.add(job(f"{address} {number}", address))
        except UserError as full:
            return number, str(full)


def test_a_visitor_has_two_workers_wherever_it_is():
    queue = filled(job("ann", "1"), job("ann", "2"))
    with pytest.raises(UserError, match="2 of your runs are already waiting: stop one"):
        queue.add(job("ann", "3"))
    queue.remove(queue.jobs[0])
    queue.add(job("ann", "1"))
    assert len(queue) == 2


def test_a_class_behind_one_address_has_workers_and_leaves_as_many():
    queue = RequestQueue()
    told = "40 runs from your address are already waiting: try again in a few minutes."
    assert admitted(queue, "a school") == (40, told)
    others = [admitted(queue, address)[0] for address in ("another", "a third", "a fourth")]
    assert others == [20, 10, 5] and len(queue) < QUEUE_LENGTH
    queue.add(job("late", "a late one"))


@pytest.mark.parametrize("on_a_space", [True, False])
def test_the_queue_is_bounded_and_on_ones_own_machine_any_session_may_fill_it(on_a_space):
    addresses = [f"address {number}" if on_a_space else None for number in range(QUEUE_LENGTH)]
    queue = filled(*(job(f"session {number}", address) for number, address in enumerate(addresses)))
    with pytest.raises(UserError, match="The queue is full: try again in a few minutes."):
        queue.add(job("late"))
    queue.remove(queue.jobs[3])
    queue.add(job("late"))
    assert len(queue) == QUEUE_LENGTH


def test_addresses_take_turns():
    queue = filled(*(job(f"school {number}", "school") for number in range(4)), job("ann", "ann"), job("bob", "bob"))
    queue.add(job("ann", "ann"))
    order = []
    while queue.jobs:
        if queue.peek().client.session == "school 1":
            queue.add(job("late", "late"))
        order.append(queue.peek().client.session)
        queue.remove(queue.peek())
    assert order == ["school 0", "ann", "bob", "school 1", "ann", "late", "school 2", "school 3"]


def test_others_go_before_a_job_whose_models_are_fetched_and_then_it_waits_behind_them():
    first, fetching, third = job("a"), job("b", fetching=True), job("c")
    queue = filled(first, fetching, third)
    assert [queue.ahead(each) for each in (first, fetching, third)] == [0, 0, 1] and queue.peek() is first
    queue.requeue(fetching)
    assert [queue.ahead(each) for each in (first, third, fetching)] == [0, 1, 2] and not fetching.fetching
    queue.remove(fetching)
    queue.requeue(fetching)
    assert queue.jobs == [first, third]


def test_with_two_workers_one_run_fewer_is_ahead_but_of_one_that_runs_alone():
    first, second, third, fourth = jobs = [job(name) for name in "abcd"]
    queue = filled(*jobs, workers=2)
    assert [queue.ahead(each) for each in jobs] == [0, 0, 1, 2] and queue.peek() is first
    first.taken = second.taken = True
    assert queue.peek() is third and queue.ahead(second) == 0
    alone = job("e", task=Comparison(pair="embedded", prompt="hello", lanes=(), raw=False, repeats=1))
    queue.add(alone)
    queue.add(behind := job("f"))
    assert [queue.ahead(each) for each in (third, alone, behind)] == [1, 4, 5]
    queue.remove(first)
    assert [queue.ahead(each) for each in (third, fourth, alone)] == [0, 1, 3]
