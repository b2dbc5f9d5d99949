// The AI SDK exports OpenTelemetry to memoryd, without any code of memoryd in the agent.
import assert from "node:assert/strict";
import test from "node:test";
import { serve } from "./server.mjs";

const missing = await import("@ai-sdk/otel").then(
  () => false,
  () => "@ai-sdk/otel is not installed",
);

test("the tool calls of the AI SDK's spans are recorded as they were", { skip: missing }, async () => {
  const server = await serve();
  try {
    const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-http");
    const { NodeTracerProvider, SimpleSpanProcessor } = await import("@opentelemetry/sdk-trace-node");
    const { OpenTelemetry } = await import("@ai-sdk/otel");
    const { generateText, isStepCount, stepCountIs, registerTelemetry, tool } = await import("ai");
    const { MockLanguageModelV4 } = await import("ai/test");
    const { z } = await import("zod");
    const exporter = new OTLPTraceExporter({ url: `${server.url}/v1/traces` });
    const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    provider.register();
    registerTelemetry(new OpenTelemetry());
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const calls = { search: { query: "Oslo" }, nap: { ms: 200 }, broken: { x: 1 } };
    const replies = Object.entries(calls).map(([toolName, input]) => [
      { type: "tool-call", toolCallId: `id-${toolName}`, toolName, input: JSON.stringify(input) },
    ]);
    const model = new MockLanguageModelV4({
      doGenerate: async () => {
        const content = replies.shift() ?? [{ type: "text", text: "done" }];
        const unified = content[0].type === "text" ? "stop" : "tool-calls";
        return { content, finishReason: { unified, raw: unified }, usage, warnings: [] };
      },
    });
    const tools = {
      search: tool({ inputSchema: z.object({ query: z.string() }), execute: async ({ query }) => `rain in ${query}` }),
      nap: tool({
        inputSchema: z.object({ ms: z.number() }),
        execute: ({ ms }) => new Promise((wake) => setTimeout(() => wake("woke"), ms)),
      }),
      broken: tool({
        inputSchema: z.object({ x: z.number() }),
        execute: async () => {
          throw new Error("disk full");
        },
      }),
    };
    const began = performance.now();
    await generateText({ model, tools, prompt: "go", stopWhen: (isStepCount ?? stepCountIs)(5) });
    const took = (performance.now() - began) / 1000;
    await provider.shutdown();
    const of = async (name) => {
      const response = await fetch(`${server.url}/v1/workspaces/default/tools/${name}/calls`);
      const { calls: found } = await response.json();
      assert.equal(found.length, 1, name);
      return found[0];
    };
    const search = await of("search");
    assert.deepEqual([search.input, search.output, search.success], [{ query: "Oslo" }, "rain in Oslo", true]);
    assert.equal(search.metadata.tool_call_id, "id-search");
    const nap = await of("nap");
    assert.deepEqual([nap.input, nap.output, nap.success], [{ ms: 200 }, "woke", true]);
    // Seconds of its own: what the other call took does not go into it.
    assert.ok(nap.time_cost >= 0.19 && nap.time_cost + search.time_cost <= took, `${nap.time_cost} s of ${took}`);
    const broken = await of("broken");
    assert.deepEqual([broken.input, broken.success, broken.score], [{ x: 1 }, false, 0]);
    assert.match(broken.output, /disk full/);
  } finally {
    await server.stop();
  }
});
