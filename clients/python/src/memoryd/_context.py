"""Names the run, agent and session that calls belong to, for this thread or task and what it starts."""

from __future__ import annotations

import contextlib
import sys
import uuid
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class RunContext:
    """The ids that calls carry: run_id becomes metadata.trajectory_id."""

    run_id: str = ""
    agent_id: str = ""
    session_id: str = ""


_NOWHERE = RunContext()
_current: ContextVar[RunContext] = ContextVar("memoryd_run", default=_NOWHERE)


def current_run() -> RunContext:
    """Gives the ids in force here."""
    return _current.get()


@contextlib.contextmanager
def run(run_id: str = "", *, agent_id: str = "", session_id: str = "") -> Iterator[RunContext]:
    """Puts the calls of a with block into one run; without a run_id it gets a new one."""
    outer = _current.get()
    inner = replace(
        outer,
        run_id=run_id or uuid.uuid4().hex,
        agent_id=agent_id or outer.agent_id,
        session_id=session_id or outer.session_id,
    )
    token = _current.set(inner)
    try:
        yield inner
    finally:
        _current.reset(token)


def metadata(**extra: Any) -> dict[str, Any]:
    """Gives the metadata of a call made here: the ids in force, those of OpenTelemetry's span, and extra's."""
    here = _current.get()
    found = {
        "trajectory_id": here.run_id,
        "agent_id": here.agent_id,
        "session_id": here.session_id,
        **_span(),
        **extra,
    }
    return {k: v for k, v in found.items() if v not in ("", None)}


def _span() -> dict[str, str]:
    """Gives the ids of the current span, only where the program has imported OpenTelemetry itself."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return {}
    try:
        span = trace.get_current_span().get_span_context()
        if span.is_valid:
            return {"trace_id": f"{span.trace_id:032x}", "span_id": f"{span.span_id:016x}"}
    except Exception:
        pass
    return {}
