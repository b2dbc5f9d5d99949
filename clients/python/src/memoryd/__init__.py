"""Client of memoryd, the server that records what tools do and tells agents how to use them.

import memoryd

@memoryd.tool
def search(query: str) -> str: ...

with memoryd.run("task-17"):
    prompt = memoryd.guidelines_for(["search"])
    search("rain in Oslo")
"""

from ._client import (
    AsyncClient,
    Call,
    CallWarning,
    Client,
    Compaction,
    Forecast,
    Guidelines,
    MemorydError,
    Recorded,
    ToolMemory,
    Unavailable,
)
from ._context import RunContext, current_run, run
from ._guidelines import GuidelineCache, compact, guidelines_for
from ._recorder import Recorder, RecorderStats
from ._tool import Observation, configure, default_recorder, tool
from ._version import __version__

__all__ = [
    "AsyncClient",
    "Call",
    "CallWarning",
    "Client",
    "Compaction",
    "Forecast",
    "GuidelineCache",
    "Guidelines",
    "MemorydError",
    "Observation",
    "Recorded",
    "Recorder",
    "RecorderStats",
    "RunContext",
    "ToolMemory",
    "Unavailable",
    "__version__",
    "compact",
    "configure",
    "current_run",
    "default_recorder",
    "guidelines_for",
    "run",
    "tool",
]
