// An OpenAI-compatible server of models, as vLLM answers, that may want a key. It does what
// Hearth tries of a model: says hello, calls a tool with a number, finds a word in a text.
import { createServer } from "node:http";
import { createServer as createSecure } from "node:https";

/** served starts one; with a key, it wants that one. */
export async function served(key, secure = null) {
  let asked = 0;
  const answer = (req, res) => {
    asked++;
    const json = (code, body) => (res.writeHead(code, { "Content-Type": "application/json" }), res.end(JSON.stringify(body)));
    if (key && req.headers.authorization !== `Bearer ${key}`) return json(401, { error: { message: "no" } });
    if (req.url.endsWith("/v1/models")) {
      return json(200, { object: "list", data: [
        { id: "small-vl", object: "model", owned_by: "vllm", max_model_len: 32768, architecture: { input_modalities: ["text", "image"] } },
        { id: "large", object: "model", owned_by: "vllm", max_model_len: 131072 },
      ] });
    }
    if (!req.url.endsWith("/v1/chat/completions")) return json(404, {});
    let body = "";
    req.on("data", (d) => (body += d)).on("end", () => {
      const asked = JSON.parse(body);
      const said = JSON.stringify(asked.messages).replaceAll('\\"', '"');
      const wanted = /"number": (\d+)/.exec(said);
      const word = /The secret word is ([a-z]+-\d+)/.exec(said)?.[1];
      const call = asked.tools && wanted && { index: 0, id: "c1", type: "function", function: { name: asked.tools[0].function.name, arguments: `{"number": ${wanted[1]}}` } };
      res.writeHead(200, { "Content-Type": "text/event-stream" });
      const send = (delta, finish_reason = null) => res.write(`data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", model: asked.model, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
      if (call) send({ role: "assistant", tool_calls: [call] });
      else send({ role: "assistant", content: word ?? "Hello. What can I do for you?" });
      send({}, call ? "tool_calls" : "stop");
      res.end("data: [DONE]\n\n");
    });
  };
  const s = secure ? createSecure(secure, answer) : createServer(answer);
  await new Promise((r) => s.listen(0, "127.0.0.1", r));
  return { url: `${secure ? "https" : "http"}://127.0.0.1:${s.address().port}`, asked: () => asked, close: () => s.close() };
}
