"""Google ADK: a plugin of the runner.

runner = InMemoryRunner(agent=agent, plugins=[MemorydPlugin()])
"""

from __future__ import annotations

import asyncio
from typing import Any

from google.adk.plugins import BasePlugin

from .._context import current_run
from .._guidelines import GuidelineCache
from .._recorder import Recorder
from .._tool import Observation


class MemorydPlugin(BasePlugin):
    """Records each tool call and adds the guidelines of a request's tools to its instructions.

    guideline_tokens is the budget of the guidelines (0: none). The invocation is the run of the calls where
    memoryd.run names none. No callback returns a value, so that nothing is replaced.
    """

    def __init__(
        self,
        *,
        recorder: Recorder | None = None,
        guideline_tokens: int = 800,
        cache: GuidelineCache | None = None,
        name: str = "memoryd",
    ) -> None:
        super().__init__(name=name)
        self.recorder, self.guideline_tokens = recorder, guideline_tokens
        self.cache = cache or GuidelineCache(recorder.client if recorder else None)
        self._under_way: dict[tuple[str, str], Observation] = {}

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> None:
        """Starts the clock of a call. One whose task ends without a result, because it was cancelled, has failed."""
        key = _key(tool_context)
        observation = self._under_way[key] = self._start(tool, tool_args, tool_context)

        def ended(_: Any) -> None:
            if self._under_way.pop(key, None) is observation:
                observation.finish(error=asyncio.CancelledError())

        task = asyncio.current_task()
        if task is not None:
            task.add_done_callback(ended)

    async def after_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, result: dict[str, Any]
    ) -> None:
        """Records a call that gave a result; one with an `error` member, as ADK's own tools give, has failed."""
        failed = isinstance(result, dict) and (bool(result.get("error")) or result.get("status") == "error")
        self._taken(tool, tool_args, tool_context).finish(result, success=not failed)

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, error: Exception
    ) -> None:
        """Records a call that raised; the exception goes its way."""
        self._taken(tool, tool_args, tool_context).finish(error=error)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Adds the guidelines."""
        names = list(llm_request.tools_dict)
        if names and self.guideline_tokens:
            text = await asyncio.to_thread(self.cache.text, names, max_tokens=self.guideline_tokens)
            if text:
                llm_request.append_instructions([text])

    def _taken(self, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> Observation:
        return self._under_way.pop(_key(tool_context), None) or self._start(tool, tool_args, tool_context)

    def _start(self, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> Observation:
        here = current_run()
        extra = {
            "trajectory_id": here.run_id or tool_context.invocation_id,
            "session_id": here.session_id or tool_context.session.id,
            "agent_id": here.agent_id or tool_context.agent_name,
        }
        return Observation(
            tool.name, dict(tool_args), recorder=self.recorder, tool_call_id=tool_context.function_call_id, **extra
        )


def _key(tool_context: Any) -> tuple[str, str]:
    return tool_context.invocation_id, tool_context.function_call_id or ""
