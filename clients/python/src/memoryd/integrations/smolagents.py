"""smolagents: wrap the agent.

agent = observe(ToolCallingAgent(tools=[search], model=model))
"""

from __future__ import annotations

import functools
from typing import Any

from smolagents import MultiStepAgent

from .._context import current_run
from .._context import run as new_run
from .._guidelines import GuidelineCache
from .._recorder import Recorder
from .._tool import Observation

# What smolagents itself adds to every agent; it answers and does nothing.
_OWN = "final_answer"


def observe(
    agent: MultiStepAgent,
    *,
    recorder: Recorder | None = None,
    guideline_tokens: int = 800,
    cache: GuidelineCache | None = None,
) -> MultiStepAgent:
    """Records the tool calls of an agent, and adds the guidelines of its tools to its instructions at each run.

    A ToolCallingAgent's calls are recorded with the errors of validation; a CodeAgent's where its code calls a tool.
    smolagents gives tools no call ids. Without memoryd.run each agent.run is a run of its own.
    """
    kept = cache or GuidelineCache(recorder.client if recorder else None)
    if hasattr(agent, "execute_tool_call"):
        agent.execute_tool_call = _calls(agent.execute_tool_call, recorder)
    else:
        for tool in agent.tools.values():
            if tool.name != _OWN:
                tool.forward = _forward(tool, recorder)
    plain, run = agent.instructions or "", agent.run

    @functools.wraps(run)
    def guided(*args: Any, **kwargs: Any) -> Any:
        names = [n for n in agent.tools if n != _OWN]
        text = kept.text(names, max_tokens=guideline_tokens) if guideline_tokens else ""
        agent.instructions = f"{plain}\n\n{text}".strip() or None
        if current_run().run_id or kwargs.get("stream"):
            return run(*args, **kwargs)
        with new_run():
            return run(*args, **kwargs)

    agent.run = guided  # type: ignore[method-assign]
    return agent


def _calls(execute: Any, recorder: Recorder | None) -> Any:
    @functools.wraps(execute)
    def execute_tool_call(tool_name: str, arguments: Any) -> Any:
        if tool_name == _OWN:
            return execute(tool_name, arguments)
        return _recorded(tool_name, arguments, recorder, lambda: execute(tool_name, arguments))

    return execute_tool_call


def _forward(tool: Any, recorder: Recorder | None) -> Any:
    forward, names = tool.forward, list(tool.inputs)

    @functools.wraps(forward)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        return _recorded(tool.name, given, recorder, lambda: forward(*args, **kwargs))

    return recorded


def _recorded(name: str, arguments: Any, recorder: Recorder | None, call: Any) -> Any:
    observation = Observation(name, arguments, recorder=recorder)
    try:
        result = call()
    except BaseException as e:
        # The framework wraps what the tool raised in a text for the model; the cause is what happened.
        observation.finish(error=e.__cause__ or e)
        raise
    observation.finish(result)
    return result
