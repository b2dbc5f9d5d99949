/** Mastra 1.x: new Agent({ ..., hooks: memorydHooks() }). */

import type { ToolHooks } from "@mastra/core/tools";
import type { Recorder } from "./recorder.js";
import { Observation, type RunContext } from "./tool.js";

/**
 * Records each tool call. Mastra's hooks carry no call id and no time: a call's two hooks are joined by the input's
 * object, and its duration is the time between them.
 */
export function memorydHooks(options: { recorder?: Recorder } & RunContext = {}): ToolHooks {
  const underWay = new WeakMap<object, Observation>();
  const idOf = (context: unknown) =>
    (context as { agent?: { toolCallId?: string }; toolCallId?: string } | undefined)?.agent?.toolCallId ??
    (context as { toolCallId?: string } | undefined)?.toolCallId;
  return {
    beforeToolCall({ toolName, input, context }) {
      const observation = new Observation(toolName, input, { ...options, toolCallId: idOf(context) });
      if (typeof input === "object" && input !== null) underWay.set(input, observation);
    },
    afterToolCall({ toolName, input, context, output, error }) {
      const before = typeof input === "object" && input !== null ? underWay.get(input) : undefined;
      const observation = before ?? new Observation(toolName, input, { ...options, toolCallId: idOf(context) });
      if (error !== undefined) observation.fail(error);
      else observation.succeed(output, (output as { isError?: unknown } | undefined)?.isError !== true);
    },
  };
}
