"""A process's heartbeat, which goes on however long it computes, and ends when the process is stopped."""

import threading
import time
from ctypes import c_ulong

# Seconds between two beats, and without one until a process is taken for stopped.
BEAT, SILENCE = 0.5, 5.0
# If the watcher itself was paused longer than this (seconds), it starts over.
GAP = 1.0


def keep_beating(beats: c_ulong) -> None:
    """Count `beats` up until this process ends."""

    def beat() -> None:
        while True:
            beats.value += 1
            time.sleep(BEAT)

    threading.Thread(target=beat, name="heartbeat", daemon=True).start()


class Heartbeat:
    """Watches a process by its `beats`, a number in shared memory."""

    def __init__(self, beats: c_ulong):
        self.beats = beats
        self.last, self.heard, self.looked = 0, 0.0, 0.0

    def silent(self) -> bool:
        """Whether no beat came for SILENCE seconds of regular calls."""
        now = time.monotonic()
        if self.beats.value != self.last or now - self.looked > GAP:
            self.last, self.heard = self.beats.value, now
        self.looked = now
        return now - self.heard > SILENCE

    def beats_again(self) -> bool:
        """Wait for a beat, for SILENCE at most; whether it came."""
        last = self.beats.value
        while self.beats.value == last:
            if self.silent():
                return False
            time.sleep(BEAT / 10)
        return True
