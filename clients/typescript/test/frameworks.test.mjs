// Each framework's agent with a scripted model: every call once, with its truth. A framework that is not installed is skipped by name.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, GuidelineCache, Recorder, withRun } from "../dist/index.js";
import { patience, recorded, serve } from "./server.mjs";

let server;
let n = 0;
before(async () => void (server = await serve()));
after(() => server.stop());
const fresh = () => new Recorder({ client: new Client({ url: server.url, workspace: `f${++n}` }), interval: 10 });
const installed = async (name) => {
  try {
    await import(name);
    return true;
  } catch (e) {
    if (e.code === "ERR_MODULE_NOT_FOUND") return false;
    throw e;
  }
};
const skipWithout = async (t, ...names) => {
  for (const name of names) {
    if (!(await installed(name))) {
      t.skip(`${name} is not installed`);
      return true;
    }
  }
  return false;
};
/** Gives a tool a history and a guideline, and a line that a prompt must then hold. */
const guided = async ({ client }, tool) => {
  const calls = Array.from({ length: 12 }, (_, i) => ({
    tool_name: tool,
    input: { query: `q${i}` },
    output: `Found ${i}`,
  }));
  await client.record(calls, { wait: true });
  await client.summarize([tool]);
  return (await client.guidelines([tool])).tools[0].guideline.split("\n")[1];
};

test("AI SDK", async (t) => {
  if (await skipWithout(t, "ai", "zod")) return;
  const { generateText, isStepCount, stepCountIs, registerTelemetry, tool, streamText } = await import("ai");
  const { MockLanguageModelV4, simulateReadableStream } = await import("ai/test");
  const { z } = await import("zod");
  const { memorydTelemetry } = await import("../dist/ai-sdk.js");
  const recorder = fresh();
  registerTelemetry(memorydTelemetry({ recorder, agentId: "ann" }));
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const call = (toolName, input, toolCallId) => ({
    type: "tool-call",
    toolCallId,
    toolName,
    input: JSON.stringify(input),
  });
  const script = (...replies) => {
    let i = 0;
    return new MockLanguageModelV4({
      doGenerate: async () => {
        const content = replies[i++] ?? [{ type: "text", text: "done" }];
        const unified = content[0].type === "text" ? "stop" : "tool-calls";
        return { content, finishReason: { unified, raw: unified }, usage, warnings: [] };
      },
    });
  };
  const tools = {
    search: tool({ inputSchema: z.object({ query: z.string() }), execute: async ({ query }) => `rain in ${query}` }),
    broken: tool({
      inputSchema: z.object({ x: z.number() }),
      execute: async () => {
        throw new Error("disk full");
      },
    }),
  };
  const model = script([
    call("search", { query: "Oslo" }, "c1"),
    call("search", { query: "Bergen" }, "c2"),
    call("broken", { x: 1 }, "c3"),
  ]);
  const result = await withRun({ runId: "run-7" }, () =>
    generateText({ model, tools, prompt: "go", stopWhen: (isStepCount ?? stepCountIs)(3) }),
  );
  assert.equal(result.text, "done");
  assert.deepEqual((await recorded(recorder, "search")).map((c) => c.output).sort(), [
    "rain in Bergen",
    "rain in Oslo",
  ]);
  const [broken, ...rest] = await recorded(recorder, "broken");
  assert.equal(rest.length, 0);
  assert.deepEqual([broken.input, broken.success, broken.output], [{ x: 1 }, false, "Error: disk full"]);
  assert.deepEqual(
    [broken.metadata.tool_call_id, broken.metadata.trajectory_id, broken.metadata.agent_id],
    ["c3", "run-7", "ann"],
  );

  const aborting = new AbortController();
  const slow = tool({
    inputSchema: z.object({}),
    execute: (_, { abortSignal }) =>
      new Promise((_, reject) => {
        abortSignal.addEventListener("abort", () => reject(abortSignal.reason));
        setImmediate(() => aborting.abort(new Error("stopped")));
      }),
  });
  const parts = [
    { type: "stream-start", warnings: [] },
    call("slow", {}, "c9"),
    { type: "finish", finishReason: { unified: "tool-calls", raw: "tool-calls" }, usage },
  ];
  const streaming = new MockLanguageModelV4({
    doStream: async () => ({ stream: simulateReadableStream({ chunks: parts }) }),
  });
  const stream = streamText({
    model: streaming,
    tools: { slow },
    prompt: "go",
    abortSignal: aborting.signal,
    onError: () => {},
  });
  for await (const _ of stream.fullStream);
  const [aborted, ...more] = await recorded(recorder, "slow");
  assert.equal(more.length, 0);
  assert.deepEqual([aborted.success, aborted.metadata.tool_call_id], [false, "c9"]);
});

