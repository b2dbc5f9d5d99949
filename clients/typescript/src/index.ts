/** Client of memoryd, the server that records what tools do and tells agents how to use them. */
export * from "./client.js";
export * from "./guidelines.js";
export { configure, defaultRecorder, Recorder, type RecorderOptions, type RecorderStats } from "./recorder.js";
export { currentRun, Observation, type RunContext, withRun, wrapTool, type WrapOptions } from "./tool.js";
