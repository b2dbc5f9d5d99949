"""Sends calls in the background: recording never delays and never breaks the program that records."""

from __future__ import annotations

import atexit
import contextlib
import glob
import hashlib
import json
import logging
import os
import signal
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
    With journal, the path of a file, each call stands on disk beside it until it was delivered, also if the program is
    killed, and is delivered later, once: each carries an id and a time by which the server recognises it. Each
    recorder has a file of its own that names its destination (server, workspace, id of the key): nothing that was kept
    for one is delivered to another. What is kept holds no secrets of the forms that are known, and only its owner can
    read it. "memoryd journals" sends or drops such files.

    A program that ends, by SIGTERM too where it does not handle that itself, sends what waits; what is neither
    delivered nor kept is counted in one line of the log. close_timeout is how long the end may wait for the last batch.
    The thread starts with the first call.
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
        self._beside = f"{os.fspath(journal)}.{self._destination()}." if journal else ""
        self._told = 0
        self._reset()
        _live.add(self)

    def _destination(self) -> str:
        """Gives what stands for the server, the workspace and the key that calls are for."""
        return hashlib.sha256("\0".join(self._whom().values()).encode()).hexdigest()[:16]

    def _whom(self) -> dict[str, str]:
        c = self.client
        parts = c._key.split("_")
        key = parts[1] if len(parts) > 2 else hashlib.sha256(c._key.encode()).hexdigest()[:12] if c._key else ""
        return {"to": "local" if c.local else c.url, "workspace": c.workspace, "key": key}

    def _reset(self) -> None:
        self._journal = f"{self._beside}{os.getpid()}-{uuid.uuid4().hex[:8]}" if self._beside else None
        self._behind = False
        self._lock = threading.RLock()
        self._wake = threading.Event()
        self._idle = threading.Event()
        self._idle.set()
        self._queue: deque[tuple[str, bool]] = deque()  # lines, and whether they stand in the journal
        self._bytes = 0
        self._under_way: list[tuple[str, bool]] = []
        self._thread: threading.Thread | None = None
        self._closed = False
        self._away = False

    def record(self, call: Call) -> None:
        """Queues a call. Never blocks on the network and never raises."""
        try:
            item = call.to_json()
            item.setdefault("create_time", now())
            metadata = item.setdefault("metadata", {})
            metadata.setdefault("sources", ["client:python"])
            if "tool_call_id" not in metadata:
                metadata["tool_call_id"] = uuid.uuid4().hex
                metadata.setdefault("call_ref", "client/" + metadata["tool_call_id"])
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
            self._queue.append((line, self._write(line)))
            self._bytes += len(line)
            self._idle.clear()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="memoryd-recorder", daemon=True)
                self._thread.start()
                _watch_sigterm()
            full = len(self._queue) >= BATCH_CALLS
        if full:
            self._wake.set()

    def flush(self, timeout: float | None = None) -> bool:
        """Waits until everything queued was delivered or journaled; tells whether it was.

        It is also False where the server refused a call since the flush before, or one was dropped.
        """
        self._wake.set()
        done = self._idle.wait(timeout)
        with self._lock:
            lost, self._told = (
                self.stats.dropped + self.stats.rejected - self._told,
                self.stats.dropped + self.stats.rejected,
            )
        return done and not lost

    def close(self) -> None:
        """Sends what waits, for close_timeout at most; the rest goes to the journal or is counted as dropped.

        The rest holds what is being sent and was not answered: sent again later, it is recognised.
        """
        if self._closed:
            return
        self.flush(self.close_timeout)
        with self._lock:
            if self._closed:
                return  # another thread closed it meanwhile
            self._closed = True
            sent = sum(not kept for _, kept in self._under_way)
            rest = [kept for _, kept in (*self._under_way, *self._queue)]
            self._queue.clear()
            self._bytes = 0
            self.stats.journaled += sum(rest)
            if not any(rest) and not self._behind:
                self._remove(self._journal)
            lost = len(rest) - sum(rest)
            self.stats.dropped += lost
        self._wake.set()
        if lost:
            maybe = f": {sent} of them were sent, and memoryd did not answer in time" if sent else ""
            log.warning("%d call(s) were not delivered to %s%s", lost, self.client.url, maybe)
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
                self._back()
                return pause
            if self._away:
                self._away = False
                log.warning("memoryd is back")
        self._replay()
        with self._lock:
            if not self._queue:
                if not self._behind and not self._closed:
                    self._remove(self._journal)
                self._idle.set()
        return 0.0

    def _take(self) -> list[str]:
        """Takes the next batch. What the one before holds was delivered."""
        batch: list[tuple[str, bool]] = []
        size = 0
        with self._lock:
            if self._closed:
                return []
            while (
                self._queue and len(batch) < BATCH_CALLS and (not batch or size + len(self._queue[0][0]) <= BATCH_BYTES)
            ):
                batch.append(self._queue.popleft())
                size += len(batch[-1][0])
            self._bytes -= size
            self._under_way = batch
        return [line for line, _ in batch]

    def _back(self) -> None:
        """Leaves a batch that could not be sent to the journal; what is not in it goes back to the queue's head."""
        with self._lock:
            if self._closed:
                return  # close has counted it
            batch, self._under_way = self._under_way, []
            kept = sum(k for _, k in batch)
            self.stats.journaled += kept
            self._behind = self._behind or kept > 0
            for line, k in reversed(batch):
                if not k:
                    self._queue.appendleft((line, k))
                    self._bytes += len(line)
            if not self._queue:
                self._idle.set()

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
            self._answered(len(batch), len(batch), e)
            return
        rejected = answer["metadata"].get("rejected") or []
        self._answered(len(batch), len(rejected), rejected[0].get("reason") if rejected else "")

    def _answered(self, sent: int, refused: int, why: object) -> None:
        """Counts calls that the server answered, unless close has counted them as unanswered."""
        with self._lock:
            if self._closed:
                return
            del self._under_way[:sent]
            self.stats.rejected += refused
            self.stats.recorded += sent - refused
        if refused:
            log.warning("%d call(s) were refused: %s", refused, why)

    def _write(self, line: str) -> bool:
        """Appends a call to the journal; tells whether it did."""
        if self._journal is None:
            return False
        try:
            private = os.open(self._journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with open(private, "a", encoding="utf-8") as f:
                if not f.tell():
                    f.write(json.dumps({_HEAD: self._whom()}, separators=(",", ":")) + "\n")
                f.write(json.dumps(mask(json.loads(line)), separators=(",", ":")) + "\n")
        except OSError as e:
            log.warning("journal %s: %s", self._journal, e)
            self._journal = None
            return False
        return True

    def _remove(self, path: str | None) -> None:
        if path:
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)

    def _replay(self) -> None:
        """Delivers what this recorder's journal holds and its queue does not, then those of recorders that are gone.

        What is being sent stays on disk until it was accepted.
        """
        if self._journal is None:
            return
        with self._lock:
            if self._queue or self._closed:
                return
            if self._behind:
                with contextlib.suppress(OSError):
                    os.replace(self._journal, f"{self._journal}.sending")
        for path in glob.glob(glob.escape(self._beside) + "*"):
            if path != self._journal and self._may_send(path):
                try:
                    self._send_file(path)
                except (Unavailable, OSError):
                    return  # the file stays; what was sent of it is recognised when it is sent again
                self._remove(path)
        self._behind = False

    def _may_send(self, path: str) -> bool:
        """Tells whether the recorder that wrote a journal is gone, or this one."""
        if path == f"{self._journal}.sending":
            return True
        if path.removesuffix(".sending") in {r._journal for r in list(_live) if not r._closed}:
            return False
        pid = path.removesuffix(".sending")[len(self._beside) :].split("-")[0]
        if not pid.isdigit() or int(pid) == os.getpid():
            return True
        if os.name == "nt":
            return False  # to ask would end it
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return False

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


_HEAD = "memoryd_journal"


def _is_json(line: str) -> bool:
    """Tells a whole call of the journal from its head and from one that a crash cut."""
    try:
        value = json.loads(line)
        return isinstance(value, dict) and _HEAD not in value
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


def _watch_sigterm() -> None:
    """Has SIGTERM end the program as its end does, where nothing else was told to handle it."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        return

    def close_and_die(number: int) -> None:
        _close_all()
        os.kill(os.getpid(), number)

    def end(number: int, frame: Any) -> None:
        signal.signal(number, signal.SIG_DFL)
        try:  # in another thread: this one may hold a recorder's lock
            threading.Thread(target=close_and_die, args=(number,), name="memoryd-end").start()
        except RuntimeError:  # the interpreter is ending
            close_and_die(number)

    with contextlib.suppress(ValueError, OSError):  # an interpreter within another program
        signal.signal(signal.SIGTERM, end)


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
