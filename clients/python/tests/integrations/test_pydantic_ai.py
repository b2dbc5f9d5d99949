from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")

from patience import cancel_once
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel

import memoryd
from memoryd.integrations.pydantic_ai import MemorydCapability

napping: list[float] = []  # what slow was called with


def build(recorder, cache, *replies):
    seen = []

    def model(messages, info):
        seen.append(info.instructions or "")
        return [*replies, ModelResponse([TextPart("done")])][len(seen) - 1]

    agent = Agent(
        FunctionModel(model), instructions="Be brief.", capabilities=[MemorydCapability(recorder=recorder, cache=cache)]
    )

    @agent.tool_plain
    def search(query: str) -> str:
        return f"rain in {query}"

    @agent.tool_plain(retries=2)
    def picky(x: int) -> str:
        if x < 10:
            raise ModelRetry(f"{x} is too small")
        return "fine"

    @agent.tool_plain
    def broken(x: int) -> str:
        raise RuntimeError("disk full")

    @agent.tool_plain
    async def slow(seconds: float) -> str:
        napping.append(seconds)
        await asyncio.sleep(seconds)
        return "woke"

    return agent, seen


def call(name: str, args: dict, id: str) -> ToolCallPart:
    return ToolCallPart(name, args, tool_call_id=id)


def test_calls_are_recorded_with_their_truth_and_id(recorder, cache, outcome, recorded) -> None:
    agent, _ = build(
        recorder,
        cache,
        ModelResponse([call("search", {"query": "Oslo"}, "c1"), call("search", {"query": "Bergen"}, "c2")]),
        ModelResponse([call("picky", {"x": 1}, "c3")]),
        ModelResponse([call("picky", {"x": "many"}, "c4")]),
        ModelResponse([call("picky", {"x": 11}, "c5")]),
    )
    with memoryd.run("run-7"):
        assert agent.run_sync("go").output == "done"
    assert sorted(o for _, _, o in outcome("search")) == ["rain in Bergen", "rain in Oslo"]
    found = outcome("picky")
    assert [(i["x"], s) for i, s, _ in found] == [(1, False), ("many", False), (11, True)]
    assert "too small" in found[0][2]
    metadata = recorded("picky")[0]["metadata"]
    assert (metadata["tool_call_id"], metadata["trajectory_id"]) == ("c3", "run-7")


def test_exceptions_and_cancellation_pass_through(recorder, cache, outcome) -> None:
    agent, _ = build(recorder, cache, ModelResponse([call("broken", {"x": 1}, "c1")]))
    with pytest.raises(RuntimeError, match="disk full"):
        agent.run_sync("go")
    agent, _ = build(recorder, cache, ModelResponse([call("slow", {"seconds": 3000}, "c1")]))
    asyncio.run(cancel_once(lambda: 3000 in napping, agent.run("go")))
    assert outcome("broken") == [({"x": 1}, False, "RuntimeError: disk full")]
    assert outcome("slow") == [({"seconds": 3000}, False, "CancelledError: the call was cancelled before it ended")]


def test_a_streamed_run(recorder, cache, outcome) -> None:
    async def stream(messages, info):
        if len(messages) == 1:
            yield {0: DeltaToolCall("search", '{"query": "Oslo"}', tool_call_id="c1")}
        else:
            yield "done"

    agent = Agent(
        FunctionModel(stream_function=stream), capabilities=[MemorydCapability(recorder=recorder, cache=cache)]
    )

    @agent.tool_plain
    def search(query: str) -> str:
        return f"rain in {query}"

    async def main() -> str:
        async with agent.run_stream("go") as result:
            return await result.get_output()

    assert asyncio.run(main()) == "done"
    assert outcome("search") == [({"query": "Oslo"}, True, "rain in Oslo")]


def test_the_guideline_is_in_the_next_prompt(recorder, cache, guided) -> None:
    line = guided("search")
    agent, seen = build(recorder, cache)
    agent.run_sync("go")
    assert "Be brief." in seen[0] and line in seen[0]


def test_memoryd_away_changes_nothing() -> None:
    away = memoryd.Recorder(memoryd.Client("127.0.0.1:1"), close_timeout=0.1)
    agent, _ = build(away, memoryd.GuidelineCache(away.client), ModelResponse([call("search", {"query": "x"}, "c1")]))
    assert agent.run_sync("go").output == "done"
    away.close()
