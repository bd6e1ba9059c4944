// The first ten minutes, each way that a newcomer may come: the address of a server, a
// key in the environment, a key pasted with and without a keychain, and looking around.
// docs/first-run.md says what is seen; HEARTH_SHOTS=folder keeps pictures of it.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { World, answered, axe, lineWith, picture, ready, say, shows, states, until } from "./harness.mjs";
import { served } from "./served.mjs";

const press = (page, words) => page.click(`.first button:has-text("${words}")`);
const noAxe = async (page) => assert.deepEqual(await axe(page), []);
const key = "gsk_0123456789abcdef0123456789abcdef0123456789abcdef0123";
const file = (f) => JSON.parse(readFileSync(f.config, "utf8"));

/** newcomer runs steps with a page of a gateway that nobody has used. */
async function newcomer(w, open, options, steps, dress = {}) {
  const f = await World.fresh(w, options);
  try {
    const page = await f.open(dress);
    open.pages.push(page);
    await ready(page);
    await steps(f, page);
  } finally {
    await f.stop();
  }
}

/** session is a session bus with a keychain on it that is open; null where this computer has none. */
async function session() {
  const has = (p) => execFileSync("sh", ["-c", `command -v ${p} || true`], { encoding: "utf8" }).trim() !== "";
  if (!has("dbus-daemon") || !has("gnome-keyring-daemon")) return null;
  const home = mkdtempSync(join(tmpdir(), "hearth-keyring-"));
  const run = join(home, "run");
  mkdirSync(run, { mode: 0o700 });
  const bus = spawn("dbus-daemon", ["--session", "--nofork", "--print-address"], { env: { PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: run } });
  const address = (await lineWith(bus, /unix:\S+/, "the session bus"))[0];
  const env = { PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: join(home, "data"), XDG_RUNTIME_DIR: run, DBUS_SESSION_BUS_ADDRESS: address };
  const ring = spawn("gnome-keyring-daemon", ["--foreground", "--unlock", "--components=secrets"], { env, stdio: ["pipe", "ignore", "ignore"] });
  ring.stdin.end("a password");
  return {
    env: { DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: run },
    end() {
      ring.kill("SIGKILL");
      bus.kill("SIGKILL");
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** service is a service on the internet as a gateway meets it: behind a proxy, under its own name, with a certificate. */
async function service(name, key) {
  const folder = mkdtempSync(join(tmpdir(), "hearth-service-"));
  const [cert, secret] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`, "-keyout", secret, "-out", cert], { stdio: "ignore" });
  const server = await served(key, { cert: readFileSync(cert), key: readFileSync(secret) });
  const sockets = new Set();
  const proxy = createServer((_req, res) => res.writeHead(502).end());
  proxy.on("connection", (s) => sockets.add(s.on("error", () => undefined)));
  proxy.on("connect", (req, client) => {
    if (req.url !== `${name}:443`) return client.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    const up = connect(Number(new URL(server.url).port), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      up.pipe(client).pipe(up);
    });
    up.on("error", () => client.destroy());
  });
  await new Promise((r) => proxy.listen(0, "127.0.0.1", r));
  return {
    env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.address().port}`, SSL_CERT_FILE: cert },
    asked: server.asked,
    close() {
      sockets.forEach((s) => s.destroy());
      proxy.close();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const cases = [
  {
    name: "first steps: the address of a server is enough; what waited is answered",
    world: "guide",
    async run(w, open) {
      const server = await served("");
      try {
        await newcomer(w, open, {}, async (f, page) => {
          await say(page, "hello there");
          await shows(page, ".first", /Your message waits/);
          await picture(page, "walk-server-1");
          await press(page, "Enter a server’s address");
          await shows(page, ".first", /Add a server/);
          await noAxe(page);
          await picture(page, "walk-server-2");
          await page.fill(".first input >> nth=0", "127.0.0.1:9");
          await page.click(".first .primary");
          await shows(page, ".first [role=alert]", /Nobody answers there/);
          await page.fill(".first input >> nth=0", server.url);
          await page.click(".first .primary");
          await shows(page, ".first", /2 models at[^]*small-vl[^]*32K · sees pictures/);
          await noAxe(page);
          await picture(page, "walk-server-3");
          await page.selectOption(".first select", "large");
          await page.click(".first .primary");
          await answered(page, "hello there");
          await shows(page, ".first .line", /vllm\/large Answered in .* tools work/);
          await shows(page, ".next", /What should I be called/);
          await picture(page, "walk-server-4");
          assert.equal(file(f).models.providers.vllm.baseUrl, `${server.url}/v1`);
        }, { width: 1280, height: 800 });
      } finally {
        server.close();
      }
    },
  },
  {
    name: "first steps: a key in the environment is offered, used after one press, and not before",
    world: "guide",
    async run(w, open) {
      const groq = await service("api.groq.com", key);
      try {
        await newcomer(w, open, { env: { ...groq.env, GROQ_API_KEY: key } }, async (f, page) => {
          await shows(page, ".first .one", /with the key found on this computer[^]*stands in the environment[^]*costs what Groq charges/);
          await say(page, "hello there");
          await shows(page, ".first", /Your message waits/);
          await noAxe(page);
          await picture(page, "walk-environment-1");
          assert.equal(groq.asked(), 0, "a key was used that nobody chose");
          await press(page, "Use");
          await answered(page, "hello there");
          await shows(page, ".first .line", /groq\/\S+ Answered in .*tools work/);
          await picture(page, "walk-environment-2");
          assert.ok(!readFileSync(f.config, "utf8").includes(key), "the key was copied into the settings");
        });
        await newcomer(w, open, { env: { ...groq.env, GROQ_API_KEY: key } }, async (f, page) => {
          const before = groq.asked();
          await shows(page, ".first .one", /with the key found on this computer/);
          await press(page, "Look around first");
          await say(page, "What can you do?");
          await shows(page, "main", /which tools are there\?/); // the question may be out of sight by then
          await picture(page, "walk-environment-3-look-around");
          assert.equal(groq.asked(), before, "the key was used though it was declined");
        }, { width: 360, height: 740, scheme: "dark" });
      } finally {
        groq.close();
      }
    },
  },
  {
    name: "first steps: without a keychain a pasted key finds a place, is tried, and answers what waited",
    world: "guide",
    async run(w, open) {
      const groq = await service("api.groq.com", key);
      try {
        await newcomer(w, open, { env: groq.env }, async (f, page) => {
          await say(page, "hello there");
          await shows(page, ".first", /Your message waits/);
          await press(page, "Paste a key");
          await page.fill(".first input[type=password] >> nth=0", key);
          await press(page, "Protect with a passphrase");
          await page.fill(".first .place input >> nth=0", "quiet river horse battery staple");
          await page.fill(".first .place input >> nth=1", "quiet river horse battery staple");
          await noAxe(page);
          await picture(page, "walk-vault-1");
          await page.click(".first .place .primary");
          await answered(page, "hello there");
          await shows(page, ".first .line", /groq\/\S+ Answered in .*tools work/);
          await picture(page, "walk-vault-2");
          assert.ok(!readFileSync(f.config, "utf8").includes(key), "the key stands in the settings");
          assert.deepEqual(await states(page), [["hello there", "answered"]]);
        }, { width: 360, height: 740 });
      } finally {
        groq.close();
      }
    },
  },
  {
    name: "first steps: with a keychain a pasted key is kept there and nobody asks where",
    world: "guide",
    async run(w, open) {
      const bus = await session();
      if (!bus) return; // the check keyring wants one
      const groq = await service("api.groq.com", key);
      try {
        await newcomer(w, open, { env: { ...groq.env, ...bus.env } }, async (f, page) => {
          await press(page, "Paste a key");
          await page.fill(".first input[type=password]", "gsk_wrong6789abcdef0123456789abcdef0123456789abcdef0123");
          assert.equal(await page.$(".first .place"), null);
          await press(page, "Try it");
          await shows(page, ".first [role=alert]", /refuse|401|not accept/i);
          await noAxe(page);
          await picture(page, "walk-keychain-1-refused");
          await page.fill(".first input[type=password]", key);
          await press(page, "Try it");
          await until(page, () => document.querySelector(".first .line"));
          await shows(page, ".first .line", /groq\/\S+ Answered in .*tools work/);
          await picture(page, "walk-keychain-2");
          const kept = execFileSync(f.bin, ["secrets", "list"], { env: f.env, encoding: "utf8" });
          assert.match(kept, /groq/);
          assert.equal(file(f).secrets, undefined, "another place was chosen");
          assert.ok(!readFileSync(f.config, "utf8").includes(key));
        });
      } finally {
        groq.close();
        bus.end();
      }
    },
  },
];
