"""The supervisor of several workers: it replaces those that end, and stops them in time."""

import logging
import socket
import time
from contextlib import suppress

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors.multiprocess import Multiprocess, Process

WORKER_SECONDS = 60  # for a worker to respond; starting one on a busy machine takes long
STOP_SECONDS = 8  # for a worker to stop, before it is killed: it has answered all calls by then
log = logging.getLogger(__name__)


class Supervisor(Multiprocess):
    """uvicorn's supervisor of workers; it never waits for one, and logs each restart."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        super().__init__(config, sockets)
        self._heard_at: dict[int | None, float] = {}  # by the worker's process id

    def keep_subprocess_alive(self) -> None:
        """Replace the workers that ended or have not responded for a long time."""
        for number, worker in enumerate(self.processes):
            if self._responds(worker):
                continue
            worker.kill()
            worker.join()
            if worker.exitcode == STARTUP_FAILURE:  # the next one would fail, too
                self.should_exit.set()
                return
            self.processes[number] = Process(self.config, self.sockets)
            self.processes[number].start()
            log.warning("worker %s ended: worker %s takes its place", worker.pid, self.processes[number].pid)

    def _responds(self, worker: Process) -> bool:
        """Return whether a worker runs and has responded to the ping before in time; send the next ping."""
        now = time.monotonic()
        with suppress(OSError, EOFError):
            is_new = worker.pid not in self._heard_at
            if is_new or worker.parent_conn.poll():
                if not is_new:
                    worker.parent_conn.recv()
                self._heard_at[worker.pid] = now
                worker.parent_conn.send(b"ping")
        return worker.process.is_alive() and now - self._heard_at[worker.pid] < WORKER_SECONDS

    def join_all(self) -> None:
        """Wait for the workers to stop; end those that do not."""
        until = time.monotonic() + STOP_SECONDS
        for worker in self.processes:
            worker.process.join(max(0, until - time.monotonic()))
            worker.process.kill()
            worker.join()
