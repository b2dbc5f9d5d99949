"""Sends calls in the background: recording never delays and never breaks the program that records."""

from __future__ import annotations

import atexit
import hashlib
import json
import logging
import os
import threading
import time
import uuid
import weakref
from collections import deque
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from ._client import Call, Client, MemorydError, Unavailable
from ._mask import mask

log = logging.getLogger("memoryd")

BATCH_CALLS = 100
BATCH_BYTES = 4 << 20


@dataclass
class RecorderStats:
    """Counts what became of the calls that a recorder was given."""

    recorded: int = 0
    """accepted by the server, repeats included"""
    dropped: int = 0
    """lost because the queue was full or the program ended while the server was away and there is no journal"""
    rejected: int = 0
    """refused by the server: sending them again would not help"""
    journaled: int = 0
    """written to the journal for later"""
    waiting: int = 0
    """in the queue now"""


class Recorder:
    """Takes calls without waiting and sends them in batches from one background thread.

    The queue holds at most max_calls calls and max_bytes bytes; what comes while it is full is dropped and counted.
    With journal, the path of a file, calls that cannot be delivered are kept beside it and delivered later, once: each
    carries an id and a time by which the server recognises it. Each destination (server, workspace, key) has a file of
    its own, whose name ends in what stands for it: nothing that was kept for one is delivered to another. What is kept
    holds no secrets of the forms that are known, and only its owner can read it.

    close_timeout is how long the end of the program may wait for the last batch. The thread starts with the first call.
    """

    def __init__(
        self,
        client: Client | None = None,
        *,
        max_calls: int = 10_000,
        max_bytes: int = 64 << 20,
        interval: float = 0.5,
        journal: str | os.PathLike[str] | None = None,
        close_timeout: float = 2.0,
    ) -> None:
        self.client = client or Client(timeout=10.0)
        self.max_calls, self.max_bytes, self.interval = max_calls, max_bytes, interval
        self.close_timeout = close_timeout
        self.stats = RecorderStats()
        self._journal = f"{os.fspath(journal)}.{self._destination()}" if journal else None
        self._reset()
        _live.add(self)

    def _destination(self) -> str:
        """Gives what stands for the server, the workspace and the key that calls are for."""
        c = self.client
        return hashlib.sha256("\0".join((c.url, c.workspace, c._key)).encode()).hexdigest()[:16]

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._idle = threading.Event()
        self._idle.set()
        self._queue: deque[tuple[str, int]] = deque()
        self._bytes = 0
        self._under_way: list[str] = []
        self._thread: threading.Thread | None = None
        self._closed = False
        self._away = False

    def record(self, call: Call) -> None:
        """Queues a call. Never blocks on the network and never raises."""
        try:
            item = call.to_json()
            item.setdefault("create_time", now())
            item.setdefault("metadata", {}).setdefault("tool_call_id", uuid.uuid4().hex)
            line = json.dumps(item, separators=(",", ":"), default=str)
        except Exception:
            log.exception("a call of %s could not be written as JSON", call.tool_name)
            self.stats.dropped += 1
            return
        self._put(line)

    def _put(self, line: str) -> None:
        with self._lock:
            if (
                self._closed
                or len(self._queue) + len(self._under_way) >= self.max_calls
                or self._bytes + len(line) > self.max_bytes
            ):
                self.stats.dropped += 1
                if self.stats.dropped in (1, 1000, 1_000_000):
                    log.warning("%d call(s) dropped: the queue is full and memoryd is away", self.stats.dropped)
                return
            self._queue.append((line, len(line)))
            self._bytes += len(line)
            self._idle.clear()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="memoryd-recorder", daemon=True)
                self._thread.start()
            full = len(self._queue) >= BATCH_CALLS
        if full:
            self._wake.set()

    def flush(self, timeout: float | None = None) -> bool:
        """Waits until everything queued was delivered or journaled; tells whether it was."""
        self._wake.set()
        return self._idle.wait(timeout)

    def close(self) -> None:
        """Sends what waits, for close_timeout at most; the rest goes to the journal or is counted as dropped.

        The rest holds what is being sent and was not answered: sent again later, it is recognised.
        """
        if self._closed:
            return
        self.flush(self.close_timeout)
        with self._lock:
            self._closed = True
            rest = self._under_way + [line for line, _ in self._queue]
            self._queue.clear()
            self._bytes = 0
        self._wake.set()
        if rest and not self._keep(rest):
            self.stats.dropped += len(rest)
            log.warning("%d call(s) were not delivered to %s", len(rest), self.client.url)
        _live.discard(self)

    def snapshot(self) -> RecorderStats:
        """Gives the counts as they are now."""
        with self._lock:
            return RecorderStats(**{**self.stats.__dict__, "waiting": len(self._queue)})

    def _run(self) -> None:
        pause = 0.0
        while not self._closed:
            self._wake.wait(pause or self.interval)
            self._wake.clear()
            try:
                pause = self._drain(pause)
            except Exception:  # the thread must not end: the queue would fill and never empty
                log.exception("sending calls failed")
                pause = 30.0

    def _drain(self, pause: float) -> float:
        """Sends batches until the queue is empty; gives the pause before the next try, 0 when all went well."""
        while batch := self._take():
            try:
                self._send(batch)
            except Unavailable as e:
                pause = max(e.retry_after or 0.0, min(30.0, pause * 2 or 0.5))
                if not self._away:
                    self._away = True
                    log.warning("memoryd is away, calls wait: %s", e)
                self._back(batch)
                return pause
            if self._away:
                self._away = False
                log.warning("memoryd is back")
        self._replay()
        with self._lock:
            if not self._queue:
                self._idle.set()
        return 0.0

    def _take(self) -> list[str]:
        batch: list[str] = []
        size = 0
        with self._lock:
            while self._queue and len(batch) < BATCH_CALLS and (not batch or size + self._queue[0][1] <= BATCH_BYTES):
                line, n = self._queue.popleft()
                batch.append(line)
                size += n
                self._bytes -= n
            self._under_way = batch
        return batch

    def _back(self, batch: list[str]) -> None:
        """Keeps a batch that could not be sent: in the journal, else at the queue's head."""
        with self._lock:
            if self._closed:
                return  # close has kept or counted it
            self._under_way = []
            if self._keep(batch):
                if not self._queue:
                    self._idle.set()
                return
            for line in reversed(batch):
                self._queue.appendleft((line, len(line)))
                self._bytes += len(line)

    def _send(self, batch: list[str]) -> None:
        body = {
            "workspace_id": self.client.workspace,
            "tool_call_results": [json.loads(line) for line in batch],
            "async": True,
            "include_history": False,
        }
        try:
            answer, _ = self.client._memory("/add_tool_call_result", body)
        except Unavailable:
            raise
        except MemorydError as e:
            if e.status in (413, 422) and len(batch) > 1:
                self._send(batch[: len(batch) // 2])
                self._send(batch[len(batch) // 2 :])
                return
            self.stats.rejected += len(batch)
            log.warning("%d call(s) were refused: %s", len(batch), e)
            return
        rejected = answer["metadata"].get("rejected") or []
        if rejected:
            log.warning("%d call(s) were refused, the first: %s", len(rejected), rejected[0].get("reason"))
        self.stats.rejected += len(rejected)
        self.stats.recorded += len(batch) - len(rejected)

    def _keep(self, batch: list[str]) -> bool:
        """Appends a batch to the journal; tells whether it did."""
        if self._journal is None:
            return False
        try:
            lines = "".join(json.dumps(mask(json.loads(line)), separators=(",", ":")) + "\n" for line in batch)
            private = os.open(self._journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with open(private, "a", encoding="utf-8") as f:
                f.write(lines)
        except OSError as e:
            log.warning("journal %s: %s", self._journal, e)
            return False
        self.stats.journaled += len(batch)
        return True

    def _replay(self) -> None:
        """Delivers the journal once the server is back. What is being sent stays on disk until it was accepted."""
        if self._journal is None:
            return
        sending = self._journal + ".sending"
        while True:
            if not os.path.exists(sending):
                try:
                    os.replace(self._journal, sending)
                except OSError:
                    return  # there is none
            try:
                self._send_file(sending)
            except Unavailable:
                return  # the file stays; what was sent of it is recognised when it is sent again
            try:
                os.remove(sending)
            except OSError as e:
                log.warning("journal %s was delivered and cannot be removed: %s", sending, e)
                return

    def _send_file(self, path: str) -> None:
        with open(path, encoding="utf-8", errors="replace") as f:
            batch: list[str] = []
            for line in f:
                if _is_json(line):
                    batch.append(line.strip())
                if len(batch) == BATCH_CALLS:
                    self._send(batch)
                    batch = []
            if batch:
                self._send(batch)


def _is_json(line: str) -> bool:
    """Tells a whole line of the journal from one that a crash cut."""
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def now() -> str:
    """Gives the time in RFC 3339 with microseconds, UTC."""
    return datetime.now(timezone.utc).isoformat()


def monotonic() -> float:
    """Gives seconds for measuring durations."""
    return time.perf_counter()


_live: weakref.WeakSet[Recorder] = weakref.WeakSet()


def _close_all() -> None:
    for recorder in list(_live):
        recorder.close()


def _after_fork() -> None:
    """Gives a forked child an empty queue and a thread of its own: what waited is the parent's to send."""
    for recorder in list(_live):
        recorder.stats = RecorderStats()
        recorder._reset()
        recorder.client._local = threading.local()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def text_of(value: Any, limit: int = 1 << 20) -> str:
    """Gives what a tool returned as text: a string as it is, the rest as JSON, else repr; limit is in characters."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value[:limit]
    if isinstance(value, bytes):
        return value[:limit].decode("utf-8", "replace")
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)[:limit]
    except (TypeError, ValueError, RecursionError):
        return repr(value)[:limit]


def _plain(value: Any) -> Any:
    """Gives what json.dumps can write for the values that tools often return."""
    for method in ("model_dump", "to_dict", "dict"):
        convert = getattr(value, method, None)
        if callable(convert) and not isinstance(value, type):
            return convert()
    return str(value)
