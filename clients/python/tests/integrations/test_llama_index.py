from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.agent.workflow.workflow_events import ToolCall
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from patience import cancel_once

import memoryd
from memoryd.integrations import llama_index as adapter


class Scripted(FunctionCallingLLM):
    replies: list
    seen: list = []  # noqa: RUF012

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True, is_chat_model=True)

    def _prepare_chat_with_tools(self, tools, user_msg=None, chat_history=None, **kwargs: Any) -> dict:
        return {"messages": chat_history or []}

    def get_tool_calls_from_response(self, response, error_on_no_tool_call=True, **kwargs: Any) -> list[ToolSelection]:
        return response.message.additional_kwargs.get("tool_calls", [])

    async def astream_chat_with_tools(self, tools, user_msg=None, chat_history=None, **kwargs: Any):
        self.seen.append(str(chat_history[0].content))
        calls = self.replies[len(self.seen) - 1]

        async def one():
            text = "done" if not calls else ""
            message = ChatMessage(
                role="assistant", content=text, additional_kwargs={"tool_calls": calls} if calls else {}
            )
            yield ChatResponse(message=message, delta=text)

        return one()

    def chat(self, *a, **k):
        raise NotImplementedError

    def complete(self, *a, **k):
        raise NotImplementedError

    def stream_chat(self, *a, **k):
        raise NotImplementedError

    def stream_complete(self, *a, **k):
        raise NotImplementedError

    async def achat(self, *a, **k):
        raise NotImplementedError

    async def acomplete(self, *a, **k):
        raise NotImplementedError

    async def astream_chat(self, *a, **k):
        raise NotImplementedError

    async def astream_complete(self, *a, **k):
        raise NotImplementedError


def call(name: str, args: dict, id: str) -> ToolSelection:
    return ToolSelection(tool_id=id, tool_name=name, tool_kwargs=args)


def search(query: str) -> str:
    """Finds."""
    return f"rain in {query}"


def broken(x: int) -> str:
    """Raises."""
    raise RuntimeError("disk full")


async def slow(seconds: float) -> str:
    """Waits."""
    await asyncio.sleep(seconds)
    return "woke"


def agent(*replies, prompt="Be brief.") -> tuple[Scripted, FunctionAgent]:
    model = Scripted(replies=[*replies, []], seen=[])
    return model, FunctionAgent(tools=[search, broken, slow], llm=model, system_prompt=prompt, streaming=True)


def test_calls_are_recorded_with_their_truth_and_id(recorder, outcome, recorded) -> None:
    _, a = agent(
        [call("search", {"query": "Oslo"}, "c1"), call("search", {"query": "Bergen"}, "c2")],
        [call("broken", {"x": 1}, "c3")],
    )

    async def main():
        with memoryd.run("run-7"):
            return await adapter.run(a, "go", recorder=recorder)

    assert str(asyncio.run(main())) == "done"
    assert sorted(o for _, _, o in outcome("search")) == ["rain in Bergen", "rain in Oslo"]
    (found,) = outcome("broken")
    assert found[:2] == ({"x": 1}, False) and "disk full" in found[2]
    metadata = recorded("broken")[0]["metadata"]
    assert (metadata["tool_call_id"], metadata["trajectory_id"]) == ("c3", "run-7")


def test_a_call_without_a_result_is_a_failure(recorder, outcome) -> None:
    _, a = agent([call("slow", {"seconds": 30}, "c1")])

    async def main() -> None:
        handler = a.run("go")
        seen: list = []

        async def watch() -> None:
            async for event in adapter.observe(handler, recorder=recorder):
                seen.append(event)

        await cancel_once(lambda: any(isinstance(e, ToolCall) for e in seen), watch())
        await handler.cancel_run()
        with pytest.raises(BaseException):  # noqa: B017
            await handler

    asyncio.run(main())
    assert outcome("slow") == [({"seconds": 30}, False, "The run ended before the call did")]


def test_the_guideline_is_in_the_next_prompt(recorder, cache, guided) -> None:
    line = guided("search")
    model, a = agent(prompt=adapter.system_prompt("Be brief.", [search], cache=cache))

    async def main() -> None:
        await adapter.run(a, "go", recorder=recorder)

    asyncio.run(main())
    assert model.seen[0].startswith("Be brief.") and line in model.seen[0]
