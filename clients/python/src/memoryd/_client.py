"""Speaks to a memoryd server over HTTP. Needs the standard library only."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import ssl
import threading
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _local
from ._version import __version__

DEFAULT_URL = "http://127.0.0.1:8002"

JSON = dict[str, Any]


class MemorydError(Exception):
    """Says that the server refused a request.

    status is the HTTP status, 200 for a request that was understood but could not be served as asked.
    """

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"memoryd answered {status}: {detail}" if status != 200 else f"memoryd: {detail}")
        self.status = status
        self.detail = detail


class Unavailable(MemorydError):
    """Says that the server is away, overloaded or broken: the same request may succeed later.

    retry_after is the server's own wish in seconds, or None.
    """

    def __init__(self, status: int, detail: str, retry_after: float | None = None) -> None:
        super().__init__(status, detail)
        self.retry_after = retry_after


@dataclass
class Call:
    """One tool call. time_cost is in seconds; token_cost -1 means unknown; create_time is RFC 3339, now if empty."""

    tool_name: str
    input: JSON | str = ""
    output: str = ""
    success: bool = True
    time_cost: float = 0.0
    token_cost: int = -1
    create_time: str = ""
    metadata: JSON = field(default_factory=dict)

    def to_json(self) -> JSON:
        """Gives the item of a request; an empty create_time is left out."""
        item: JSON = {
            "tool_name": self.tool_name,
            "input": self.input,
            "output": self.output,
            "success": self.success,
            "time_cost": self.time_cost,
            "token_cost": self.token_cost,
        }
        if self.create_time:
            item["create_time"] = self.create_time
        if self.metadata:
            item["metadata"] = self.metadata
        return item


@dataclass(frozen=True)
class Recorded:
    """What became of recorded calls; rejected holds {index, reason} for each item that was not taken."""

    added: int
    duplicates: int
    rejected: list[JSON]
    answer: str


@dataclass(frozen=True)
class ToolMemory:
    """What is known of one tool. guideline is "" until one was written."""

    tool_name: str
    guideline: str
    statistics: JSON
    author: str


@dataclass(frozen=True)
class Guidelines:
    """The memories of the tools that were asked for, in that order, and the names that are unknown."""

    tools: list[ToolMemory]
    unknown: list[str]
    text: str
    etag: str = ""


@dataclass(frozen=True)
class CallWarning:
    """One warning of a forecast. severity is "stop", "ask" or "note"; calls are the ids of the calls behind it."""

    text: str
    severity: str
    calls: list[str]


@dataclass(frozen=True)
class Forecast:
    """What the history says of a planned call.

    risk is the probability that it fails, None without a history; suggestion is the input with one change that
    repaired such calls, where one is known.
    """

    risk: float | None
    base_rate: float | None
    warnings: list[CallWarning]
    suggestion: Any
    answer: str


@dataclass(frozen=True)
class Compaction:
    """A compacted conversation. reason is a stable word; report has the sizes and what became of each message."""

    messages: list[Any]
    compacted: bool
    reason: str
    report: JSON


class Client:
    """Calls the endpoints that an agent needs.

    One connection per thread is kept open. Every method raises Unavailable when the server is away and MemorydError
    when it refuses. url, key and workspace default to MEMORYD_URL, MEMORYD_KEY and MEMORYD_WORKSPACE. Without url and
    key it is the memory of this machine: the user's server, which the program memoryd starts in the background where
    none runs (MEMORYD_NO_DAEMON forbids that), else the server at http://127.0.0.1:8002.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        workspace: str | None = None,
        timeout: float = 30.0,
        context: ssl.SSLContext | None = None,
    ) -> None:
        url = url or os.environ.get("MEMORYD_URL") or ""
        self._key = key if key is not None else os.environ.get("MEMORYD_KEY", "")
        self.local = not url and not self._key
        url = url or DEFAULT_URL
        if "://" not in url:
            url = "http://" + url
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url: {url!r} is not an http or https address")
        self.url = url.rstrip("/")
        self.workspace = workspace or os.environ.get("MEMORYD_WORKSPACE") or "default"
        self.timeout = timeout
        self._scheme, self._host, self._port = parts.scheme, parts.hostname, parts.port
        self._prefix = parts.path.rstrip("/")
        self._context = context
        self._local = threading.local()

    def record(self, calls: Sequence[Call], *, wait: bool = False) -> Recorded:
        """Records calls, durably when it returns. wait also waits for their judgement (the server's evaluate.wait)."""
        body = {
            "workspace_id": self.workspace,
            "tool_call_results": [c.to_json() for c in calls],
            "async": not wait,
            "include_history": False,
        }
        answer, _ = self._memory("/add_tool_call_result", body)
        metadata = answer["metadata"]
        counts = metadata.get("deduplication_stats") or {}
        return Recorded(
            added=counts.get("added", 0),
            duplicates=counts.get("deduplicated", 0),
            rejected=metadata.get("rejected") or [],
            answer=answer["answer"],
        )

    def guidelines(
        self,
        tools: Sequence[str],
        *,
        max_tokens: int = 0,
        session_id: str = "",
        etag: str = "",
        timeout: float | None = None,
    ) -> Guidelines | None:
        """Gives what is known of the tools; None when etag is still the answer's."""
        body: JSON = {"workspace_id": self.workspace, "tool_names": list(tools), "include_history": False}
        if max_tokens:
            body["max_tokens"] = max_tokens
        if session_id:
            body["session_id"] = session_id
        headers = {"If-None-Match": etag} if etag else {}
        try:
            answer, tag = self._memory("/retrieve_tool_memory", body, headers, timeout)
        except MemorydError as e:
            if e.status == 304:
                return None
            if e.status == 200 and e.detail.startswith("No matching"):
                return Guidelines([], list(tools), "")
            raise
        metadata = answer["metadata"]
        memories = [
            ToolMemory(
                tool_name=m["when_to_use"],
                guideline=m["content"],
                statistics=(m.get("metadata") or {}).get("statistics") or {},
                author=m.get("author", ""),
            )
            for m in metadata["memory_list"]
        ]
        return Guidelines(memories, metadata.get("unknown_tool_names") or [], answer["answer"], tag)

    def preflight(
        self,
        tool: str,
        input: JSON | str,
        *,
        run_id: str = "",
        agent_id: str = "",
        session_id: str = "",
        timeout: float | None = None,
    ) -> Forecast:
        """Says what the history tells of a call before it is made; run_id names the run that the call belongs to."""
        body: JSON = {"workspace_id": self.workspace, "tool_name": tool, "input": input}
        for name, value in (("trajectory_id", run_id), ("agent_id", agent_id), ("session_id", session_id)):
            if value:
                body[name] = value
        a, _ = self._memory("/preflight_tool_call", body, None, timeout)
        warnings = [
            CallWarning(w["text"], w.get("severity", "note"), w.get("calls") or []) for w in a["warnings"] or []
        ]
        return Forecast(a.get("risk"), a.get("base_rate"), warnings, a.get("suggestion"), a["answer"])

    def compact(self, messages: Sequence[Any], **options: Any) -> Compaction:
        """Makes a conversation smaller; options are the members of the request, such as max_input_tokens or force."""
        body = {"workspace_id": self.workspace, **options, "messages": list(messages)}
        a, _ = self._request("POST", "/compact_conversation", body)
        return Compaction(a["messages"], a["compacted"], a["reason"], a["report"])

    def search(self, query: str, *, limit: int = 10) -> list[JSON]:
        """Finds tools by words of their names and guidelines, and by meaning where the server can; best first."""
        where = f"/v1/workspaces/{urllib.parse.quote(self.workspace, safe='')}/tools"
        a, _ = self._request("GET", f"{where}?{urllib.parse.urlencode({'query': query, 'limit': limit})}")
        tools: list[JSON] = a["tools"]
        return tools

    def summarize(self, tools: Sequence[str], *, force: bool = False) -> str:
        """Has the guidelines of the tools written now; gives the server's answer in words."""
        body = {"workspace_id": self.workspace, "tool_names": list(tools), "force": force}
        answer, _ = self._memory("/summary_tool_memory", body)
        return str(answer["answer"])

    def close(self) -> None:
        """Closes this thread's connection; the next request opens another."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def _memory(
        self, path: str, body: JSON, headers: Mapping[str, str] | None = None, timeout: float | None = None
    ) -> tuple[JSON, str]:
        """Asks a tool-memory endpoint, whose refusals are answers with success false."""
        answer, tag = self._request("POST", path, body, headers, timeout)
        if not answer.get("success", False):
            raise MemorydError(200, str(answer.get("answer", "no reason given")))
        return answer, tag

    def _request(
        self,
        method: str,
        path: str,
        body: JSON | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> tuple[JSON, str]:
        send = {"Accept": "application/json", "User-Agent": f"memoryd-python/{__version__}", **(headers or {})}
        data = None
        if body is not None:
            data = json.dumps(body, separators=(",", ":"), default=str).encode()
            send["Content-Type"] = "application/json"
        if self._key:
            send["Authorization"] = f"Bearer {self._key}"
        # A kept connection may have been closed by the server meanwhile. Every request may be sent twice: calls carry
        # ids by which the server recognises them.
        for attempt in (0, 1):
            fresh = getattr(self._local, "connection", None) is None
            try:
                response, raw = self._exchange(method, self._prefix + path, data, send, timeout or self.timeout)
                break
            except (http.client.HTTPException, OSError) as e:
                self.close()
                if fresh and self.local and isinstance(e, ConnectionRefusedError):
                    _local.start()
                if attempt == 1 or fresh or isinstance(e, TimeoutError):
                    raise Unavailable(0, f"{self.url}: {e or type(e).__name__}") from e
        return self._read(response, raw), response.headers.get("ETag") or ""

    def _exchange(
        self, method: str, path: str, data: bytes | None, headers: Mapping[str, str], timeout: float
    ) -> tuple[http.client.HTTPResponse, bytes]:
        connection: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            if self.local and (path_of := _local.socket_path()):
                connection = _local.Connection(path_of, timeout=timeout)
            elif self._scheme == "https":
                connection = http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._context)
            else:
                connection = http.client.HTTPConnection(self._host, self._port, timeout=timeout)
            self._local.connection = connection
        connection.timeout = timeout
        if connection.sock is not None:
            connection.sock.settimeout(timeout)
        connection.request(method, path, data, dict(headers))
        response = connection.getresponse()
        return response, response.read()

    def _read(self, response: http.client.HTTPResponse, raw: bytes) -> JSON:
        status = response.status
        try:
            answer = json.loads(raw) if raw else {}
        except ValueError:
            answer = None
        if status == 200 and isinstance(answer, dict):
            return answer
        detail = _detail(answer) or raw[:200].decode("utf-8", "replace") or response.reason
        if status == 429 or (status >= 500 and status != 507) or status == 200:
            raise Unavailable(status, detail, _seconds(response.headers.get("Retry-After")))
        raise MemorydError(status, detail)


def _detail(answer: Any) -> str:
    """Finds the sentence for people in an error body."""
    if not isinstance(answer, dict):
        return ""
    detail = answer.get("detail") or answer.get("answer") or answer.get("title") or ""
    if isinstance(detail, list):
        return "; ".join(f"{'.'.join(map(str, d.get('loc', [])))}: {d.get('msg', '')}" for d in detail)
    return str(detail)


def _seconds(value: str | None) -> float | None:
    try:
        return max(0.0, float(value)) if value else None
    except ValueError:
        return None


class AsyncClient:
    """Is Client for asyncio: the same methods, each awaited. The exchange itself runs in a worker thread."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.sync = Client(*args, **kwargs)

    async def record(self, calls: Sequence[Call], *, wait: bool = False) -> Recorded:
        """Is Client.record."""
        return await asyncio.to_thread(self.sync.record, calls, wait=wait)

    async def guidelines(self, tools: Sequence[str], **options: Any) -> Guidelines | None:
        """Is Client.guidelines."""
        return await asyncio.to_thread(self.sync.guidelines, tools, **options)

    async def preflight(self, tool: str, input: JSON | str, **options: Any) -> Forecast:
        """Is Client.preflight."""
        return await asyncio.to_thread(self.sync.preflight, tool, input, **options)

    async def compact(self, messages: Sequence[Any], **options: Any) -> Compaction:
        """Is Client.compact."""
        return await asyncio.to_thread(self.sync.compact, messages, **options)

    async def search(self, query: str, *, limit: int = 10) -> list[JSON]:
        """Is Client.search."""
        return await asyncio.to_thread(self.sync.search, query, limit=limit)

    async def summarize(self, tools: Sequence[str], *, force: bool = False) -> str:
        """Is Client.summarize."""
        return await asyncio.to_thread(self.sync.summarize, tools, force=force)
