import { spawnSync } from "node:child_process";
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  Client,
  compact,
  currentRun,
  GuidelineCache,
  MemorydError,
  Recorder,
  Unavailable,
  withRun,
  wrapTool,
} from "../dist/index.js";
import { lastingAddress, patience, recorded, serve } from "./server.mjs";

let server;
let n = 0;
before(async () => void (server = await serve()));
after(() => server.stop());
const fresh = () => new Recorder({ client: new Client({ url: server.url, workspace: `w${++n}` }), interval: 10 });

test("calls are recorded once", async () => {
  const { client } = fresh();
  const call = {
    tool_name: "t",
    input: { a: 1 },
    output: "ok",
    create_time: "2026-01-01T00:00:00Z",
    metadata: { tool_call_id: "1" },
  };
  assert.equal((await client.record([call])).added, 1);
  assert.equal((await client.record([call])).duplicates, 1);
});

test("guidelines come with a tag, unknown names and none for unknown tools", async () => {
  const { client } = fresh();
  await client.record([{ tool_name: "t", input: { a: 1 }, output: "ok" }], { wait: true });
  await client.summarize(["t"]);
  const found = await client.guidelines(["t", "nope"]);
  assert.deepEqual(found.unknown, ["nope"]);
  assert.match(found.tools[0].guideline, /## Core Function/);
  assert.equal(await client.guidelines(["t", "nope"], { etag: found.etag }), null);
  assert.deepEqual((await client.guidelines(["other"])).unknown, ["other"]);
});

test("forecast, search and compaction answer", async () => {
  const { client } = fresh();
  assert.equal((await client.preflight("t", {}, { runId: "r" })).risk, null);
  await client.record([{ tool_name: "find_me", output: "ok" }]);
  assert.deepEqual(
    (await client.search("find_me")).map((t) => t.tool_name),
    ["find_me"],
  );
  const messages = [{ role: "user", content: "hello" }];
  assert.deepEqual((await client.compact(messages, { max_input_tokens: 1000 })).messages, messages);
});

test("refusals name the field, absence is unavailable", async () => {
  await assert.rejects(
    new Client({ url: server.url }).preflight(5, {}),
    (e) => e instanceof MemorydError && e.status === 422 && /tool_name/.test(e.message),
  );
  await assert.rejects(new Client({ url: "127.0.0.1:1" }).search("x"), Unavailable);
  assert.throws(() => new Client({ url: "ftp://x" }), /url/);
});

test("functions of every kind are recorded with their truth", async () => {
  const recorder = fresh();
  const options = { recorder };
  const add = wrapTool("add", ({ a, b }) => a + b, options);
  const wait = wrapTool("wait", async (ms) => (await sleep(ms), "woke"), options);
  const boom = wrapTool(
    "boom",
    () => {
      throw new TypeError("no");
    },
    options,
  );
  const reject = wrapTool(
    "reject",
    async () => {
      throw new Error("disk full");
    },
    options,
  );
  const count = wrapTool(
    "count",
    function* (k) {
      for (let i = 0; i < k; i++) yield `l${i}`;
    },
    options,
  );
  const stream = wrapTool(
    "stream",
    async function* () {
      yield "a";
      throw new Error("cut");
    },
    options,
  );
  const soft = wrapTool("soft", () => ({ isError: true, content: "no such file" }), options);
  await withRun({ runId: "run-7", agentId: "ann" }, async () => {
    assert.equal(add({ a: 1, b: 2 }), 3);
    assert.equal(await wait(5), "woke");
    assert.throws(boom, TypeError);
    await assert.rejects(reject(), /disk full/);
    assert.deepEqual([...count(2)], ["l0", "l1"]);
    await assert.rejects(async () => {
      for await (const _ of stream());
    }, /cut/);
    soft();
    assert.equal(currentRun().runId, "run-7");
  });
  const one = async (tool) => {
    const [call, ...rest] = await recorded(recorder, tool);
    assert.equal(rest.length, 0);
    assert.equal(call.metadata.trajectory_id, "run-7");
    assert.deepEqual(call.metadata.sources, ["client:typescript"]);
    assert.equal(call.metadata.call_ref, `client/${call.metadata.tool_call_id}`);
    return [call.input, call.success, call.output];
  };
  assert.deepEqual(await one("add"), [{ a: 1, b: 2 }, true, "3"]);
  assert.deepEqual(await one("wait"), ["5", true, "woke"]);
  assert.deepEqual((await one("boom")).slice(1), [false, "TypeError: no"]);
  assert.deepEqual((await one("reject")).slice(1), [false, "Error: disk full"]);
  assert.deepEqual((await one("count")).slice(1), [true, "l0l1"]);
  assert.deepEqual((await one("stream")).slice(1), [false, "Error: cut"]);
  assert.equal((await one("soft"))[1], false);
});

test("a forecast may prevent a call", async () => {
  const recorder = fresh();
  let made = 0;
  const act = wrapTool("act", () => ++made, {
    recorder,
    forecastTimeout: patience,
    onForecast: () => {
      throw new Error("risky");
    },
  });
  await assert.rejects(async () => act({}), /risky/);
  assert.equal(made, 0);
});

test("guidelines reach the prompt; nothing is thrown without a server", async () => {
  const recorder = fresh();
  const cache = new GuidelineCache({ client: recorder.client, ttl: 0, timeout: patience });
  assert.equal(await cache.text(["weather"]), "");
  await recorder.client.record([{ tool_name: "weather", input: { city: "Oslo" }, output: "sun" }], { wait: true });
  await recorder.client.summarize(["weather"]);
  let text = "";
  for (const end = Date.now() + patience; Date.now() < end && !text;)
    text = (await sleep(10), await cache.text(["weather"]));
  assert.match(text, /### weather/);
  assert.doesNotMatch(text, /Statistics/);
  const away = new Client({ url: "127.0.0.1:1" });
  assert.equal(await new GuidelineCache({ client: away }).text(["x"]), "");
  assert.deepEqual(await compact([{ role: "user", content: "x" }], {}, away), [{ role: "user", content: "x" }]);
});

test("what the queue held arrives once when memoryd is back", async () => {
  let s = await serve({ listen: await lastingAddress() });
  const recorder = new Recorder({ client: new Client({ url: s.url }), interval: 10 });
  await s.stop();
  for (let i = 0; i < 300; i++) recorder.record({ tool_name: "t", input: { i }, output: "ok" });
  assert.equal(await recorder.flush(300), false);
  s = await serve({ data: s.data, listen: s.listen, program: s.program });
  assert.equal(await recorder.flush(patience), true);
  const found = await recorder.client.guidelines(["t"]);
  assert.equal(found.tools[0].statistics.lifetime_calls, 300);
  assert.deepEqual(recorder.stats(), { recorded: 300, dropped: 0, rejected: 0, journaled: 0, waiting: 0 });
  await s.stop();
});

for (const [name, status, delay] of [
  ["slow", 200, 10 * patience],
  ["broken", 500, 0],
]) {
  test(`a ${name} server delays nothing and fills no memory`, async () => {
    const held = new Set();
    const http = createServer((req, res) => {
      req.resume();
      held.add(setTimeout(() => res.writeHead(status).end("{}"), delay));
    });
    await new Promise((r) => http.listen(0, "127.0.0.1", r));
    const client = new Client({ url: `http://127.0.0.1:${http.address().port}` });
    const recorder = new Recorder({ client, interval: 1, maxCalls: 1000 });
    const t = wrapTool("t", (i) => "x".repeat(100) + i, { recorder });
    const added = [];
    for (let i = 0; i < 100_000; i++) {
      const began = performance.now();
      t(i);
      added.push(performance.now() - began);
      if (i % 10_000 === 0) await sleep(1);
    }
    added.sort((a, b) => a - b);
    console.log(
      `# ${name}: added per call p50 ${(added[50_000] * 1000).toFixed(0)} us, p99 ${(added[99_000] * 1000).toFixed(0)} us`,
    );
    const { waiting, dropped } = recorder.stats();
    assert.ok(waiting <= 1000 && dropped >= 98_800, `${waiting} waiting, ${dropped} dropped`);
    for (const timer of held) clearTimeout(timer);
    http.closeAllConnections();
    http.close();
  });
}

test("a batch with a bad call loses only that", async () => {
  const recorder = fresh();
  recorder.record({ tool_name: "t", output: "ok" });
  recorder.record({ tool_name: "x".repeat(5000), output: "ok" });
  assert.equal(await recorder.flush(patience), false);
  assert.equal(await recorder.flush(patience), true);
  const { recorded: good, rejected } = recorder.stats();
  assert.deepEqual([good, rejected], [1, 1]);
});

for (const [name, end, delivered] of [
  ["that ends", "", 50],
  ["that exits at once", "process.exit(0);", 0],
  ["that throws", "throw new Error('no');", 0],
]) {
  test(`the calls of a program ${name} are delivered, or counted on standard error`, async () => {
    const s = await serve();
    const run = (url) =>
      spawnSync(
        process.execPath,
        [
          "--input-type=module",
          "-e",
          `import { Client, Recorder } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)};
          const recorder = new Recorder({ client: new Client({ url: ${JSON.stringify(url)} }) });
          for (let i = 0; i < 50; i++) recorder.record({ tool_name: "t", input: { i }, output: "ok" });
          ${end}`,
        ],
        { encoding: "utf8" },
      );
    const said = (url) => run(url).stderr.match(/memoryd: \d+ call\(s\) were not delivered to .*/)?.[0] ?? "";
    assert.equal(said(s.url), delivered ? "" : `memoryd: 50 call(s) were not delivered to ${s.url}`);
    const found = await new Client({ url: s.url }).guidelines(["t"]).catch(() => ({ tools: [] }));
    assert.equal(found.tools[0]?.statistics.lifetime_calls ?? 0, delivered);
    await s.stop();
    assert.equal(said(s.url), `memoryd: 50 call(s) were not delivered to ${s.url}`);
  });
}

test("flush tells that a key was refused", async () => {
  const http = createServer((req, res) => {
    req.resume();
    res.writeHead(401).end(JSON.stringify({ answer: "no such key", success: false, messages: [], metadata: {} }));
  });
  await new Promise((r) => http.listen(0, "127.0.0.1", r));
  const recorder = new Recorder({
    client: new Client({ url: `http://127.0.0.1:${http.address().port}` }),
    interval: 1,
  });
  recorder.record({ tool_name: "t", output: "ok" });
  assert.equal(await recorder.flush(patience), false);
  assert.equal(recorder.stats().rejected, 1);
  http.closeAllConnections();
  http.close();
});
