"""LangChain 1.x and LangGraph: a middleware for create_agent.

agent = create_agent(model, tools, middleware=[MemorydMiddleware()])
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest
from langchain_core.messages import SystemMessage, ToolMessage, convert_to_messages, convert_to_openai_messages

from .._client import Forecast, MemorydError
from .._context import current_run
from .._guidelines import GuidelineCache, compact
from .._recorder import Recorder
from .._tool import Observation, default_recorder


class MemorydMiddleware(AgentMiddleware):
    """Records each tool call, puts the guidelines of the request's tools into the system prompt, and more if asked.

    guideline_tokens is the budget of the guidelines (0: none). warn appends a forecast's warnings to the results of
    calls. compact_above compacts the messages of a request that are estimated at more tokens (0: never). The thread
    of the graph is the session of the calls, and their run where memoryd.run names none.
    """

    def __init__(
        self,
        *,
        recorder: Recorder | None = None,
        guideline_tokens: int = 800,
        warn: bool = False,
        compact_above: int = 0,
        cache: GuidelineCache | None = None,
    ) -> None:
        super().__init__()
        self.recorder, self.guideline_tokens, self.warn, self.compact_above = (
            recorder,
            guideline_tokens,
            warn,
            compact_above,
        )
        self.cache = cache or GuidelineCache(recorder.client if recorder else None)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Records the call; exceptions pass through."""
        observation = self._start(request)
        forecast = self._forecast(observation) if self.warn else None
        try:
            result = handler(request)
        except BaseException as e:
            observation.finish(error=e)
            _note(e, forecast)
            raise
        return self._end(observation, result, forecast)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Is wrap_tool_call for async agents."""
        import asyncio

        observation = self._start(request)
        forecast = await asyncio.to_thread(self._forecast, observation) if self.warn else None
        try:
            result = await handler(request)
        except BaseException as e:
            observation.finish(error=e)
            _note(e, forecast)
            raise
        return self._end(observation, result, forecast)

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Any]) -> Any:
        """Adds the guidelines and compacts."""
        return handler(self._prepared(request))

    async def awrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[Any]]) -> Any:
        """Is wrap_model_call for async agents."""
        import asyncio

        return await handler(await asyncio.to_thread(self._prepared, request))

    def _start(self, request: Any) -> Observation:
        call = request.tool_call
        session = _thread(request)
        ids = {"session_id": session, "trajectory_id": "" if current_run().run_id else session}
        return Observation(
            call["name"],
            call["args"],
            recorder=self.recorder,
            tool_call_id=call.get("id"),
            **{k: v for k, v in ids.items() if v},
        )

    def _forecast(self, observation: Observation) -> Forecast | None:
        ids = {
            k: observation.metadata.get(m, "") for k, m in (("run_id", "trajectory_id"), ("session_id", "session_id"))
        }
        try:
            client = (self.recorder or default_recorder()).client
            return client.preflight(observation.tool, observation.input, timeout=0.5, **ids)
        except MemorydError:
            return None

    def _end(self, observation: Observation, result: Any, forecast: Forecast | None) -> Any:
        if isinstance(result, ToolMessage):
            observation.finish(result.content, success=result.status != "error")
            if (notes := _notes(forecast)) and isinstance(result.content, str):
                return result.model_copy(update={"content": f"{result.content}\n\n{notes}"})
        else:  # a Command: what the tool told the graph
            observation.finish(getattr(result, "update", result))
        return result

    def _prepared(self, request: ModelRequest) -> ModelRequest:
        names = [t.name if hasattr(t, "name") else t.get("name", "") for t in request.tools]
        text = (
            self.cache.text([n for n in names if n], max_tokens=self.guideline_tokens) if self.guideline_tokens else ""
        )
        if text:
            before = request.system_message.text if request.system_message else ""
            request = request.override(system_message=SystemMessage(f"{before}\n\n{text}".strip()))
        if self.compact_above:
            plain = convert_to_openai_messages(request.messages)
            plain = plain if isinstance(plain, list) else [plain]
            smaller = compact(plain, client=self.cache.client, max_input_tokens=self.compact_above)
            if smaller != plain:
                request = request.override(messages=list(convert_to_messages(smaller)))  # type: ignore[arg-type]
        return request


def _notes(forecast: Forecast | None) -> str:
    if not forecast or not forecast.warnings:
        return ""
    return "\n".join(["memoryd, from earlier calls:", *(f"- {w.text}" for w in forecast.warnings)])


def _note(error: BaseException, forecast: Forecast | None) -> None:
    """Adds the warnings to what an exception says: whoever makes a message of it passes them on."""
    notes = _notes(forecast)
    if notes and error.args and isinstance(error.args[0], str):
        error.args = (f"{error.args[0]}\n\n{notes}", *error.args[1:])


def _thread(request: Any) -> str:
    config = getattr(getattr(request, "runtime", None), "config", None) or {}
    return str((config.get("configurable") or {}).get("thread_id") or "")
