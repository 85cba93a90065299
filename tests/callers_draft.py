"""A draft in the caller's own thread that stands for one in a process: nothing overlaps, and no answer is late."""

from duoviz.decoding.worker.protocol import InlineDraft


class CallersDraft(InlineDraft):
    """Gives its answers and their parts when it is asked for them."""

    parts = iter(())

    def append(self, request):
        self.parts = request.answers(self.state, waits=bool, stopped=bool)

    def settle(self, *, stopped=bool):
        self.parts = iter(())

    def part(self, *, wait, stopped=bool):
        return next(self.parts, None)

    def ready(self):
        return True

    alive = ready

    def wait_until_started(self):
        pass

    enough = close = wait_until_started
