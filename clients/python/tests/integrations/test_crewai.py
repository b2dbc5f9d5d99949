from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

if find_spec("crewai"):  # it reads these when it is imported
    os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("OTEL_SDK_DISABLED", "true")
    os.environ.setdefault("CREWAI_TRACING_ENABLED", "false")
pytest.importorskip("crewai", reason="crewai is not installed")

from crewai import Agent, BaseLLM, Crew, Task
from crewai.events import crewai_event_bus
from crewai.tools import tool

import memoryd
from memoryd.integrations import crewai as adapter


class Scripted(BaseLLM):
    replies: list = []  # noqa: RUF012
    seen: list = []  # noqa: RUF012

    def call(self, messages, *args, **kwargs) -> str:
        self.seen.append(messages)
        return self.replies[min(len(self.seen), len(self.replies)) - 1]

    def supports_function_calling(self) -> bool:
        return False


@tool("search")
def search(query: str) -> str:
    """Finds."""
    return f"rain in {query}"


@tool("broken")
def broken(x: int) -> str:
    """Raises."""
    raise RuntimeError("disk full")


def act(name: str, args: str) -> str:
    return f"Thought: I act.\nAction: {name}\nAction Input: {args}\n"


DONE = "Thought: I know.\nFinal Answer: done"


def kickoff(recorder, *replies, backstory="Be brief."):
    model = Scripted(model="scripted")
    model.replies, model.seen = [*replies, DONE], []
    agent = Agent(role="ann", goal="go", backstory=backstory, tools=[search, broken], llm=model, max_iter=8)
    task = Task(description="go", expected_output="a word", agent=agent)
    with crewai_event_bus.scoped_handlers():
        listener = adapter.MemorydListener(recorder=recorder)
        result = Crew(agents=[agent], tasks=[task]).kickoff()
        crewai_event_bus.flush()
        assert listener.recorder is recorder
    return model, result


def test_calls_are_recorded_with_their_truth(recorder, outcome, recorded) -> None:
    with memoryd.run("run-7"):
        _, result = kickoff(recorder, act("search", '{"query": "Oslo"}'), act("broken", '{"x": 1}'))
    assert result.raw == "done"
    assert outcome("search") == [({"query": "Oslo"}, True, "rain in Oslo")]
    assert recorded("search")[0]["metadata"]["trajectory_id"] == "run-7"
    found = outcome("broken")
    assert found and all(not ok and "disk full" in o for _, ok, o in found)


def test_an_answer_from_the_cache_is_no_call(recorder, outcome) -> None:
    kickoff(recorder, act("search", '{"query": "Oslo"}'), act("broken", '{"x": 1}'), act("search", '{"query": "Oslo"}'))
    assert len(outcome("search")) == 1


def test_the_guideline_is_in_the_next_prompt(recorder, cache, guided) -> None:
    line = guided("search")
    model, _ = kickoff(recorder, backstory=adapter.backstory("Be brief.", [search], cache=cache))
    prompt = str(model.seen[0])
    assert "Be brief." in prompt and line in prompt.replace("\\n", "\n")
