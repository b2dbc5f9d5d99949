"""OpenAI Agents SDK.

    agent = with_guidelines(Agent(name="a", tools=[function_tool(search)]))

The SDK turns an exception into a text for the model and tells no hook of it, so the tools themselves are wrapped.
"""

from __future__ import annotations

import contextvars
import dataclasses
import functools
import inspect
import json
from collections.abc import Callable, Sequence
from typing import Any

import agents

from .._context import current_run
from .._guidelines import GuidelineCache
from .._recorder import Recorder
from .._tool import Observation

_failure: contextvars.ContextVar[list[BaseException] | None] = contextvars.ContextVar("memoryd_failure", default=None)

# What the SDK puts in the place of an exception for a tool that was not made by function_tool of this module.
_FAILURE_TEXT = "An error occurred while running the tool"


def function_tool(
    function: Callable[..., Any] | None = None, *, recorder: Recorder | None = None, **options: Any
) -> Any:
    """Is agents.function_tool, with the calls recorded; options are passed on."""

    def make(f: Callable[..., Any]) -> agents.FunctionTool:
        tool = agents.function_tool(_noting_failures(f), **options)
        return recorded([tool], recorder=recorder)[0]

    return make if function is None else make(function)


def recorded(tools: Sequence[agents.FunctionTool], *, recorder: Recorder | None = None) -> list[agents.FunctionTool]:
    """Gives tools that record their calls and are otherwise the same."""
    return [dataclasses.replace(t, on_invoke_tool=_invoker(t, recorder)) for t in tools]


def with_guidelines(agent: Any, *, max_tokens: int = 800, cache: GuidelineCache | None = None) -> Any:
    """Gives an agent whose instructions end with the guidelines of its tools, as they are at each run."""
    kept = cache or GuidelineCache()
    before = agent.instructions

    async def instructions(context: Any, inner: Any) -> str:
        text = before
        if callable(before):
            text = before(context, inner)
            if inspect.isawaitable(text):
                text = await text
        import asyncio

        notes = await asyncio.to_thread(kept.text, [t.name for t in inner.tools], max_tokens=max_tokens)
        return f"{text or ''}\n\n{notes}".strip()

    return agent.clone(instructions=instructions)


def _invoker(tool: agents.FunctionTool, recorder: Recorder | None) -> Callable[..., Any]:
    invoke = tool.on_invoke_tool

    async def on_invoke_tool(context: Any, arguments: str) -> Any:
        session = getattr(getattr(context, "run_config", None), "group_id", "") or ""
        extra = {"session_id": session} if session and not current_run().session_id else {}
        observation = Observation(
            tool.name,
            _parsed(arguments),
            recorder=recorder,
            tool_call_id=getattr(context, "tool_call_id", None),
            **extra,
        )
        failures: list[BaseException] = []
        token = _failure.set(failures)
        try:
            result = await invoke(context, arguments)
        except BaseException as e:
            observation.finish(error=failures[-1] if failures else e)
            raise
        finally:
            _failure.reset(token)
        if failures:
            observation.finish(error=failures[-1])
        else:
            observation.finish(result, success=not str(result).startswith(_FAILURE_TEXT))
        return result

    return on_invoke_tool


def _noting_failures(f: Callable[..., Any]) -> Callable[..., Any]:
    """Notes the exception of a function for the call that is under way; the exception passes on."""

    def note(e: BaseException) -> None:
        failures = _failure.get()
        if failures is not None:
            failures.append(e)

    if inspect.iscoroutinefunction(f):

        @functools.wraps(f)
        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            try:
                return await f(*args, **kwargs)
            except BaseException as e:
                note(e)
                raise

        return coroutine

    @functools.wraps(f)
    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            return f(*args, **kwargs)
        except BaseException as e:
            note(e)
            raise

    return function


def _parsed(arguments: str) -> Any:
    try:
        value = json.loads(arguments) if arguments else {}
    except ValueError:
        return arguments
    return value if isinstance(value, dict) else arguments
