from __future__ import annotations

import asyncio
import inspect
import os
import time

import pytest
from patience import PATIENCE

import memoryd


def test_a_plain_function_is_recorded_with_named_arguments(recorded) -> None:
    @memoryd.tool
    def search(query: str, *, limit: int = 5) -> str:
        """Finds."""
        return f"Found 2 results for {query}"

    with memoryd.run("run-1", agent_id="ann", session_id="s"):
        assert search("rain", limit=3) == "Found 2 results for rain"
    assert search.__doc__ == "Finds."
    assert str(inspect.signature(search)) == "(query: 'str', *, limit: 'int' = 5) -> 'str'"
    (call,) = recorded("search")
    assert call["input"] == {"query": "rain", "limit": 3}
    assert (call["output"], call["success"]) == ("Found 2 results for rain", True)
    assert {k: call["metadata"][k] for k in ("trajectory_id", "agent_id", "session_id")} == {
        "trajectory_id": "run-1",
        "agent_id": "ann",
        "session_id": "s",
    }
    assert call["time_cost"] > 0


def test_an_exception_is_a_failure_and_passes_through(recorded) -> None:
    @memoryd.tool(name="divide")
    def f(a: int, b: int) -> float:
        return a / b

    with pytest.raises(ZeroDivisionError):
        f(1, 0)
    (call,) = recorded("divide")
    assert (call["success"], call["output"]) == (False, "ZeroDivisionError: division by zero")
    assert call["metadata"]["error_type"] == "ZeroDivisionError"


def test_async_functions_cancellation_and_time_outs(recorded) -> None:
    @memoryd.tool
    async def slow(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "done"

    async def main() -> None:
        assert await slow(0) == "done"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await slow(5)
        await asyncio.gather(*(slow(0.001 * i) for i in range(5)))

    if hasattr(asyncio, "timeout"):
        asyncio.run(main())
        calls = recorded("slow")
        assert [c["success"] for c in calls].count(False) == 1
        assert len(calls) == 7
        assert (
            next(c for c in calls if not c["success"])["output"]
            == "CancelledError: the call was cancelled before it ended"
        )


def test_generators_are_recorded_at_their_end(recorded) -> None:
    @memoryd.tool
    def count(n: int):
        for i in range(n):
            got = yield f"line {i}"
            assert got in (None, "hello")
        return "end"

    assert list(count(3)) == ["line 0", "line 1", "line 2"]
    g = count(2)
    next(g)
    assert g.send("hello") == "line 1"
    g.close()
    outputs = [c["output"] for c in recorded("count")]
    assert outputs == ["line 0line 1line 2", "line 0line 1"]


def test_a_failing_generator_is_a_failure(recorded) -> None:
    @memoryd.tool
    def broken():
        yield "a"
        raise ValueError("no more")

    with pytest.raises(ValueError):
        list(broken())
    assert [(c["success"], c["output"]) for c in recorded("broken")] == [(False, "ValueError: no more")]


def test_async_generators(recorded) -> None:
    @memoryd.tool
    async def stream(n: int):
        for i in range(n):
            yield i

    async def main() -> list[int]:
        return [i async for i in stream(3)]

    assert asyncio.run(main()) == [0, 1, 2]
    assert [c["output"] for c in recorded("stream")] == ["012"]


def test_an_error_result_is_a_failure(recorded) -> None:
    @memoryd.tool
    def mcp_like() -> dict:
        return {"isError": True, "content": "no such file"}

    mcp_like()
    assert [c["success"] for c in recorded("mcp_like")] == [False]


def test_arguments_are_recorded_as_they_were_before_the_call(recorded) -> None:
    @memoryd.tool
    def pop(items: list) -> int:
        return items.pop()

    pop([1, 2])
    assert recorded("pop")[0]["input"] == {"items": [1, 2]}


def test_a_method_is_recorded_without_self(recorded) -> None:
    class Box:
        @memoryd.tool(name="box_get")
        def get(self, key: str, **more: int) -> str:
            return key

    Box().get("k", depth=1)
    assert recorded("box_get")[0]["input"] == {"key": "k", "depth": 1}


def test_a_forecast_may_prevent_a_call(recorder, recorded) -> None:
    seen: list[memoryd.Forecast] = []

    class Refused(Exception): ...

    def look(f: memoryd.Forecast) -> None:
        seen.append(f)
        if len(seen) > 1:
            raise Refused

    @memoryd.tool(on_forecast=look, forecast_timeout=PATIENCE)
    def act(x: int) -> str:
        return "ok"

    act(1)
    with pytest.raises(Refused):
        act(2)
    assert len(recorded("act")) == 1
    assert seen[0].risk is None


def test_what_cannot_be_json_is_text(recorded) -> None:
    @memoryd.tool
    def odd(x: object) -> object:
        return {"when": object, "self": {1, 2}}

    odd(object())
    (call,) = recorded("odd")
    assert call["input"]["x"].startswith('"<object') and call["success"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_sends_its_own_calls_only(recorder, recorded) -> None:
    @memoryd.tool
    def forked(who: str) -> str:
        return who

    recorder.interval = 30
    forked("parent")
    pid = os.fork()
    if pid == 0:
        try:
            forked("child")
            os._exit(0 if recorder.flush(PATIENCE) else 1)
        except BaseException:
            os._exit(2)
    assert os.waitpid(pid, 0)[1] == 0
    assert sorted(c["input"]["who"] for c in recorded("forked")) == ["child", "parent"]


def test_opentelemetrys_span_is_joined(recorded) -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.trace")

    @memoryd.tool
    def traced() -> str:
        return "ok"

    with sdk.TracerProvider().get_tracer("t").start_as_current_span("s") as span:
        traced()
    assert recorded("traced")[0]["metadata"]["trace_id"] == f"{span.get_span_context().trace_id:032x}"


def test_guidelines_reach_the_prompt(recorder, recorded) -> None:
    @memoryd.tool
    def weather(city: str) -> str:
        return "sunny"

    cache = memoryd.GuidelineCache(recorder.client, ttl=0.05, timeout=PATIENCE)
    assert cache.text(["weather"]) == ""
    for i in range(3):
        weather(f"city {i}")
    recorded("weather")
    recorder.client.summarize(["weather"])
    end = time.monotonic() + PATIENCE
    while not (text := cache.text(["weather"])) and time.monotonic() < end:
        time.sleep(0.02)
    assert "### weather" in text and "Statistics" not in text
