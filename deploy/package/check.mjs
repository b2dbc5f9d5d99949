// Records a call and reads it back, with the installed package.
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { Client } from "memoryd";

const { version } = JSON.parse(readFileSync("node_modules/memoryd/package.json", "utf8"));
assert.equal(version, process.argv[2]);
const client = new Client();
await client.record([{ tool_name: "tarball", input: { query: "rain" }, output: "Found 2 results", time_cost: 0.4 }]);
assert.ok(JSON.stringify(await client.search("tarball")).includes("tarball"));
console.log("memoryd for TypeScript", version, "records and reads");
