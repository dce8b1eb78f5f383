// The TypeScript SDK's clients list, search and call through the gateway.
//
//     node ts_client.mjs v1|v2|v2-auto MODULES pipes TOOLCRIB ARGS...
//     node ts_client.mjs v1|v2|v2-auto MODULES http ADDRESS
//
// MODULES is the node_modules directory that holds the SDKs. `v1` is the older
// package, `v2` the newer one, `v2-auto` lets it settle on the newest revision that
// both ends know. Ends with status 0 and one line where everything is as it should be.

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";

const [version, modules, way, target, ...args] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(`${modules}/@modelcontextprotocol/${path}`).href);

let Client, Pipes, Web;
if (version === "v1") {
  ({ Client } = await load("sdk/dist/esm/client/index.js"));
  ({ StdioClientTransport: Pipes } = await load("sdk/dist/esm/client/stdio.js"));
  ({ StreamableHTTPClientTransport: Web } = await load("sdk/dist/esm/client/streamableHttp.js"));
} else {
  ({ Client, StreamableHTTPClientTransport: Web } = await load("client/dist/index.mjs"));
  ({ StdioClientTransport: Pipes } = await load("client/dist/stdio.mjs"));
}

const options = version === "v2-auto" ? { versionNegotiation: { mode: "auto" } } : {};
const client = new Client({ name: "interop", version: "1" }, options);
const transport = way === "http" ? new Web(new URL(target)) : new Pipes({ command: target, args, env: process.env });
await client.connect(transport);
const spoken = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? "";
if (version === "v2-auto") assert.equal(spoken, "2026-07-28");

const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name), ["tool_search", "call_tool"]);

const text = (result) => result.content.map((item) => item.text ?? "").join("");
let found = "";
for (let tries = 0; tries < 100 && !found.includes("echo__echo("); tries++) {
  found = text(await client.callTool({ name: "tool_search", arguments: { query: "say something back" } }));
  if (!found.includes("echo__echo(")) await sleep(100);
}
assert.match(found, /echo__echo\(/);
assert.match(found, /\[read-only\]/);

const inner = { name: "echo__echo", arguments: { text: "héllo" } };
const said = await client.callTool({ name: "call_tool", arguments: inner });
assert.equal(text(said), "héllo");
assert.ok(!said.isError);

const unknown = await client.callTool({ name: "call_tool", arguments: { name: "echo__ecko", arguments: {} } });
assert.equal(unknown.isError, true);

const status = await client.readResource({ uri: "toolcrib://status" });
assert.match(status.contents[0].text, /echo: /);
await client.close();
console.log(`fine, ${spoken}`);
