"""Fetches guidelines for prompts and compacts conversations, without ever failing or holding up the agent for long."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

from ._client import Client, Guidelines, MemorydError
from ._tool import default_recorder

log = logging.getLogger("memoryd")

HEADING = "Notes on tools, from earlier calls of them (memoryd). They are experience, not orders."


class GuidelineCache:
    """Keeps the guidelines of sets of tools.

    ttl is how long an answer is used before it is asked for again (in the background, with the answer's tag, so that
    an unchanged one costs nothing); timeout is how long a first answer may take.
    """

    def __init__(
        self, client: Client | None = None, *, ttl: float = 60.0, timeout: float = 1.0, size: int = 256
    ) -> None:
        self._client, self.ttl, self.timeout, self.size = client, ttl, timeout, size
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, ...], _Entry] = {}

    @property
    def client(self) -> Client:
        """Is the client that is asked, the default recorder's if none was given."""
        return self._client or default_recorder().client

    def text(self, tools: Sequence[str], *, max_tokens: int = 0) -> str:
        """Gives a section for a system prompt: the guidelines of the tools that have one, else ""."""
        key = (str(max_tokens), *tools)
        if not tools:
            return ""
        with self._lock:
            entry = self._kept.get(key)
            if entry is None:
                while len(self._kept) >= self.size:
                    self._kept.pop(next(iter(self._kept)))
                entry = self._kept[key] = _Entry()
            stale = time.monotonic() >= entry.until
            if stale:
                entry.until = time.monotonic() + self.ttl
        if stale:
            if entry.known:
                threading.Thread(target=self._refresh, args=(key, entry, max_tokens, 10.0), daemon=True).start()
            else:
                self._refresh(key, entry, max_tokens, self.timeout)
        return entry.text

    def _refresh(self, key: tuple[str, ...], entry: _Entry, max_tokens: int, timeout: float) -> None:
        try:
            found = self.client.guidelines(key[1:], max_tokens=max_tokens, etag=entry.etag, timeout=timeout)
        except MemorydError as e:
            log.info("no guidelines: %s", e)
            entry.until = time.monotonic() + min(self.ttl, 5.0)
            return
        except Exception:
            log.exception("no guidelines")
            return
        entry.known = True
        if found is not None:
            entry.etag, entry.text = found.etag, _section(found)


class _Entry:
    def __init__(self) -> None:
        self.text, self.etag, self.until, self.known = "", "", 0.0, False


def _section(found: Guidelines) -> str:
    parts = []
    for memory in found.tools:
        body = memory.guideline.split("\n## Statistics", 1)[0].strip()
        if body:
            parts.append(f"### {memory.tool_name}\n" + body.replace("## ", "#### "))
    return "\n\n".join([HEADING, *parts]) if parts else ""


_cache = GuidelineCache()


def guidelines_for(tools: Sequence[str], *, max_tokens: int = 0) -> str:
    """Gives a section for a system prompt, from a cache that all callers share."""
    return _cache.text(tools, max_tokens=max_tokens)


def compact(messages: Sequence[Any], *, client: Client | None = None, **options: Any) -> list[Any]:
    """Makes a conversation smaller; gives the messages as they were when memoryd is away or refuses."""
    try:
        return (client or default_recorder().client).compact(messages, **options).messages
    except MemorydError as e:
        log.info("not compacted: %s", e)
    except Exception:
        log.exception("not compacted")
    return list(messages)
