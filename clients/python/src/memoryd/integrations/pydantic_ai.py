"""Pydantic AI 2.x: a capability.

agent = Agent(model, tools=[search], capabilities=[MemorydCapability()])
"""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import InstructionPart

from .._context import current_run
from .._guidelines import GuidelineCache
from .._recorder import Recorder
from .._tool import Observation


class MemorydCapability(AbstractCapability[Any]):
    """Records each tool call, those with invalid arguments too, and adds the guidelines of the request's tools.

    guideline_tokens is the budget of the guidelines (0: none). The run id of the agent is the run of the calls where
    memoryd.run names none.
    """

    def __init__(
        self, *, recorder: Recorder | None = None, guideline_tokens: int = 800, cache: GuidelineCache | None = None
    ) -> None:
        self.recorder, self.guideline_tokens = recorder, guideline_tokens
        self.cache = cache or GuidelineCache(recorder.client if recorder else None)

    async def wrap_tool_validate(
        self, ctx: RunContext[Any], *, call: Any, tool_def: Any, args: Any, handler: Any
    ) -> Any:
        """Records a call whose arguments do not fit: the tool itself never sees it."""
        observation = self._start(ctx, call, args)
        try:
            return await handler(args)
        except Exception as e:
            observation.finish(error=e)
            raise

    async def wrap_tool_execute(
        self, ctx: RunContext[Any], *, call: Any, tool_def: Any, args: Any, handler: Any
    ) -> Any:
        """Records a call that was made; what it raises passes through."""
        observation = self._start(ctx, call, args)
        try:
            result = await handler(args)
        except BaseException as e:
            observation.finish(error=e)
            raise
        observation.finish(result)
        return result

    async def before_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
        """Adds the guidelines to the instructions of a request."""
        parameters = request_context.model_request_parameters
        names = [t.name for t in parameters.function_tools]
        if not names or not self.guideline_tokens:
            return request_context
        text = await asyncio.to_thread(self.cache.text, names, max_tokens=self.guideline_tokens)
        if not text:
            return request_context
        parts = [*(parameters.instruction_parts or []), InstructionPart(content=text, dynamic=True)]
        changed = dataclasses.replace(parameters, instruction_parts=parts)
        return dataclasses.replace(request_context, model_request_parameters=changed)

    def _start(self, ctx: RunContext[Any], call: Any, args: Any) -> Observation:
        extra = {} if current_run().run_id else {"trajectory_id": ctx.run_id}
        return Observation(call.tool_name, args, recorder=self.recorder, tool_call_id=call.tool_call_id, **extra)
