"""What each framework's test checks: every call once, with its truth, and the guideline in the next prompt."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from patience import PATIENCE

import memoryd


@pytest.fixture
def cache(recorder: memoryd.Recorder) -> memoryd.GuidelineCache:
    return memoryd.GuidelineCache(recorder.client, ttl=0, timeout=PATIENCE)


@pytest.fixture
def guided(recorder: memoryd.Recorder) -> Callable[[str], str]:
    """Gives a tool a history and a guideline, and a line of the guideline that a prompt must then hold."""

    def fill(tool: str) -> str:
        calls = [memoryd.Call(tool, {"query": f"q{i}"}, output=f"Found {i} results") for i in range(12)]
        recorder.client.record(calls, wait=True)
        recorder.client.summarize([tool])
        found = recorder.client.guidelines([tool])
        assert found is not None
        return found.tools[0].guideline.splitlines()[1]

    return fill


@pytest.fixture
def outcome(recorded) -> Callable[[str], list[tuple]]:
    """Gives (input, success, output) of a tool's recorded calls, in order, without the calls that guided made."""

    def of(tool: str) -> list[tuple]:
        calls = [c for c in recorded(tool) if not c["output"].startswith("Found ")]
        for c in calls:
            assert c["time_cost"] > 0 and c["metadata"]["tool_call_id"]
        return [(c["input"], c["success"], c["output"]) for c in calls]

    return of