test("LangChain.js", async (t) => {
  if (await skipWithout(t, "langchain", "@langchain/core/tools", "zod")) return;
  const { createAgent, tool } = await import("langchain");
  const { AIMessage } = await import("@langchain/core/messages");
  const { BaseChatModel } = await import("@langchain/core/language_models/chat_models");
  const { z } = await import("zod");
  const { memorydMiddleware } = await import("../dist/langchain.js");
  class Scripted extends BaseChatModel {
    seen = [];
    constructor(replies) {
      super({});
      this.replies = replies;
    }
    _llmType() {
      return "scripted";
    }
    bindTools() {
      return this;
    }
    async _generate(messages) {
      this.seen.push(messages);
      const message = this.replies[this.seen.length - 1] ?? new AIMessage("done");
      return { generations: [{ text: "", message }] };
    }
  }
  const recorder = fresh();
  const search = tool(async ({ query }) => `rain in ${query}`, {
    name: "search",
    description: "Finds.",
    schema: z.object({ query: z.string() }),
  });
  const broken = tool(
    async () => {
      throw new Error("disk full");
    },
    { name: "broken", description: "Raises.", schema: z.object({ x: z.number() }) },
  );
  const calls = new AIMessage({
    content: "",
    tool_calls: [
      { name: "search", args: { query: "Oslo" }, id: "c1" },
      { name: "search", args: { query: "Bergen" }, id: "c2" },
      { name: "broken", args: { x: 1 }, id: "c3" },
    ],
  });
  const line = await guided(recorder, "search");
  const cache = new GuidelineCache({ client: recorder.client, ttl: 0, timeout: patience });
  const run = async (middleware) => {
    const model = new Scripted([calls]);
    const agent = createAgent({ model, tools: [search, broken], systemPrompt: "Be brief.", middleware });
    const out = await agent.invoke({ messages: [{ role: "user", content: "go" }] }).then(
      (r) => r.messages.at(-1).content,
      (e) => `threw ${e.message}`,
    );
    return { out, model };
  };
  const bare = await run([]);
  const { out, model } = await withRun({ runId: "run-7" }, () => run([memorydMiddleware({ recorder, cache })]));
  assert.equal(out, bare.out);
  const found = (await recorded(recorder, "search")).filter((c) => !c.output.startsWith("Found"));
  assert.deepEqual(found.map((c) => c.output).sort(), ["rain in Bergen", "rain in Oslo"]);
  const [b, ...rest] = await recorded(recorder, "broken");
  assert.equal(rest.length, 0);
  assert.deepEqual(
    [b.input, b.success, b.metadata.tool_call_id, b.metadata.trajectory_id],
    [{ x: 1 }, false, "c3", "run-7"],
  );
  assert.match(b.output, /disk full/);
  const system = model.seen[0][0].text;
  assert.ok(system.startsWith("Be brief.") && system.includes(line), system);
});

test("Mastra", async (t) => {
  if (await skipWithout(t, "@mastra/core/agent", "ai/test", "zod")) return;
  const { Agent } = await import("@mastra/core/agent");
  const { createTool } = await import("@mastra/core/tools");
  const { z } = await import("zod");
  const { memorydHooks } = await import("../dist/mastra.js");
  const recorder = fresh();
  const make = (id, inputSchema, execute) => createTool({ id, description: id, inputSchema, execute });
  const tools = {
    search: make("search", z.object({ query: z.string() }), async ({ query }) => ({ text: `rain in ${query}` })),
    broken: make("broken", z.object({ x: z.number() }), async () => {
      throw new Error("disk full");
    }),
  };
  const call = (toolName, input, toolCallId) => ({
    type: "tool-call",
    toolCallId,
    toolName,
    input: JSON.stringify(input),
  });
  const replies = [[call("search", { query: "Oslo" }, "c1"), call("broken", { x: 1 }, "c2")]];
  let i = 0;
  const { MockLanguageModelV3 } = await import("ai/test");
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const model = new MockLanguageModelV3({
    doGenerate: async () => {
      const content = replies[i++] ?? [{ type: "text", text: "done" }];
      const unified = content[0].type === "text" ? "stop" : "tool-calls";
      return { content, finishReason: { unified, raw: unified }, usage, warnings: [] };
    },
  });
  const agent = new Agent({
    id: "ann",
    name: "ann",
    instructions: "Be brief.",
    model,
    tools,
    hooks: memorydHooks({ recorder }),
  });
  const result = await withRun({ runId: "run-7" }, () => agent.generate("go", { maxSteps: 3 }));
  assert.equal(result.text, "done");
  const [s] = await recorded(recorder, "search");
  assert.deepEqual([s.input, s.success, s.metadata.trajectory_id], [{ query: "Oslo" }, true, "run-7"]);
  const [b, ...rest] = await recorded(recorder, "broken");
  assert.equal(rest.length, 0);
  assert.deepEqual([b.input, b.success], [{ x: 1 }, false]);
  assert.match(b.output, /disk full/);
});
