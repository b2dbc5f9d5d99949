from __future__ import annotations

import asyncio

import pytest

langchain = pytest.importorskip("langchain.agents", reason="langchain is not installed")

from langchain.agents import create_agent  # noqa: E402
from langchain_core.language_models import BaseChatModel  # noqa: E402
from langchain_core.messages import AIMessage  # noqa: E402
from langchain_core.outputs import ChatGeneration, ChatResult  # noqa: E402
from langchain_core.tools import ToolException, tool  # noqa: E402
from patience import cancel_once  # noqa: E402

import memoryd  # noqa: E402
from memoryd.integrations.langchain import MemorydMiddleware  # noqa: E402


class Scripted(BaseChatModel):
    replies: list
    seen: list = []  # noqa: RUF012

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.seen.append(messages)
        return ChatResult(generations=[ChatGeneration(message=self.replies[len(self.seen) - 1])])


@tool
def search(query: str) -> str:
    """Finds."""
    return f"rain in {query}"


@tool
def refuse(x: int) -> str:
    """Refuses softly."""
    raise ToolException(f"no {x}")


refuse.handle_tool_error = True


napping: list[float] = []  # what slow was called with


@tool
async def slow(seconds: float) -> str:
    """Waits."""
    napping.append(seconds)
    await asyncio.sleep(seconds)
    return "woke"


@tool
def broken(x: int) -> str:
    """Raises."""
    raise RuntimeError("disk full")


def calls(*named: tuple) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": n, "args": a, "id": f"id-{n}-{i}"} for i, (n, a) in enumerate(named)])


def agent(recorder, cache, *replies, **options):
    model = Scripted(replies=[*replies, AIMessage("done")], seen=[])
    middleware = [MemorydMiddleware(recorder=recorder, cache=cache, **options)]
    return model, create_agent(model, [search, refuse, slow, broken], system_prompt="Be brief.", middleware=middleware)


ASK = {"messages": [{"role": "user", "content": "go"}]}


def test_calls_are_recorded_with_their_truth_and_id(recorder, cache, outcome, recorded) -> None:
    _, a = agent(
        recorder, cache, calls(("search", {"query": "Oslo"}), ("search", {"query": "Bergen"}), ("refuse", {"x": 1}))
    )
    with memoryd.run("run-7"):
        answer = a.invoke(ASK)
    assert answer["messages"][-1].content == "done"
    assert sorted(outcome("search"), key=str) == [
        ({"query": "Bergen"}, True, "rain in Bergen"),
        ({"query": "Oslo"}, True, "rain in Oslo"),
    ]
    assert outcome("refuse") == [({"x": 1}, False, "no 1")]
    metadata = recorded("refuse")[0]["metadata"]
    assert (metadata["tool_call_id"], metadata["trajectory_id"]) == ("id-refuse-2", "run-7")


def test_an_exception_ends_the_run_as_without_memoryd(recorder, cache, outcome) -> None:
    _, a = agent(recorder, cache, calls(("broken", {"x": 1})))
    with pytest.raises(RuntimeError, match="disk full"):
        a.invoke(ASK)
    assert outcome("broken") == [({"x": 1}, False, "RuntimeError: disk full")]


def test_async_cancelled_and_streamed(recorder, cache, outcome) -> None:
    _, a = agent(recorder, cache, calls(("slow", {"seconds": 0.01})))
    _, b = agent(recorder, cache, calls(("slow", {"seconds": 3000})))

    async def main() -> list:
        chunks = [c async for c in a.astream(ASK)]
        await cancel_once(lambda: 3000 in napping, b.ainvoke(ASK))
        return chunks

    assert asyncio.run(main())
    assert outcome("slow") == [
        ({"seconds": 0.01}, True, "woke"),
        ({"seconds": 3000}, False, "CancelledError: the call was cancelled before it ended"),
    ]


def test_the_guideline_is_in_the_next_prompt(recorder, cache, guided) -> None:
    line = guided("search")
    model, a = agent(recorder, cache)
    a.invoke(ASK)
    system = model.seen[0][0].text
    assert system.startswith("Be brief.") and line in system


def test_long_conversations_are_compacted_for_the_model_only(recorder, cache) -> None:
    long = [{"role": "user", "content": "Book a table."}]
    for i in range(40):
        long += [
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"id": f"c{i}", "type": "function", "function": {"name": "search", "arguments": '{"query": "x"}'}}
                ],
            },
            {"role": "tool", "tool_call_id": f"c{i}", "content": f"item {i}: " + "words about tables " * 60},
        ]
    long += [{"role": "assistant", "content": "Which one?"}, {"role": "user", "content": "The first."}]
    model, a = agent(recorder, cache, compact_above=3000)
    answer = a.invoke({"messages": long})
    assert len(answer["messages"]) == len(long) + 1
    assert sum(len(str(m.content)) for m in model.seen[0]) < sum(len(str(m["content"])) for m in long) / 2
    assert model.seen[0][-1].content == "The first."


def test_memoryd_away_changes_nothing() -> None:
    away = memoryd.Recorder(memoryd.Client("127.0.0.1:1"), close_timeout=0.1)
    _, a = agent(
        away, memoryd.GuidelineCache(away.client), calls(("search", {"query": "Oslo"})), warn=True, compact_above=10
    )
    assert a.invoke(ASK)["messages"][-2].content == "rain in Oslo"
    away.close()
