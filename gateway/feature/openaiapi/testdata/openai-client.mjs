// The openai package, unchanged, against Hearth's endpoints. Its folder, the
// address and a token come in the environment.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.env.OPENAI_PACKAGE, "package.json"));
const OpenAI = require("openai");
const client = new OpenAI({ baseURL: process.env.BASE, apiKey: process.env.TOKEN, maxRetries: 0 });

const user = (content) => ({ role: "user", content });
const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather of a city.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

const checks = {
  async "a chat is streamed word by word"() {
    const stream = await client.chat.completions.create({ model: "hearth", messages: [user("one two three")], stream: true, stream_options: { include_usage: true } });
    let text = "", chunks = 0, usage, finish;
    for await (const c of stream) {
      text += c.choices[0]?.delta?.content ?? "";
      finish = c.choices[0]?.finish_reason ?? finish;
      usage = c.usage ?? usage;
      chunks++;
    }
    assert.equal(text, "echo: one two three");
    assert.equal(finish, "stop");
    assert.ok(chunks > 3 && usage.total_tokens > 0);
  },
  async "a chat comes whole"() {
    const c = await client.chat.completions.create({ model: "chat/echo", messages: [{ role: "system", content: "Be brief." }, user([{ type: "text", text: "hi" }])] });
    assert.equal(c.choices[0].message.content, "echo: hi");
    assert.equal(c.object, "chat.completion");
  },
  async "a tool call is streamed, and its result goes on"() {
    const messages = [user('{"city":"Oslo"}')];
    const first = await client.chat.completions.stream({ model: "chat/tool-get_weather", messages, tools: [weather] }).finalChatCompletion();
    const { message, finish_reason } = first.choices[0];
    assert.equal(finish_reason, "tool_calls");
    assert.equal(message.tool_calls[0].function.name, "get_weather");
    assert.deepEqual(JSON.parse(message.tool_calls[0].function.arguments), { city: "Oslo" });
    messages.push(message, { role: "tool", tool_call_id: message.tool_calls[0].id, content: "4 degrees, rain" });
    const next = await client.chat.completions.stream({ model: "chat/tool-get_weather", messages, tools: [weather] }).finalChatCompletion();
    assert.match(next.choices[0].message.content, /The tool said:[^]*4 degrees, rain/);
  },
  async "the client runs tools by itself"() {
    const asked = [];
    const runner = client.chat.completions.runTools({
      model: "chat/tool-get_weather",
      messages: [user('{"city":"Rome"}')],
      stream: true,
      tools: [{ type: "function", function: { ...weather.function, parse: JSON.parse, function: ({ city }) => { asked.push(city); return "warm"; } } }],
    });
    assert.match(await runner.finalContent(), /warm/);
    assert.deepEqual(asked, ["Rome"]);
  },
  async "a response is streamed"() {
    const kinds = new Set();
    let text = "";
    const stream = client.responses.stream({ model: "hearth", input: "hello there" });
    for await (const e of stream) {
      kinds.add(e.type);
      if (e.type === "response.output_text.delta") text += e.delta;
    }
    const final = await stream.finalResponse();
    assert.equal(text, "echo: hello there");
    assert.equal(final.output_text, text);
    assert.ok(kinds.has("response.created") && kinds.has("response.completed"));
    const next = await client.responses.create({ model: "hearth", input: "again", previous_response_id: final.id });
    assert.equal(next.output_text, "echo: again");
  },
  async "a response calls a function"() {
    const tools = [{ type: "function", name: "get_weather", description: "", parameters: weather.function.parameters, strict: true }];
    const stream = client.responses.stream({ model: "chat/tool-get_weather", input: '{"city":"Oslo"}', tools });
    const first = await stream.finalResponse();
    const call = first.output.find((o) => o.type === "function_call");
    assert.deepEqual(JSON.parse(call.arguments), { city: "Oslo" });
    const next = await client.responses.create({ model: "chat/tool-get_weather", previous_response_id: first.id, input: [{ type: "function_call_output", call_id: call.call_id, output: "snow" }] });
    assert.match(next.output_text, /snow/);
  },
  async "models are listed"() {
    const ids = [];
    for await (const m of client.models.list()) ids.push(m.id);
    assert.ok(ids.includes("hearth") && ids.includes("hearth/main"), ids.join(" "));
    assert.equal((await client.models.retrieve("hearth")).id, "hearth");
    await assert.rejects(client.models.retrieve("nothing"), OpenAI.NotFoundError);
  },
  async "vectors, as they are set up"() {
    const made = client.embeddings.create({ model: "hearth", input: ["a text", "another"] });
    if (process.env.VECTORS !== "yes") {
      return assert.rejects(made, (e) => e instanceof OpenAI.APIError && e.status === 501 && /memorySearch/.test(e.message));
    }
    const { data } = await made;
    assert.equal(data.length, 2);
    assert.equal(data[1].embedding.length, 3);
  },
  async "failures come as the client's errors"() {
    await assert.rejects(client.chat.completions.create({ model: "gpt-nothing", messages: [user("x")] }), (e) => e instanceof OpenAI.NotFoundError && e.code === "model_not_found");
    await assert.rejects(client.chat.completions.create({ model: "hearth", messages: [] }), OpenAI.BadRequestError);
    await assert.rejects(new OpenAI({ baseURL: process.env.BASE, apiKey: "wrong", maxRetries: 0 }).models.list(), OpenAI.AuthenticationError);
    const stream = await client.chat.completions.create({ model: "chat/fault-cut-3", messages: [user("one two three four five")], stream: true });
    await assert.rejects(async () => { for await (const _ of stream); }, OpenAI.APIError);
  },
};

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    console.log("ok", name);
  } catch (e) {
    failed++;
    console.log("FAILED", name, "\n", e);
  }
}
process.exit(failed ? 1 : 0);
