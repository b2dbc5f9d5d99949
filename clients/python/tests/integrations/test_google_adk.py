from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("google.adk", reason="google-adk is not installed")

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from patience import cancel_once

import memoryd
from memoryd.integrations.google_adk import MemorydPlugin


class Scripted(BaseLlm):
    replies: list
    seen: list = []  # noqa: RUF012

    async def generate_content_async(self, llm_request, stream=False):
        self.seen.append(str(llm_request.config.system_instruction))
        parts = self.replies[len(self.seen) - 1]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def call(name: str, args: dict, id: str) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=name, args=args, id=id))


def search(query: str) -> dict:
    """Finds."""
    return {"result": f"rain in {query}"}


def soft(x: int) -> dict:
    """Fails softly."""
    return {"status": "error", "error": f"no {x}"}


napping: list[float] = []  # what slow was called with


async def slow(seconds: float) -> dict:
    """Waits."""
    napping.append(seconds)
    await asyncio.sleep(seconds)
    return {"result": "woke"}


def broken(x: int) -> dict:
    """Raises."""
    raise RuntimeError("disk full")


def run(recorder, cache, *replies, until=None) -> tuple[Scripted, list | None]:
    """Runs the agent to its end, or until something has happened."""
    model = Scripted(model="scripted", replies=[*replies, [types.Part(text="done")]], seen=[])
    agent = LlmAgent(name="ann", model=model, instruction="Be brief.", tools=[search, soft, slow, broken])

    async def main() -> list:
        runner = InMemoryRunner(agent=agent, plugins=[MemorydPlugin(recorder=recorder, cache=cache)])
        session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
        message = types.Content(role="user", parts=[types.Part(text="go")])
        return [e async for e in runner.run_async(user_id="u", session_id=session.id, new_message=message)]

    return model, asyncio.run(main() if until is None else cancel_once(until, main()))


def test_calls_are_recorded_with_their_truth_and_id(recorder, cache, outcome, recorded) -> None:
    with memoryd.run("run-7"):
        _, events = run(
            recorder,
            cache,
            [
                call("search", {"query": "Oslo"}, "c1"),
                call("search", {"query": "Bergen"}, "c2"),
                call("soft", {"x": 1}, "c3"),
            ],
        )
    assert events[-1].content.parts[0].text == "done"
    assert sorted((i["query"], ok) for i, ok, _ in outcome("search")) == [("Bergen", True), ("Oslo", True)]
    assert [(i, ok) for i, ok, _ in outcome("soft")] == [({"x": 1}, False)]
    metadata = recorded("soft")[0]["metadata"]
    assert (metadata["tool_call_id"], metadata["trajectory_id"], metadata["agent_id"]) == ("c3", "run-7", "ann")


def test_an_exception_ends_the_run_as_without_memoryd(recorder, cache, outcome) -> None:
    with pytest.raises(RuntimeError, match="disk full"):
        run(recorder, cache, [call("broken", {"x": 1}, "c1")])
    assert outcome("broken") == [({"x": 1}, False, "RuntimeError: disk full")]


def test_a_cancelled_call_is_a_failure(recorder, cache, outcome) -> None:
    run(recorder, cache, [call("slow", {"seconds": 3000}, "c1")], until=lambda: 3000 in napping)
    assert outcome("slow") == [({"seconds": 3000}, False, "CancelledError: the call was cancelled before it ended")]


def test_the_guideline_is_in_the_next_prompt(recorder, cache, guided) -> None:
    line = guided("search")
    model, _ = run(recorder, cache)
    assert "Be brief." in model.seen[0] and line in model.seen[0]


def test_memoryd_away_changes_nothing() -> None:
    away = memoryd.Recorder(memoryd.Client("127.0.0.1:1"), close_timeout=0.1)
    _, events = run(away, memoryd.GuidelineCache(away.client), [call("search", {"query": "x"}, "c1")])
    assert events[-1].content.parts[0].text == "done"
    away.close()
