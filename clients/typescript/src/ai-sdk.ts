/** Vercel AI SDK 7: registerTelemetry(memorydTelemetry()). */

import type { Telemetry } from "ai";
import type { Recorder } from "./recorder.js";
import { Observation, type RunContext } from "./tool.js";

/**
 * Records every tool execution: with its id, its own duration and the error's message. One generation is one run where
 * withRun names none. A call that was started and never ended (an aborted stream) is recorded as failed.
 */
export function memorydTelemetry(options: { recorder?: Recorder } & RunContext = {}): Telemetry {
  const underWay = new Map<string, Observation>();
  const key = (e: { callId: string; toolCall: { toolCallId: string } }) => `${e.callId} ${e.toolCall.toolCallId}`;
  const start = (e: { callId: string; toolCall: { toolCallId: string; toolName: string; input?: unknown } }) =>
    new Observation(e.toolCall.toolName, e.toolCall.input, {
      ...options,
      runId: options.runId ?? e.callId,
      toolCallId: e.toolCall.toolCallId,
    });
  const abandon = (callId: string) => {
    for (const [k, observation] of underWay) {
      if (!k.startsWith(`${callId} `)) continue;
      observation.fail("The generation ended before the call did");
      // The execution's own end may still come: it must find its call, which is recorded by now.
      const timer = setTimeout(() => underWay.delete(k), 60_000);
      (timer as { unref?: () => void }).unref?.();
    }
  };
  return {
    onToolExecutionStart(event) {
      underWay.set(key(event), start(event));
    },
    onToolExecutionEnd(event) {
      const observation = underWay.get(key(event)) ?? start(event);
      underWay.delete(key(event));
      const out = event.toolOutput as { type: string; output?: unknown; error?: unknown };
      if (out.type === "tool-error") observation.fail(out.error, event.toolExecutionMs);
      else observation.succeed(out.output, true, event.toolExecutionMs);
    },
    onAbort(event: unknown) {
      abandon(String((event as { callId?: string }).callId));
    },
    onError(event: unknown) {
      abandon(String((event as { callId?: string }).callId));
    },
  } as Telemetry;
}
