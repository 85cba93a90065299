"""All that duoviz touches of Gradio without Gradio having promised it: checked with 6.31.0.

`tests/web/test_gradio_internals.py` names what is missing when a new version has moved it. Each is here because
nothing public does it: a queue that computes less beside a run, that keeps nothing for those who never listen,
and that can be seen to have died, and started again.
"""

import sys
from importlib.util import find_spec

import gradio as gr

# Seconds from one look of Gradio's queue at its requests to the next. It usually looks a thousand times
# a second, and each look takes Python's lock from the thread that decodes.
QUEUE_STEP = 0.05


def calm(demo: gr.Blocks) -> None:
    """Let Gradio compute less beside a run; a request waits `QUEUE_STEP` at most."""
    queue = demo._queue
    queue.sleep_when_free = queue.progress_update_sleep_when_free = QUEUE_STEP
    # For /monitoring, which is closed, Gradio makes a table of its last 10,000 events after each one.
    queue.ANALYTICS_MAX_EVENTS, queue.ANAYLTICS_CACHE_FREQUENCY = 1, sys.maxsize
    # Gradio tries to import it before and after each value that it sends, and each time searches the disk.
    if find_spec("matplotlib") is None:
        sys.modules["matplotlib"] = None


def delivered(demo: gr.Blocks, session: str, event: str) -> bool:
    """Whether an event has ended and a stream has carried its end."""
    return event not in demo._queue.pending_event_ids_session.get(session, ())


async def forget(demo: gr.Blocks, session: str) -> None:
    """End a session's events, and drop what waits for someone to listen: Gradio would keep it for ever."""
    queue = demo._queue
    await queue.clean_events(session_hash=session)
    queue.pending_event_ids_session.pop(session, None)
    queue.pending_messages_per_session.pop(session, None)


def is_dead(demo: gr.Blocks) -> bool:
    """Whether the queue has ended though the page is served: every request is refused from then on."""
    return demo.is_running and demo._queue.stopped


def revive(demo: gr.Blocks) -> None:
    """Start a dead queue again, on the server's loop; the runs under way have ended with it.

    Gradio ends when an event that waits has lost the messages that it was to send: such events are dropped.
    """
    queue = demo._queue
    for each in queue.event_queue_per_concurrency_id.values():
        each.queue = [event for event in each.queue if event.session_hash in queue.pending_messages_per_session]
        each.current_concurrency = 0
        each.start_times_per_fn.clear()
    queue.stopped = False
    queue.start()
