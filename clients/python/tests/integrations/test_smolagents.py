from __future__ import annotations

import pytest

pytest.importorskip("smolagents", reason="smolagents is not installed")

from smolagents import CodeAgent, Model, ToolCallingAgent, tool
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
)
from smolagents.monitoring import LogLevel

import memoryd
from memoryd.integrations.smolagents import observe


class Scripted(Model):
    def __init__(self, *replies) -> None:
        super().__init__(model_id="scripted")
        self.replies, self.seen = replies, []

    def generate(self, messages, **kwargs) -> ChatMessage:
        self.seen.append(messages)
        reply = self.replies[len(self.seen) - 1]
        if isinstance(reply, str):
            return ChatMessage(role=MessageRole.ASSISTANT, content=reply)
        calls = [
            ChatMessageToolCall(id=f"c{i}", type="function", function=ChatMessageToolCallFunction(name=n, arguments=a))
            for i, (n, a) in enumerate(reply)
        ]
        return ChatMessage(role=MessageRole.ASSISTANT, content=None, tool_calls=calls)


@tool
def search(query: str) -> str:
    """Finds.

    Args:
        query: what to find
    """
    return f"rain in {query}"


@tool
def broken(x: int) -> str:
    """Raises.

    Args:
        x: a number
    """
    raise RuntimeError("disk full")


DONE = [("final_answer", {"answer": "done"})]


def calling(recorder, cache, *replies):
    model = Scripted(*replies, DONE)
    agent = ToolCallingAgent(
        tools=[search, broken], model=model, instructions="Be brief.", verbosity_level=LogLevel.OFF
    )
    return model, observe(agent, recorder=recorder, cache=cache)


def test_calls_are_recorded_with_their_truth(recorder, cache, outcome, recorded) -> None:
    _, agent = calling(
        recorder,
        cache,
        [("search", {"query": "Oslo"}), ("search", {"query": "Bergen"})],
        [("broken", {"x": 1})],
        [("search", {"wrong": 1})],
    )
    with memoryd.run("run-7"):
        assert agent.run("go") == "done"
    found = outcome("search")
    assert sorted(o for _, ok, o in found if ok) == ["rain in Bergen", "rain in Oslo"]
    assert [i for i, ok, _ in found if not ok] == [{"wrong": 1}]
    assert outcome("broken") == [({"x": 1}, False, "RuntimeError: disk full")]
    assert recorded("broken")[0]["metadata"]["trajectory_id"] == "run-7"


def test_code_agents_are_recorded_where_the_code_calls(recorder, cache, outcome) -> None:
    model = Scripted('<code>\nsearch("Oslo")\nsearch(query="Bergen")\n</code>', '<code>\nfinal_answer("done")\n</code>')
    agent = observe(
        CodeAgent(tools=[search], model=model, verbosity_level=LogLevel.OFF), recorder=recorder, cache=cache
    )
    assert agent.run("go") == "done"
    assert [(i, ok) for i, ok, _ in outcome("search")] == [({"query": "Oslo"}, True), ({"query": "Bergen"}, True)]


def test_the_guideline_is_in_the_next_prompt(recorder, cache, guided) -> None:
    line = guided("search")
    model, agent = calling(recorder, cache)
    agent.run("go")
    system = str(model.seen[0][0].content)
    assert "Be brief." in system and line in system


def test_memoryd_away_changes_nothing() -> None:
    away = memoryd.Recorder(memoryd.Client("127.0.0.1:1"), close_timeout=0.1)
    _, agent = calling(away, memoryd.GuidelineCache(away.client), [("search", {"query": "x"})])
    assert agent.run("go") == "done"
    away.close()
