"""CrewAI: a listener on its event bus.

listener = MemorydListener()   # keep it as long as crews run
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any

from crewai.events import (
    BaseEventListener,
    ToolUsageErrorEvent,
    ToolUsageFinishedEvent,
    ToolUsageStartedEvent,
)

from .._guidelines import GuidelineCache, guidelines_for
from .._recorder import Recorder
from .._tool import Observation


class MemorydListener(BaseEventListener):
    """Records the tool calls of all crews of the program. An answer from CrewAI's cache is no call and not recorded.

    CrewAI gives calls no ids: a call's start and end are joined by the ids of their events.
    """

    def __init__(self, *, recorder: Recorder | None = None) -> None:
        self.recorder = recorder
        self._under_way: dict[str, Observation] = {}
        self._lock = threading.Lock()
        super().__init__()

    def setup_listeners(self, crewai_event_bus: Any) -> None:
        """Subscribes to the events of tools."""

        @crewai_event_bus.on(ToolUsageStartedEvent)
        def started(source: Any, event: Any) -> None:
            with self._lock:
                self._under_way[event.event_id] = self._start(event)

        @crewai_event_bus.on(ToolUsageFinishedEvent)
        def finished(source: Any, event: Any) -> None:
            observation = self._taken(event)
            if event.from_cache:
                return
            observation = observation or self._start(event)
            failure = getattr(event, "failure", None)
            if failure:
                observation.finish(
                    error=str(getattr(failure, "message", None) or getattr(failure, "error", None) or failure)
                )
            else:
                observation.finish(event.output)

        @crewai_event_bus.on(ToolUsageErrorEvent)
        def failed(source: Any, event: Any) -> None:
            observation = self._taken(event)
            if observation is None and event.started_event_id:
                return  # the end of this call was told already
            (observation or self._start(event)).finish(error=str(event.error))

    def _taken(self, event: Any) -> Observation | None:
        with self._lock:
            return self._under_way.pop(event.started_event_id or "", None)

    def _start(self, event: Any) -> Observation:
        arguments = event.tool_args
        if isinstance(arguments, str):
            try:
                parsed = json.loads(arguments)
                arguments = parsed if isinstance(parsed, dict) else arguments
            except ValueError:
                pass
        extra = {"session_id": event.task_id, "agent_id": event.agent_role or event.agent_key}
        return Observation(
            event.tool_name,
            arguments,
            recorder=self.recorder,
            tool_call_id=event.event_id,
            **{k: v for k, v in extra.items() if v},
        )


def backstory(text: str, tools: Sequence[Any], *, max_tokens: int = 800, cache: GuidelineCache | None = None) -> str:
    """Gives a backstory that ends with the guidelines of the tools, for an Agent's backstory."""
    names = [t.name for t in tools]
    notes = cache.text(names, max_tokens=max_tokens) if cache else guidelines_for(names, max_tokens=max_tokens)
    return f"{text}\n\n{notes}".strip()
