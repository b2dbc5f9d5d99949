"""Frameworks that export OpenTelemetry to memoryd, without any code of memoryd in the agent."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module

import pytest

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the OTLP exporter is not installed")

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

NAP = 0.2


@pytest.fixture
def provider(recorder) -> Iterator[TracerProvider]:
    client = recorder.client
    exporter = OTLPSpanExporter(f"{client.url}/v1/workspaces/{client.workspace}/otlp/v1/traces")
    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(exporter))
    yield made
    made.shutdown()


@contextmanager
def instrumented(module: str, name: str, provider: TracerProvider) -> Iterator[None]:
    pytest.importorskip(module, reason=f"{module} is not installed")
    instrumentor = getattr(import_module(module), name)()
    instrumentor.instrument(tracer_provider=provider)
    try:
        yield
    finally:
        instrumentor.uninstrument()


@pytest.fixture
def check(recorded) -> Callable[..., None]:
    """Checks what is recorded of search(query="Oslo"), nap(seconds=0.2) and broken(x=1)."""

    began = time.monotonic()

    def of(failure: str = "disk full") -> None:
        took = time.monotonic() - began
        [search], [nap], [broken] = recorded("search"), recorded("nap"), recorded("broken")
        assert (search["input"], search["output"], search["success"]) == ({"query": "Oslo"}, "rain in Oslo", True)
        assert (nap["input"], nap["output"], nap["success"]) == ({"seconds": NAP}, "woke", True)
        # Each call has a time of its own: the run's, or another call's, would not go into what all took.
        assert nap["time_cost"] >= NAP and nap["time_cost"] + search["time_cost"] + broken["time_cost"] <= took
        assert (broken["input"], broken["success"], broken["score"]) == ({"x": 1}, False, 0)
        assert failure in broken["output"]
        assert [s.split(":")[0] for s in search["metadata"]["sources"]] == ["otlp"]

    return of


def search(query: str) -> str:
    """Finds.

    Args:
        query: what to find
    """
    return f"rain in {query}"


def nap(seconds: float) -> str:
    """Sleeps.

    Args:
        seconds: how long
    """
    time.sleep(seconds)
    return "woke"


def broken(x: int) -> str:
    """Raises.

    Args:
        x: any
    """
    raise RuntimeError("disk full")


CALLS = [("search", {"query": "Oslo"}), ("nap", {"seconds": NAP}), ("broken", {"x": 1})]


def test_pydantic_ai(provider, check) -> None:
    pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")
    from pydantic_ai import Agent
    from pydantic_ai.capabilities import Instrumentation
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.models.instrumented import InstrumentationSettings

    replies = iter(
        [*(ModelResponse([ToolCallPart(n, a, tool_call_id=n)]) for n, a in CALLS), ModelResponse([TextPart("done")])]
    )
    settings = InstrumentationSettings(tracer_provider=provider)
    agent = Agent(
        FunctionModel(lambda messages, info: next(replies)),
        tools=[search, nap, broken],
        capabilities=[Instrumentation(settings=settings)],
    )
    with pytest.raises(RuntimeError):
        agent.run_sync("go")
    check()


def test_openai_agents(provider, check) -> None:
    agents = pytest.importorskip("agents", reason="openai-agents is not installed")
    from openai.types.responses import ResponseFunctionToolCall
    from test_openai_agents import Scripted

    replies = [
        [ResponseFunctionToolCall(type="function_call", call_id=n, name=n, arguments=json.dumps(a))] for n, a in CALLS
    ]
    tools = [agents.function_tool(f) for f in (search, nap, broken)]
    with instrumented("openinference.instrumentation.openai_agents", "OpenAIAgentsInstrumentor", provider):
        agents.set_tracing_disabled(False)
        agent = agents.Agent(name="ann", model=Scripted(*replies), tools=tools)
        asyncio.run(agents.Runner.run(agent, "go"))
    check("An error occurred")  # the framework says no more, to nobody


def test_langchain(provider, check) -> None:
    langchain = pytest.importorskip("langchain.agents", reason="langchain is not installed")
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool
    from test_langchain import Scripted

    replies = [AIMessage("", tool_calls=[{"name": n, "args": a, "id": n, "type": "tool_call"}]) for n, a in CALLS]
    with instrumented("openinference.instrumentation.langchain", "LangChainInstrumentor", provider):
        agent = langchain.create_agent(Scripted(replies=replies, seen=[]), [tool(f) for f in (search, nap, broken)])
        with pytest.raises(RuntimeError):
            agent.invoke({"messages": [{"role": "user", "content": "go"}]})
    check()


def test_smolagents(provider, check) -> None:
    smolagents = pytest.importorskip("smolagents", reason="smolagents is not installed")
    from test_smolagents import Scripted

    model = Scripted(*([call] for call in CALLS), [("final_answer", {"answer": "done"})])
    with instrumented("openinference.instrumentation.smolagents", "SmolagentsInstrumentor", provider):
        tools = [smolagents.tool(f) for f in (search, nap, broken)]
        smolagents.ToolCallingAgent(tools=tools, model=model, verbosity_level=0, max_steps=4).run("go")
    check()
