// Starts the real thing for the page's tests: the gateway on a folder of its
// own, two model servers, and Chromium. Everything it starts it stops.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { launchFirefox } from "./firefox.mjs";
import { startModel } from "./model.mjs";

export const root = fileURLToPath(new URL("../../..", import.meta.url));
/** isFirefox: the cases of firefox.mjs run there; everything runs in Chromium. */
export const isFirefox = process.env.HEARTH_BROWSER === "firefox";
const axeSource = readFileSync(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

export const chromiums = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

// Below those that systems give to outgoing connections: many tests run beside these, and
// a port that was free must be so still when the gateway takes it.
const [firstPort, ports] = [20_000, 10_000];

/** freePort finds a port that nobody has. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const look = (left) => {
      const port = firstPort + Math.floor(Math.random() * ports);
      const s = createServer();
      s.once("error", (e) => (left > 0 ? look(left - 1) : reject(e)));
      s.listen(port, "127.0.0.1", () => s.close(() => resolve(port)));
    };
    look(20);
  });
}

const launchChromium = () =>
  chromium.launch({
    executablePath: chromiums.find((p) => p && existsSync(p)),
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });

const programs = new Map();

/** program builds a program of the checkout once, for all worlds. */
export function program(folder) {
  const out = join(root, `build/bin/${folder.split("/").at(-1)}-pagetest`);
  if (!programs.has(folder)) execFileSync("go", ["build", "-o", out, folder], { cwd: root, stdio: "inherit", env: { ...process.env, CGO_ENABLED: "0" } });
  programs.set(folder, out);
  return out;
}

/** lineWith resolves with the first output line of a process that matches. */
export function lineWith(child, pattern, what) {
  return new Promise((resolve, reject) => {
    let seen = "";
    const timer = setTimeout(() => {
      // A Go program that is told to quit says where each of its goroutines stands.
      child.off("exit", ended).kill("SIGQUIT");
      setTimeout(() => reject(new Error(`${what} said nothing like ${pattern} in 20 s:\n${seen}`)), 2_000);
    }, 20_000);
    const read = (chunk) => {
      seen += chunk;
      const m = pattern.exec(seen);
      if (m) (clearTimeout(timer), resolve(m));
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    const ended = (code) => (clearTimeout(timer), reject(new Error(`${what} ended with ${code}:\n${seen}`)));
    child.once("exit", ended);
  });
}

const gone = (child) => new Promise((r) => (child.exitCode !== null || child.signalCode !== null ? r() : child.once("exit", r)));

export class World {
  static async start({ models = {}, defaultModel = "script/echo" } = {}) {
    const w = new World();
    w.home = mkdtempSync(join(tmpdir(), "hearth-page-"));
    w.bin = process.env.HEARTH_BIN ?? program("./app/hearth"); // one that is built already
    w.port = await freePort();
    w.url = `http://127.0.0.1:${w.port}`;
    w.script = spawn(program("./build/scriptmodel"), ["-addr", `127.0.0.1:${(w.scriptPort = await freePort())}`]);
    await lineWith(w.script, /http:\/\/\S+/, "the scripted model");
    w.model = await startModel(models);
    w.config = join(w.home, "hearth.json");
    w.setConfig(defaultModel, Object.keys(models));
    await w.startGateway();
    w.browser = await (isFirefox ? launchFirefox() : launchChromium());
    return w;
  }

  /** fresh is a gateway that nobody has used, beside w, whose browser and model server it shares. */
  static async fresh(w, { ollama = false, settings = {}, env = {} } = {}) {
    const f = new World();
    const { bin, browser, scriptPort } = w;
    Object.assign(f, { bin, browser, scriptPort, shared: true, home: mkdtempSync(join(tmpdir(), "hearth-page-")), port: await freePort() });
    f.url = `http://127.0.0.1:${f.port}`;
    f.more = { OLLAMA_HOST: `http://127.0.0.1:${ollama ? scriptPort : 9}`, ...env };
    f.config = join(f.home, "hearth.json");
    f.setConfig("", [], settings);
    await f.startGateway();
    return f;
  }

  setConfig(defaultModel, own = [], more = {}) {
    const scripted = ["echo", "stream-40-50", "stream-400-20", "stream-3000-10", "tool-session_status", "fault-401", "fault-once-500", "fault-hang", "fault-cut-5", "long-40"];
    const entry = (id) => ({ id, name: id, contextWindow: 200_000, ...(id === "eyes" ? { input: ["text", "image"] } : {}) });
    const providers = {
      script: { baseUrl: `http://127.0.0.1:${this.scriptPort}/v1`, apiKey: "test", api: "openai-completions", models: scripted.map(entry) },
    };
    if (own.length > 0) providers.own = { baseUrl: this.model.url, apiKey: "test", api: "openai-completions", models: own.map(entry) };
    const agents = defaultModel ? { defaults: { model: defaultModel } } : {};
    writeFileSync(this.config, JSON.stringify({ gateway: { port: this.port }, models: { providers: defaultModel ? providers : {} }, agents, features: { titles: false }, ...more }, null, 2), { mode: 0o600 });
  }

  get env() {
    return { PATH: process.env.PATH, HOME: this.home, HEARTH_HOME: join(this.home, "state"), HEARTH_CONFIG: this.config, PORT: String(this.port), ...this.more };
  }

  async startGateway() {
    this.gateway = spawn(this.bin, ["gateway"], { env: this.env });
    this.log = "";
    this.gateway.stdout.on("data", (d) => (this.log += d));
    this.gateway.stderr.on("data", (d) => (this.log += d));
    this.link = (await lineWith(this.gateway, /http:\/\/\S+#launch=\S+/, "the gateway"))[0];
  }

  async killGateway(signal = "SIGKILL") {
    this.gateway.kill(signal);
    await gone(this.gateway);
  }

  newLink() {
    return execFileSync(this.bin, ["open", "--print"], { env: this.env, encoding: "utf8" }).trim();
  }

  /** open gives a page of a new browser, let in, with everything suspicious noted. */
  async open({ width = 1280, height = 800, scheme = "light", link, before, ...more } = {}) {
    const context = await this.browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: "reduce", locale: "en-GB", serviceWorkers: "block", ...more });
    const page = await context.newPage();
    watch(page, this.url);
    await before?.(page);
    await page.goto(link ?? this.newLink());
    return page;
  }

  async stop() {
    if (!this.shared) await this.browser?.close();
    await this.killGateway();
    this.script?.kill("SIGKILL");
    await this.model?.stop();
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** watch collects what must never happen in any test. */
export function watch(page, origin) {
  page.trouble = [];
  page.on("dialog", (d) => (page.trouble.push(`dialog: ${d.message()}`), d.dismiss()));
  // Firefox reports what the policy refused as an error of the page.
  // A gateway that is away is no error of the page's either, and Firefox says it is one.
  page.on("pageerror", (e) => /^Firefox can.t establish a connection to the server at ws:/.test(e.message) || page.trouble.push(`${/^The page.s settings blocked/.test(e.message) ? "policy" : "error"}: ${e.message}`));
  page.on("request", (r) => {
    const u = new URL(r.url());
    if (u.origin !== origin && u.protocol !== "data:" && u.protocol !== "blob:") page.trouble.push(`request: ${r.url()}`);
  });
  page.on("console", (m) => {
    const at = m.location(); // what did it, where the browser says so
    if (/Content Security Policy|Trusted ?Type/i.test(m.text())) page.trouble.push(`policy: ${m.text()} (${at.url}:${at.lineNumber}:${at.columnNumber})`);
  });
}

/** until waits for a condition in the page. */
export const until = (page, fn, arg, timeout = 30_000) => page.waitForFunction(fn, arg, { timeout, polling: 50 });

/** picture keeps what is seen in the folder that HEARTH_SHOTS names, for people to look at. */
export const picture = (page, name) => (process.env.HEARTH_SHOTS ? page.screenshot({ path: join(process.env.HEARTH_SHOTS, `${name}.png`) }) : undefined);

/** eventually waits for a condition outside of the page, such as a file's text. */
export async function eventually(what, ok, timeout = 30_000) {
  for (const end = performance.now() + timeout; !ok(); await new Promise((r) => setTimeout(r, 50))) if (performance.now() > end) throw new Error(`${what} did not happen`);
}

export const say = async (page, text) => {
  await page.fill("#composer", text);
  await page.press("#composer", "Enter");
};

/** imeKey is a key that an input method has for itself. */
export const imeKey = (page, selector, key) =>
  page.$eval(selector, (e, key) => void e.dispatchEvent(new KeyboardEvent("keydown", { key, isComposing: true, bubbles: true, cancelable: true })), key);

/** states lists the person's messages with what became of them. */
export const states = (page) => page.$$eval("article[data-state]", (all) => all.map((e) => [e.querySelector(".bubble").textContent, e.dataset.state]));

export const answered = (page, text, state = "answered", timeout = 30_000) =>
  until(
    page,
    ([t, s]) => [...document.querySelectorAll("article[data-state]")].some((e) => e.querySelector(".bubble")?.textContent === t && e.dataset.state === s),
    [text, state],
    timeout,
  );

/** pick chooses a model for the open chat. */
export async function pick(page, name) {
  await page.click(".pick:has(.name)"); // who answers is chosen beside it
  await page.click(`[role=menuitemradio]:has(bdi:text-is("${name}"))`);
  await until(page, (n) => document.querySelector(".pick .name").textContent === n, name);
}

/** says waits until the last answer reads exactly so. */
export async function says(page, want) {
  const last = () => [...document.querySelectorAll(".row.text .md")].at(-1)?.innerText.trim();
  const is = (w) => [...document.querySelectorAll(".row.text .md")].at(-1)?.innerText.trim() === w;
  await until(page, is, want).catch(async () => {
    throw new Error(`the last answer reads ${JSON.stringify(await page.evaluate(last))}, not ${JSON.stringify(want)}`);
  });
}

/** text is what the last answer says; rows are hidden until they were measured. */
export const text = async (page) => {
  await until(page, () => [...document.querySelectorAll(".row.text .md")].at(-1)?.innerText);
  return page.$$eval(".row.text .md", (all) => all.at(-1).innerText.trim());
};

/** shows waits until what is seen of the first such element reads like this: rows are hidden until they were measured. */
export async function shows(page, selector, want) {
  const is = ([s, source, flags]) => new RegExp(source, flags).test(document.querySelector(s)?.innerText ?? "");
  await until(page, is, [selector, want.source, want.flags]).catch(async () => {
    throw new Error(`${selector} reads ${JSON.stringify(await page.evaluate((s) => document.querySelector(s)?.innerText ?? null, selector))}, not like ${want}`);
  });
}

export const ready = (page) => until(page, () => document.querySelector("#composer") && !document.querySelector(".banner.link") && document.querySelector(".welcome, [role=log]"));

/** still waits until nothing fades or moves any more: colours that are half there are no one's to read. */
const still = () => {
  const ends = document.getAnimations().filter((a) => Number.isFinite(a.effect?.getComputedTiming().endTime));
  return Promise.race([Promise.allSettled(ends.map((a) => a.finished)), new Promise((r) => setTimeout(r, 2000))]).then(() => undefined);
};

/** axeFound is axe in a browser that runs what a driver sends whatever the page's policy says. */
const axeFound = async (source) => {
  (0, eval)(source);
  const r = await window.axe.run(document, { resultTypes: ["violations"], preload: false });
  return r.violations.map((v) => ({ id: v.id, impact: v.impact, nodes: v.nodes.slice(0, 4).map((n) => `${n.html.slice(0, 160)} :: ${n.any[0]?.message ?? n.failureSummary}`) }));
};

/** axe returns the violations, short. The page's policy forbids eval, so axe runs in an
 * isolated world. It preloads nothing: the text of a style sheet that is on its way, as
 * when the gateway was away, it would put into an inline one, which the policy refuses. */
export async function axe(page) {
  await page.evaluate(still);
  if (isFirefox) return page.evaluate(axeFound, axeSource);
  const client = await page.context().newCDPSession(page);
  const { frameTree } = await client.send("Page.getFrameTree");
  const { executionContextId } = await client.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id, worldName: "axe" });
  await client.send("Runtime.evaluate", { expression: axeSource, contextId: executionContextId });
  const run = "axe.run(document, { resultTypes: ['violations'], preload: false }).then((r) => JSON.stringify(r.violations.map((v) => ({ id: v.id, impact: v.impact, nodes: v.nodes.slice(0, 4).map((n) => n.html.slice(0, 160) + ' :: ' + (n.any[0]?.message ?? n.failureSummary)) }))))";
  const { result, exceptionDetails } = await client.send("Runtime.evaluate", { expression: run, contextId: executionContextId, awaitPromise: true });
  await client.detach();
  if (exceptionDetails) throw new Error("axe: " + exceptionDetails.exception?.description);
  return JSON.parse(result.value);
}
