// Test peer: the real mem0 OSS engine (npm mem0ai/oss) behind the REST shape of mem0's own
// server (server/main.py): POST /memories, POST /search, GET|DELETE /memories[/id].
// It listens on a free port of loopback, which it prints, keeps what it is given in
// $PEER_DIR, and takes the key $PEER_KEY. The packages are those of $MEM0_ROOT.
// Embedder: deterministic hashed bag of words. LLM: a stub which returns one extracted fact per user line.
import http from "node:http";
import { createRequire } from "node:module";
process.env.MEM0_TELEMETRY = "false";
const require = createRequire(process.env.MEM0_ROOT + "/x.js");
const { Memory } = require("mem0ai/oss");

const DIM = 256;
function embed(text) {
  const v = new Array(DIM).fill(0);
  for (const w of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    let h = 2166136261;
    for (const c of w) { h ^= c.charCodeAt(0); h = Math.imul(h, 16777619) >>> 0; }
    v[h % DIM] += 1;
  }
  const n = Math.hypot(...v) || 1;
  return v.map((x) => x / n);
}
const lc = { embedQuery: async (t) => embed(t), embedDocuments: async (ts) => ts.map(embed) };
let mem;
const open = (port) => new Memory({
  version: "v1.1",
  embedder: { provider: "langchain", config: { model: lc } },
  llm: { provider: "openai", config: { apiKey: "stub", baseURL: `http://127.0.0.1:${port}/v1`, model: "stub" } },
  vectorStore: { provider: "memory", config: { collectionName: "memories", dimension: DIM, dbPath: process.env.PEER_DIR + "/vec.db" } },
  disableHistory: true,
});
const snake = (o) => Array.isArray(o) ? o.map(snake) : (o && typeof o === "object")
  ? Object.fromEntries(Object.entries(o).map(([k, v]) => [k.replace(/[A-Z]/g, (c) => "_" + c.toLowerCase()), k === "metadata" ? v : snake(v)])) : o;
const send = (res, code, body) => { res.writeHead(code, { "content-type": "application/json" }); res.end(JSON.stringify(body)); };
const KEY = process.env.PEER_KEY;
const server = http.createServer(async (req, res) => {
  const url = new URL(req.url, "http://x");
  if (url.pathname === "/openapi.json") return send(res, 200, { openapi: "3.1.0", info: { title: "Mem0 REST APIs", version: "1.0.0" }, paths: {} });
  if (url.pathname === "/v1/chat/completions") { // the extraction LLM: one fact for each user line of the NEW messages
    let raw = ""; for await (const c of req) raw += c;
    const text = JSON.parse(raw).messages.at(-1).content;
    const part = String(text).split(/## New Messages/i).at(-1);
    const facts = [...part.matchAll(/user: (.+?)(?:\\n|\n|"|$)/g)].map((x, i) => ({ id: String(i), text: x[1].trim(), attributed_to: "user" }));
    return send(res, 200, { id: "c", object: "chat.completion", model: "stub", choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: JSON.stringify({ memory: facts }) } }] });
  }
  if (req.headers["x-api-key"] !== KEY) return send(res, 401, { detail: "Invalid API key." });
  let raw = ""; for await (const c of req) raw += c;
  let b; try { b = raw ? JSON.parse(raw) : {}; } catch { return send(res, 422, { detail: [{ type: "json_invalid", loc: ["body"], msg: "JSON decode error" }] }); }
  try {
    if (req.method === "POST" && url.pathname === "/memories") {
      if (!Array.isArray(b.messages)) return send(res, 422, { detail: [{ type: "missing", loc: ["body", "messages"], msg: "Field required" }] });
      if (!b.user_id && !b.agent_id && !b.run_id) return send(res, 400, { detail: "At least one identifier (user_id, agent_id, run_id) is required." });
      const r = await mem.add(b.messages, { userId: b.user_id, agentId: b.agent_id, runId: b.run_id, metadata: b.metadata ?? {}, infer: b.infer ?? true });
      return send(res, 200, snake(r));
    }
    if (req.method === "POST" && url.pathname === "/search") {
      if (typeof b.query !== "string") return send(res, 422, { detail: [{ type: "missing", loc: ["body", "query"], msg: "Field required" }] });
      const f = { ...(b.filters ?? {}) };
      for (const k of ["user_id", "agent_id", "run_id"]) if (b[k]) f[k] = b[k];
      const r = await mem.search(b.query, { filters: f, topK: b.top_k ?? 20, ...(b.threshold !== undefined ? { threshold: b.threshold } : {}) });
      return send(res, 200, snake(r));
    }
    if (req.method === "GET" && url.pathname === "/memories") {
      const f = {}; for (const k of ["user_id", "agent_id", "run_id"]) if (url.searchParams.get(k)) f[k] = url.searchParams.get(k);
      return send(res, 200, snake(await mem.getAll({ filters: f, topK: Number(url.searchParams.get("top_k") ?? 100) })));
    }
    const m = url.pathname.match(/^\/memories\/([^/]+)$/);
    if (m && req.method === "GET") return send(res, 200, snake(await mem.get(decodeURIComponent(m[1])) ?? null));
    if (m && req.method === "DELETE") { await mem.delete(decodeURIComponent(m[1])); return send(res, 200, { message: "Memory deleted successfully" }); }
    send(res, 404, { detail: "Not Found" });
  } catch (e) {
    const d = String(e?.message ?? e);
    send(res, /not found/i.test(d) ? 404 : /identifier|must be|Invalid|requires|required|not supported/i.test(d) ? 400 : 502, { detail: d });
  }
}).listen(0, "127.0.0.1", () => {
  const { port } = server.address();
  mem = open(port);
  console.log(port);
});
