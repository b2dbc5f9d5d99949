/** LangChain.js 1.x: createAgent({ model, tools, middleware: [memorydMiddleware()] }). */

import { isGraphInterrupt } from "@langchain/langgraph";
import { createMiddleware, ToolMessage } from "langchain";
import { compact, GuidelineCache } from "./guidelines.js";
import type { Recorder } from "./recorder.js";
import { currentRun, Observation } from "./tool.js";

export interface MiddlewareOptions {
  recorder?: Recorder;
  /** Budget of the guidelines in the system prompt; 0: none. 800. */
  guidelineTokens?: number;
  cache?: GuidelineCache;
  /**
   * What becomes of an exception of a tool. "message" (default): the message that LangChain itself makes of it where
   * there is no middleware; with one, it would end the run. "throw": for another middleware, listed before, to handle.
   */
  errors?: "message" | "throw";
}

/** Records each tool call and puts the guidelines of the request's tools into the system prompt. */
export function memorydMiddleware({
  recorder,
  guidelineTokens = 800,
  cache,
  errors = "message",
}: MiddlewareOptions = {}) {
  const kept = cache ?? new GuidelineCache(recorder ? { client: recorder.client } : {});
  return createMiddleware({
    name: "memoryd",
    wrapToolCall: async (request, handler) => {
      const { name, args, id } = request.toolCall;
      const thread = threadOf(request);
      const session = thread ? { sessionId: thread, ...(currentRun().runId ? {} : { runId: thread }) } : {};
      const observation = new Observation(name, args, { recorder, toolCallId: id, ...session });
      try {
        const result = await handler(request);
        const message = result as { content?: unknown; status?: string; update?: unknown };
        observation.succeed(message.content ?? message.update, message.status !== "error");
        return result;
      } catch (e) {
        observation.fail(e);
        if (
          errors === "throw" ||
          isGraphInterrupt(e) ||
          (e as Error).name === "ToolInvocationError" ||
          aborted(request)
        )
          throw e;
        return new ToolMessage({
          content: `${String(e)}\n Please fix your mistakes.`,
          tool_call_id: id ?? "",
          name,
          status: "error",
        });
      }
    },
    wrapModelCall: async (request, handler) => {
      if (!guidelineTokens) return handler(request);
      const names = request.tools.map((t) => String((t as { name?: unknown }).name ?? "")).filter(Boolean);
      const notes = await kept.text(names, { maxTokens: guidelineTokens });
      if (!notes) return handler(request);
      return handler({ ...request, systemMessage: request.systemMessage.concat(`\n\n${notes}`) });
    },
  });
}

export { compact };

function aborted(request: unknown): boolean {
  return (request as { runtime?: { signal?: AbortSignal } }).runtime?.signal?.aborted === true;
}

function threadOf(request: unknown): string {
  const runtime = (request as { runtime?: { configurable?: { thread_id?: unknown } } }).runtime;
  return String(runtime?.configurable?.thread_id ?? "");
}
