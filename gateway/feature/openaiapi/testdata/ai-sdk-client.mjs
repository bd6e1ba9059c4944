// The AI SDK with its provider for services that speak OpenAI's API, both
// unchanged, against Hearth's endpoints. Their folder, the address and a token come
// in the environment.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** load imports a package from the folder in which it was installed. */
async function load(name) {
  const dir = join(process.env.AI_PACKAGES, name);
  const { exports, main } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
  const root = exports?.["."] ?? {};
  const file = [root.import?.default, root.import, root.default, main, "dist/index.js"].find((f) => typeof f === "string" && existsSync(join(dir, f)));
  return import(pathToFileURL(join(dir, file)));
}

const { generateText, streamText, stepCountIs, isStepCount, tool, jsonSchema } = await load("ai");
const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
const hearth = createOpenAICompatible({ name: "hearth", baseURL: process.env.BASE, apiKey: process.env.TOKEN });
const steps = stepCountIs ?? isStepCount;

const weather = (asked) =>
  tool({
    description: "The weather of a city.",
    inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }),
    execute: async ({ city }) => {
      asked.push(city);
      return "4 degrees, rain";
    },
  });

const checks = {
  async "a text comes whole"() {
    const { text, finishReason } = await generateText({ model: hearth("chat/echo"), prompt: "hello", maxRetries: 0 });
    assert.equal(text, "echo: hello");
    assert.equal(finishReason, "stop");
  },
  async "a text is streamed word by word"() {
    const { textStream } = streamText({ model: hearth("chat/stream-12-40"), prompt: "count", maxRetries: 0 });
    const pieces = [];
    for await (const p of textStream) pieces.push(p);
    assert.match(pieces.join(""), /^re: count\s+w1 w2 [^]*w12/);
    assert.ok(pieces.length > 1);
  },
  async "a tool of the program is called, and its result goes on"() {
    const asked = [];
    const { text } = await generateText({
      model: hearth("chat/tool-get_weather"), prompt: '{"city":"Oslo"}', tools: { get_weather: weather(asked) }, stopWhen: steps(3), maxRetries: 0,
    });
    assert.deepEqual(asked, ["Oslo"]);
    assert.match(text, /4 degrees, rain/);
  },
  async "the same, streamed"() {
    const asked = [];
    const { textStream } = streamText({
      model: hearth("chat/tool-get_weather"), prompt: '{"city":"Rome"}', tools: { get_weather: weather(asked) }, stopWhen: steps(3), maxRetries: 0,
    });
    let text = "";
    for await (const p of textStream) text += p;
    assert.deepEqual(asked, ["Rome"]);
    assert.match(text, /4 degrees, rain/);
  },
  async "a wrong token is told"() {
    const stranger = createOpenAICompatible({ name: "hearth", baseURL: process.env.BASE, apiKey: "wrong" });
    await assert.rejects(generateText({ model: stranger("chat/echo"), prompt: "hello", maxRetries: 0 }), (e) => e.statusCode === 401);
  },
};

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    console.log(`ok    ${name}`);
  } catch (e) {
    failed++;
    console.log(`FAIL  ${name}: ${e.stack ?? e}`);
  }
}
process.exit(failed ? 1 : 0);
