"""The draft in a process of its own, fed by a pipe."""

import multiprocessing
import os
from ctypes import c_ulong
from multiprocessing.connection import Connection

import torch

from duoviz.decoding.worker.loop import DraftLoop, answers_to
from duoviz.decoding.worker.protocol import DraftDied, DraftWorker, reason_of
from duoviz.decoding.worker.pulse import Pulse, keep_beating
from duoviz.decoding.worker.requests import Answer, Request
from duoviz.decoding.worker.thread import ThreadDraft
from duoviz.decoding.worker.waiting import START_TIMEOUT, WaitingDraft
from duoviz.models.cores import on_cores
from duoviz.models.pair import LoadDraft


class ProcessDraft(WaitingDraft):
    """The draft in a process of its own, pinned to its own cores."""

    def __init__(self, load: LoadDraft, cores: tuple[int, ...]):
        """load: a picklable callable that gives the model; it is called in the new process."""
        super().__init__()
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        beats = context.RawValue(c_ulong)
        self.pulse = Pulse(beats)
        arguments = (theirs, beats, load, cores)
        self.process = context.Process(target=serve, args=arguments, daemon=True, name="duoviz-draft")
        self.process.start()
        theirs.close()
        self.started = False

    def wait_until_started(self) -> None:
        if not self.started:
            if not self.poll(START_TIMEOUT):
                self.close()
                raise DraftDied(f"The draft process did not start within {START_TIMEOUT:.0f} seconds.")
            if complaint := self.receive():
                self.close()
                raise DraftDied(f"The draft could not be loaded: {complaint}.")
            self.started = True

    def send(self, request: Request) -> None:
        try:
            self.pipe.send(request)
        except OSError as error:
            raise self.died() from error

    def poll(self, seconds: float) -> bool:
        try:
            return self.pipe.poll(seconds)
        except OSError as error:
            raise self.died() from error

    def receive(self) -> Answer | str:
        try:
            return self.pipe.recv()
        except (EOFError, OSError) as error:
            raise self.died() from error

    def died(self) -> DraftDied:
        self.process.join(timeout=1)
        code = self.process.exitcode
        self.close()
        return DraftDied(f"The draft process died (exit code {code}); the next run starts a new one.")

    @property
    def overdue(self) -> bool:
        return super().overdue or (self.owes and self.pulse.silent())

    def alive(self) -> bool:
        if not self.process.is_alive() or self.pipe.closed or self.overdue:
            return False
        # One that was stopped in the run before would keep this one waiting.
        return not self.owes or self.pulse.beats_again()

    def close(self) -> None:
        """End the process and release its pipe; safe to call twice."""
        self.pipe.close()
        if self.process.is_alive():
            self.process.kill()
        self.process.join(timeout=5)


def serve(pipe: Connection, beats: c_ulong, load: LoadDraft, cores: tuple[int, ...]) -> None:
    """The draft process: load the model, then answer requests until the pipe closes."""
    keep_beating(beats)
    os.environ["OMP_NUM_THREADS"] = str(len(cores))
    with on_cores(cores), torch.inference_mode():
        try:
            try:
                loop = DraftLoop(load())
            except Exception as error:
                pipe.send(reason_of(error))
                return
            pipe.send("")
            while True:
                for answer in answers_to(pipe.recv(), loop, pipe.poll):
                    pipe.send(answer)
        except (EOFError, OSError, KeyboardInterrupt):
            return


def start_draft(load: LoadDraft, cores: tuple[int, ...]) -> DraftWorker:
    """A draft process; in a daemonic parent, which may not have children, a thread."""
    if multiprocessing.current_process().daemon:
        return ThreadDraft(load, cores)
    return ProcessDraft(load, cores)
