// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Calls the tools of `faultscope mcp` with the official client, which checks each answer against the
// schemas of the protocol and of the tool. usage: client.mjs MODULES FAULTSCOPE RECORDING
// Prints JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, faultscope, recording] = process.argv.slice(2);
const require = createRequire(pathToFileURL(modules + "/"));
const load = (name) => import(pathToFileURL(require.resolve("@modelcontextprotocol/sdk/" + name)));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");

const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command: faultscope, args: ["mcp"] }));
const said = { server: client.getServerVersion(), tools: {}, refused: [] };
said.names = (await client.listTools()).tools.map((tool) => tool.name);
const calls = {
  explain: { what: "EMFILE" }, doctor: {}, oom: {}, incidents: { store: "/nonexistent" },
  host: { seconds: 1 }, diagnose: { pid: process.pid, seconds: 1 }, report: { file: recording },
  incident: { number: 1, store: "/nonexistent" }, triage: { file: recording },
};
for (const [name, given] of Object.entries(calls)) {
  const result = await client.callTool({ name, arguments: given });
  said.tools[name] = { status: result.structuredContent.exit_status, error: result.isError,
                       findings: result.structuredContent.findings.map((one) => one.id) };
}
for (const given of [{}, { pid: -1 }, { pid: 1, seconds: 1000 }, { pid: 1, command: "id" }]) {
  try {
    await client.callTool({ name: "diagnose", arguments: given });
  } catch (error) {
    said.refused.push(error.code);
  }
}
const abort = new AbortController();
setTimeout(() => abort.abort(), 300);
try {
  await client.callTool({ name: "host", arguments: { seconds: 100 } }, undefined,
                        { signal: abort.signal });
} catch {
  said.cancelled = true;
}
said.after = (await client.callTool({ name: "explain", arguments: { what: "M01" } })).isError;
await client.close();
console.log(JSON.stringify(said));
