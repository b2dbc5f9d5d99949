// Runs the README's blocks in a fresh project that has installed the package from its tarball: the core's as they are,
// a framework's with a model and a tool of that framework before it.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";
import { patience, serve } from "./server.mjs";

const here = fileURLToPath(new URL("..", import.meta.url));
const blocks = readFileSync(join(here, "README.md"), "utf8")
  .split("\n## ")
  .slice(1)
  .map((s) => [s.split("\n", 1)[0], /```js\n([\s\S]*?)```/.exec(s)?.[1]])
  .filter(([, block]) => block);
const needs = { "Vercel AI SDK 7": "ai", "LangChain.js": "langchain", Mastra: "@mastra/core" };
const setup = {
  "LangChain.js": `import { tool } from "langchain"; import { FakeListChatModel } from "@langchain/core/utils/testing"; import { z } from "zod";
class M extends FakeListChatModel { bindTools() { return this; } }
const model = new M({ responses: ["done"] });
const search = tool(async ({ query }) => query, { name: "search", description: "Finds.", schema: z.object({ query: z.string() }) });
`,
  Mastra: `import { createTool } from "@mastra/core/tools"; import { z } from "zod"; const model = "openai/none";
const search = createTool({ id: "search", description: "Finds.", inputSchema: z.object({ query: z.string() }), execute: async (x) => x });
`,
};
const check = {
  "LangChain.js": `\nconst r = await agent.invoke({ messages: [{ role: "user", content: "go" }] });\nif (r.messages.at(-1).content !== "done") throw new Error("wrong answer");\n`,
};

let server;
let project;
before(async () => {
  server = await serve();
  project = mkdtempSync(join(tmpdir(), "memoryd-readme-"));
  const [{ filename }] = JSON.parse(
    execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", project], { cwd: here }),
  );
  mkdirSync(join(project, "node_modules"));
  execFileSync("tar", ["xzf", filename], { cwd: project });
  symlinkSync(join(project, "package"), join(project, "node_modules", "memoryd"));
  // The frameworks stand where the package was built; the package itself needs nothing.
  if (existsSync(join(here, "node_modules")))
    symlinkSync(join(here, "node_modules"), join(project, "package", "node_modules"));
});
after(() => server.stop());

for (const [title, block] of blocks) {
  test(title, (t) => {
    if (needs[title] && !existsSync(join(here, "node_modules", needs[title])))
      return t.skip(`${needs[title]} is not installed`);
    const program = join(project, "package", `${title.replace(/\W/g, "")}.mjs`);
    writeFileSync(program, (setup[title] ?? "") + block + (check[title] ?? "") + "\nprocess.exit(0);\n");
    const env = {
      ...process.env,
      MEMORYD_URL: server.url,
      MEMORYD_WORKSPACE: "readme",
      MASTRA_TELEMETRY_DISABLED: "1",
    };
    const done = spawnSync(process.execPath, [program], { env, encoding: "utf8", timeout: 5 * patience });
    assert.equal(done.status, 0, done.stderr);
  });
}

// The pages of frameworks: what must be installed.
const pages = {
  typescript: [],
  "ai-sdk": ["ai", "zod"],
  "langchain-js": ["langchain", "zod"],
  mastra: ["@mastra/core", "ai", "zod"],
};
for (const [page, packages] of Object.entries(pages)) {
  test(`the page ${page}`, async (t) => {
    const missing = packages.find((name) => !existsSync(join(here, "node_modules", name)));
    if (missing) return t.skip(`${missing} is not installed`);
    const text = readFileSync(join(here, "../../docs/frameworks", `${page}.md`), "utf8");
    const program = join(project, "package", `page-${page}.mjs`);
    writeFileSync(program, /```js\n([\s\S]*?)```/.exec(text)[1] + "\nprocess.exit(0);\n");
    const env = { ...process.env, MEMORYD_URL: server.url, MEMORYD_WORKSPACE: page, MASTRA_TELEMETRY_DISABLED: "1" };
    const done = spawnSync(process.execPath, [program], { env, encoding: "utf8", timeout: 5 * patience });
    assert.equal(done.status, 0, done.stderr);
    const response = await fetch(`${server.url}/v1/workspaces/${page}/tools`);
    assert.equal((await response.json()).tools.length, 1);
  });
}
