"""What tests see of a pair at work."""

import torch

from duoviz.decoding.runtime import runtime

PROMPT = [5, 9, 3] * 60


def watched(pair):
    """What happens in the pair, in order: the target's forwards and tunings with the threads in force, and whatever
    the draft gets to read."""
    events, target, draft = [], pair.target, runtime(pair).draft
    forward, tune, read = target.forward, target.tune, draft.loop.model.forward

    def watched_forward(ids, **options):
        events.append(("target", len(ids), torch.get_num_threads()))
        return forward(ids, **options)

    def watched_tune():
        events.append(("tune", torch.get_num_threads()))
        return tune()

    def watched_read(ids, **options):
        events.append(("draft", len(ids)))
        return read(ids, **options)

    target.forward, target.tune, draft.loop.model.forward = watched_forward, watched_tune, watched_read
    # As a draft of its own that takes long to read.
    draft.ready = lambda: sum(event[0] == "target" for event in events) > 3
    return events
