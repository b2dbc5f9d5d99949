"""LlamaIndex workflows' agents: pass the run's handler through observe.

handler = agent.run("...")
async for event in observe(handler): ...
answer = await handler
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from llama_index.core.agent.workflow.workflow_events import ToolCall, ToolCallResult

from .._guidelines import GuidelineCache, guidelines_for
from .._recorder import Recorder
from .._tool import Observation


async def observe(handler: Any, *, recorder: Recorder | None = None) -> AsyncIterator[Any]:
    """Gives the events of a run as they come and records its tool calls; times are those of the events' arrival.

    A call that has no result when the run ends is recorded as failed.
    """
    under_way: dict[str, Observation] = {}
    try:
        async for event in handler.stream_events():
            if isinstance(event, ToolCallResult):
                observation = under_way.pop(event.tool_id, None) or _start(event, recorder)
                _finish(observation, event.tool_output)
            elif isinstance(event, ToolCall):
                under_way[event.tool_id] = _start(event, recorder)
            yield event
    finally:
        for observation in under_way.values():
            observation.finish(error="The run ended before the call did")


async def run(agent: Any, *args: Any, recorder: Recorder | None = None, **kwargs: Any) -> Any:
    """Runs an agent to its end with its tool calls recorded; gives what agent.run gives."""
    handler = agent.run(*args, **kwargs)
    async for _ in observe(handler, recorder=recorder):
        pass
    return await handler


def system_prompt(
    prompt: str, tools: Sequence[Any], *, max_tokens: int = 800, cache: GuidelineCache | None = None
) -> str:
    """Gives a system prompt that ends with the guidelines of the tools, for an agent's system_prompt."""
    names = [t.metadata.get_name() if hasattr(t, "metadata") else getattr(t, "__name__", str(t)) for t in tools]
    text = cache.text(names, max_tokens=max_tokens) if cache else guidelines_for(names, max_tokens=max_tokens)
    return f"{prompt}\n\n{text}".strip()


def _start(event: Any, recorder: Recorder | None) -> Observation:
    return Observation(event.tool_name, event.tool_kwargs, recorder=recorder, tool_call_id=event.tool_id)


def _finish(observation: Observation, output: Any) -> None:
    error = getattr(output, "exception", None)
    if isinstance(error, BaseException):
        observation.finish(error=error)
    else:
        observation.finish(output.content, success=not output.is_error)
