// A model server for the page's tests: it says exactly what a test wants, at
// the pace it wants, in the Chat Completions dialect.
import { createServer } from "node:http";

let made = 0;

/** startModel serves models by name: name -> (question, messages) => { text, thought?, pieces?, gap?, tool?, tools? }. */
export function startModel(models) {
  const sockets = new Set();
  const server = createServer(async (req, res) => {
    if (req.method === "GET") {
      res.setHeader("content-type", "application/json");
      res.end(JSON.stringify({ object: "list", data: Object.keys(models).map((id) => ({ id, object: "model" })) }));
      return;
    }
    let body = "";
    for await (const chunk of req) body += chunk;
    const ask = JSON.parse(body);
    const last = ask.messages.filter((m) => m.role === "user").at(-1)?.content ?? "";
    const question = typeof last === "string" ? last : last.map((p) => p.text ?? "").join("");
    await answer(res, models[ask.model](question, ask.messages), ask.model);
  });
  server.on("connection", (s) => (sockets.add(s), s.on("close", () => sockets.delete(s))));
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const url = `http://127.0.0.1:${server.address().port}/v1`;
      resolve({ url, stop: () => (sockets.forEach((s) => s.destroy()), new Promise((r) => server.close(r))) });
    });
  });
}

async function answer(res, plan, model) {
  res.setHeader("content-type", "text/event-stream");
  const send = (delta, finish = null) =>
    res.write(`data: ${JSON.stringify({ id: "m", object: "chat.completion.chunk", model, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  if (plan.thought) send({ reasoning_content: plan.thought });
  const pieces = plan.pieces ?? [plan.text];
  const start = performance.now();
  for (let i = 0; i < pieces.length && !res.destroyed; i++) {
    // Kept to the clock, not to the timer: a late timer sends what is due.
    const due = start + i * (plan.gap ?? 0);
    const wait = due - performance.now();
    if (wait > 1) await new Promise((r) => setTimeout(r, wait));
    send({ content: pieces[i] });
  }
  const calls = plan.tools ?? (plan.tool ? [{ name: plan.tool, args: {} }] : []);
  if (calls.length > 0) send({ tool_calls: calls.map((c, index) => ({ index, id: `call-${++made}`, type: "function", function: { name: c.name, arguments: JSON.stringify(c.args) } })) });
  send({}, calls.length > 0 ? "tool_calls" : "stop");
  res.end("data: [DONE]\n\n");
}
