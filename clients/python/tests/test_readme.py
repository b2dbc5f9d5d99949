"""Runs the README's blocks: the core's as they are, a framework's with a model and a tool of that framework."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from patience import PATIENCE, run_python

import memoryd

README = Path(__file__).resolve().parents[1] / "README.md"
BLOCKS = re.findall(r"^## ([^\n]+)\n(?:(?!## )[^\n]*\n)*?```python\n(.*?)```", README.read_text(), re.M | re.S)

# What stands before a framework's block: `model` and `search` of that framework.
BEFORE = {
    "LangChain and LangGraph": (
        "langchain",
        "from langchain_core.language_models import FakeListChatModel\n"
        "from langchain_core.tools import tool\n"
        "class M(FakeListChatModel):\n    def bind_tools(self, tools, **kw): return self\n"
        "model = M(responses=['done'])\n"
        "@tool\ndef search(query: str) -> str:\n    'Finds.'\n    return query\n",
        "assert agent.invoke({'messages': [('user', 'go')]})['messages'][-1].content == 'done'\n",
    ),
    "OpenAI Agents SDK": (
        "agents",
        "model = None\ndef search(query: str) -> str:\n    'Finds.'\n    return query\n",
        "",
    ),
    "Pydantic AI": (
        "pydantic_ai",
        "from pydantic_ai.models.test import TestModel\nmodel = TestModel()\n"
        "def search(query: str) -> str:\n    return query\n",
        "assert agent.run_sync('go').output\n",
    ),
    "LlamaIndex": (
        "llama_index",
        "from llama_index.core.llms.mock import MockFunctionCallingLLM\nmodel = MockFunctionCallingLLM()\n"
        "def search(query: str) -> str:\n    'Finds.'\n    return query\n",
        "import asyncio\nasync def main():\n    return await run(agent, 'go')\nassert str(asyncio.run(main()))\n",
    ),
    "CrewAI": (
        "crewai",
        "from crewai import BaseLLM\nfrom crewai.tools import tool\n"
        "class M(BaseLLM):\n    def call(self, *a, **k): return 'Final Answer: done'\n"
        "model = M(model='m')\n@tool('search')\ndef search(query: str) -> str:\n    'Finds.'\n    return query\n",
        "",
    ),
    "Google ADK": (
        "google.adk",
        "model = 'none'\ndef search(query: str) -> str:\n    'Finds.'\n    return query\n",
        "",
    ),
    "smolagents": (
        "smolagents",
        "from smolagents import Model, tool\nmodel = Model()\n"
        "@tool\ndef search(query: str) -> str:\n    '''Finds.\n\n    Args:\n        query: what\n    '''\n"
        "    return query\n",
        "",
    ),
}


def installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def test_every_framework_has_a_block() -> None:
    assert {title for title, _ in BLOCKS} >= set(BEFORE)


def run(program: Path, text: str, server) -> str:
    program.write_text(text)
    env = {**os.environ, "MEMORYD_URL": server.url, "MEMORYD_WORKSPACE": program.stem, "OTEL_SDK_DISABLED": "true"}
    done = run_python(str(program), env=env, capture_output=True, text=True, timeout=5 * PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("title", "block"), BLOCKS, ids=[t for t, _ in BLOCKS])
def test_block(title: str, block: str, server, tmp_path: Path) -> None:
    module, before, after = BEFORE.get(title, ("memoryd", "", ""))
    if not installed(module):
        pytest.skip(f"{module} is not installed")
    run(tmp_path / "readme.py", before + block + after, server)


# The pages of frameworks: what must be installed, the tool that each calls.
PAGES = {
    "python": ("memoryd", "book"),
    "langchain": ("langchain", "search"),
    "openai-agents": ("agents", "search"),
    "pydantic-ai": ("pydantic_ai", "search"),
    "llamaindex": ("llama_index", ""),  # its model that only plays a part calls no tool
    "crewai": ("crewai", "search"),
    "google-adk": ("google.adk", "search"),
    "smolagents": ("smolagents", "search"),
}


@pytest.mark.parametrize("page", PAGES)
def test_page(page: str, server, tmp_path: Path) -> None:
    module, tool = PAGES[page]
    if not installed(module):
        pytest.skip(f"{module} is not installed")
    text = (README.parents[2] / "docs" / "frameworks" / f"{page}.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", text, re.S)
    program = tmp_path / f"page-{page}.py"
    assert run(program, block, server).strip()
    if tool:
        found = memoryd.Client(server.url, workspace=program.stem).guidelines([tool])
        assert found is not None and found.tools, "the page's call is not recorded"
