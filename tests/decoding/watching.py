"""What tests see of an engine at work."""

import torch

PROMPT = [5, 9, 3] * 60


def watched(engine):
    """What happens, in order: the target's forwards with the threads in force, and what the draft reads."""
    events, target, draft = [], engine.pair.target, engine.draft_beside
    forward, read = target.forward, draft.loop.model.forward

    def watched_forward(ids, **options):
        events.append(("target", len(ids), torch.get_num_threads()))
        return forward(ids, **options)

    def watched_read(ids, **options):
        events.append(("draft", len(ids)))
        return read(ids, **options)

    target.forward, draft.loop.model.forward = watched_forward, watched_read
    # As a draft of its own that takes long to read.
    draft.ready = lambda: sum(event[0] == "target" for event in events) > 3
    return events
