from __future__ import annotations

import asyncio
import json

import pytest

agents = pytest.importorskip("agents", reason="openai-agents is not installed")

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage  # noqa: E402
from openai.types.responses import (  # noqa: E402
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from patience import cancel_once  # noqa: E402

import memoryd  # noqa: E402
from memoryd.integrations import openai_agents as adapter  # noqa: E402


class Scripted(Model):
    def __init__(self, *replies: list) -> None:
        self.replies, self.seen = [*replies, [said("done")]], []

    async def get_response(self, system_instructions, input, *args, **kwargs) -> ModelResponse:
        self.seen.append((system_instructions, input))
        return ModelResponse(output=self.replies[len(self.seen) - 1], usage=Usage(), response_id=None)

    async def stream_response(self, system_instructions, input, *args, **kwargs):
        reply = await self.get_response(system_instructions, input)
        response = Response(
            id="r",
            created_at=0,
            model="scripted",
            object="response",
            output=reply.output,
            tool_choice="auto",
            tools=[],
            parallel_tool_calls=True,
        )
        yield ResponseCompletedEvent(type="response.completed", response=response, sequence_number=0)


def said(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[part])


def call(name: str, arguments: dict | str, id: str) -> ResponseFunctionToolCall:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ResponseFunctionToolCall(type="function_call", name=name, arguments=text, call_id=id)


def search(query: str) -> str:
    """Finds."""
    return f"rain in {query}"


def broken(x: int) -> str:
    """Raises."""
    raise RuntimeError("disk full")


napping: list[float] = []  # what slow was called with


async def slow(seconds: float) -> str:
    """Waits."""
    napping.append(seconds)
    await asyncio.sleep(seconds)
    return "woke"


def run(recorder, *replies, tools=(search, broken)):
    model = Scripted(*replies)
    agent = Agent(
        name="a",
        instructions="Be brief.",
        model=model,
        tools=[adapter.function_tool(t, recorder=recorder) for t in tools],
    )
    result = Runner.run_sync(agent, "go", run_config=RunConfig(tracing_disabled=True))
    return model, result


def test_calls_are_recorded_with_their_truth_and_id(recorder, outcome, recorded) -> None:
    with memoryd.run("run-7"):
        model, result = run(
            recorder,
            [
                call("search", {"query": "Oslo"}, "c1"),
                call("search", {"query": "Bergen"}, "c2"),
                call("broken", {"x": 1}, "c3"),
            ],
        )
    assert result.final_output == "done"
    assert sorted(o for _, _, o in outcome("search")) == ["rain in Bergen", "rain in Oslo"]
    assert outcome("broken") == [({"x": 1}, False, "RuntimeError: disk full")]
    metadata = recorded("broken")[0]["metadata"]
    assert (metadata["tool_call_id"], metadata["trajectory_id"]) == ("c3", "run-7")
    assert "An error occurred" in json.dumps(
        model.seen[1][1], default=str
    )  # the model sees what it saw without memoryd


def test_time_outs_and_bad_arguments_are_failures(recorder, outcome) -> None:
    model = Scripted([call("slow", {"seconds": 30}, "c1"), call("slow", {"seconds": "soon"}, "c2")])
    tool = adapter.function_tool(slow, recorder=recorder, timeout=0.1)
    agent = Agent(name="a", model=model, tools=[tool])
    Runner.run_sync(agent, "go", run_config=RunConfig(tracing_disabled=True))
    found = sorted(outcome("slow"), key=str)
    assert [(i, s) for i, s, _ in found] == [({"seconds": "soon"}, False), ({"seconds": 30}, False)]


def test_streamed_and_cancelled_runs(recorder, outcome) -> None:
    def agent(*calls) -> Agent:
        tools = [adapter.function_tool(search, recorder=recorder), adapter.function_tool(slow, recorder=recorder)]
        return Agent(name="a", model=Scripted(list(calls)), tools=tools)

    async def main() -> str:
        config = RunConfig(tracing_disabled=True)
        result = Runner.run_streamed(agent(call("search", {"query": "Oslo"}, "c1")), "go", run_config=config)
        async for _ in result.stream_events():
            pass
        doomed = Runner.run(agent(call("slow", {"seconds": 3000}, "c2")), "go", run_config=config)
        await cancel_once(lambda: 3000 in napping, doomed)
        return result.final_output

    assert asyncio.run(main()) == "done"
    assert outcome("search") == [({"query": "Oslo"}, True, "rain in Oslo")]
    assert outcome("slow") == [({"seconds": 3000}, False, "CancelledError: the call was cancelled before it ended")]


def test_tools_made_elsewhere_are_recorded_too(recorder, outcome) -> None:
    model = Scripted([call("broken", {"x": 1}, "c1"), call("search", {"query": "Oslo"}, "c2")])
    tools = adapter.recorded([agents.function_tool(search), agents.function_tool(broken)], recorder=recorder)
    Runner.run_sync(Agent(name="a", model=model, tools=tools), "go", run_config=RunConfig(tracing_disabled=True))
    assert [s for _, s, _ in outcome("broken") + outcome("search")] == [False, True]


def test_the_guideline_is_in_the_next_prompt(recorder, cache, guided) -> None:
    line = guided("search")
    model = Scripted()
    agent = Agent(
        name="a", instructions="Be brief.", model=model, tools=[adapter.function_tool(search, recorder=recorder)]
    )
    Runner.run_sync(adapter.with_guidelines(agent, cache=cache), "go", run_config=RunConfig(tracing_disabled=True))
    system = model.seen[0][0]
    assert system.startswith("Be brief.") and line in system


def test_memoryd_away_changes_nothing() -> None:
    away = memoryd.Recorder(memoryd.Client("127.0.0.1:1"), close_timeout=0.1)
    _, result = run(away, [call("search", {"query": "Oslo"}, "c1")])
    assert result.final_output == "done"
    away.close()
