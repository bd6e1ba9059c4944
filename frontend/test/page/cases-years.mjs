// A Hearth of years: it goes to another machine and comes back, and is updated, all by
// clicking, with the real programs on both sides.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { World, axe, eventually, freePort, ready, root, say, shows, states, until } from "./harness.mjs";

const move = "dialog [data-part=move]";
const dialog = "dialog.move[open]";

/** health opens Health & backup. */
async function health(page) {
  await ready(page);
  await page.keyboard.press("Control+,");
  await page.click("dialog nav [data-pane=health]");
  await page.waitForSelector("dialog section h2");
}

/** picture keeps what a person would see, where somebody wants to look at it. */
export async function picture(page, name) {
  const folder = process.env.HEARTH_SHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** seen looks at a page as it is in every dress: nothing is wider than the screen, and axe finds nothing. */
async function seen(page, name, what) {
  const size = page.viewportSize();
  for (const [width, scheme, dir] of [[1280, "light", "ltr"], [1280, "dark", "ltr"], [360, "light", "ltr"], [360, "dark", "rtl"]]) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme: scheme });
    await page.evaluate((d) => (document.documentElement.dir = d), dir);
    if (what) await page.locator(what).scrollIntoViewIfNeeded();
    await picture(page, `${name}-${width}-${scheme}-${dir}`);
    assert.deepEqual(await axe(page), [], `${name}, ${width}, ${scheme}, ${dir}`);
    const wider = await page.evaluate(() => Math.max(...[...document.querySelectorAll("dialog[open]")].map((e) => e.scrollWidth - e.clientWidth), document.documentElement.scrollWidth - innerWidth));
    assert.ok(wider <= 0, `${name} at ${width}: ${wider} px wider than the screen`);
  }
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme: "light" });
  await page.evaluate(() => (document.documentElement.dir = "ltr"));
}

/** address is one of this machine in the local network. */
function address(port) {
  for (const a of Object.values(networkInterfaces()).flat()) {
    if (a.internal || a.scopeid) continue;
    if (a.family === "IPv6" && /^f[cd]/.test(a.address)) return `[${a.address}]:${port}`;
    if (a.family === "IPv4" && /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/.test(a.address)) return `${a.address}:${port}`;
  }
  throw new Error("this machine has no address in a local network, so nothing can be moved to it");
}

/** machine is another one: Hearth is installed there, and does not run. */
function machine(bin) {
  const home = mkdtempSync(join(tmpdir(), "hearth-other-"));
  const m = { home, said: "", env: { PATH: process.env.PATH, HOME: home, HEARTH_HOME: join(home, "state"), HEARTH_DISABLE_BONJOUR: "1" } };
  m.start = (...args) => {
    m.said = "";
    const child = spawn(bin, args, { env: m.env, stdio: ["pipe", "pipe", "pipe"] });
    for (const s of [child.stdout, child.stderr]) s.on("data", (d) => (m.said += d));
    m.ended = new Promise((r) => {
      const late = setTimeout(() => args[0] !== "gateway" && (child.kill("SIGKILL"), r("it did not end")), 90_000);
      child.once("exit", (code, signal) => (clearTimeout(late), r(code ?? signal)));
    });
    m.child = child;
    return child;
  };
  m.remove = () => (m.child?.kill("SIGKILL"), rmSync(home, { recursive: true, force: true }));
  return m;
}

/** gateway starts what was moved to a machine, and gives the link to its page. */
async function gateway(m, port) {
  m.start("gateway", "--port", String(port));
  await eventually("the moved gateway's link", () => /http:\/\/\S+#launch=\S+/.test(m.said));
  return /http:\/\/\S+#launch=\S+/.exec(m.said)[0];
}

/** house is a gateway of its own, which the local network reaches and in which something was said. */
async function house(w, open) {
  const a = await World.fresh(w);
  a.more.HEARTH_DISABLE_BONJOUR = "1";
  a.setConfig("script/echo");
  execFileSync(a.bin, ["lan", "on"], { env: a.env });
  const page = await a.open();
  open.pages.push(page);
  await ready(page);
  await say(page, "remember the bread");
  await until(page, () => document.querySelector(".row.text .md"));
  return { a, page };
}

const module = "github.com/hearth-assistant/hearth/";

/** versions are programs of three releases, one of which hangs once it runs for good, and the tool that signs them. */
function versions() {
  const dir = process.env.HEARTH_UPDATE_PROGRAMS ?? join(root, "build/bin/versions-pagetest");
  if (process.env.HEARTH_UPDATE_PROGRAMS) return dir;
  const hearth = (v, more = "") => ["-tags", "failpoint", "-ldflags", `-s -w -X main.version=${v}${more}`, `${module}app/hearth`];
  const all = { "0.2.0": hearth("0.2.0"), "0.4.0": hearth("0.4.0", ` -X ${module}gateway/store.nextSchema=yes`), faulty: [`${module}gateway/release/testdata/version`], release: [`${module}build/release`] };
  for (const [name, args] of Object.entries(all)) execFileSync("go", ["build", "-o", join(dir, name), ...args], { cwd: root, stdio: "inherit", env: { ...process.env, CGO_ENABLED: "0" } });
  return dir;
}

/** installed is a Hearth 0.2.0 in a folder of its own, and a server of releases that are signed. */
async function installed(w) {
  const dir = versions();
  const at = mkdtempSync(join(tmpdir(), "hearth-installed-"));
  const [place, site, keys] = ["hearth", "site", "keys"].map((n) => join(at, n));
  for (const d of [place, site, keys]) mkdirSync(d);
  copyFileSync(join(dir, "0.2.0"), join(place, "hearth"));
  writeFileSync(join(place, "hearth-channels"), "#!/bin/sh\necho 0.2.0\n", { mode: 0o755 });
  const tool = (...args) => execFileSync(join(dir, "release"), args, { encoding: "utf8" }).trim();
  const [rootKey, key] = [tool("key", join(keys, "root")), tool("key", join(keys, "release"))];
  tool("trust", "-root", join(keys, "root"), "-release", key, site);
  const server = createServer((req, res) => {
    const file = join(site, new URL(req.url, "http://x").pathname);
    return existsSync(file) ? res.end(readFileSync(file)) : res.writeHead(404).end();
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  let sequence = 0;
  const publish = (version, program, channels) => {
    const packages = mkdtempSync(join(at, "packages-"));
    const name = `hearth-gateway_${version}_${process.platform}_${{ x64: "amd64" }[process.arch] ?? process.arch}`;
    mkdirSync(join(packages, name));
    copyFileSync(join(dir, program), join(packages, name, "hearth"));
    writeFileSync(join(packages, name, "hearth-channels"), channels, { mode: 0o755 });
    execFileSync("tar", ["-C", packages, "-czf", join(packages, `${name}.tar.gz`), name]);
    rmSync(join(packages, name), { recursive: true });
    tool("manifest", "-key", join(keys, "release"), "-packages", packages, "-sequence", String(++sequence), site);
  };
  const f = await World.fresh({ ...w, bin: join(place, "hearth"), browser: w.browser, scriptPort: w.scriptPort });
  f.setConfig("script/echo");
  for (const [k, v] of [["source", `http://127.0.0.1:${server.address().port}`], ["key", rootKey]]) execFileSync(f.bin, ["config", "set", `update.${k}`, v], { env: f.env });
  const stop = async () => {
    await f.stop();
    server.closeAllConnections();
    server.close();
    rmSync(at, { recursive: true, force: true });
  };
  return { f, publish, stop };
}

const updates = "dialog [data-part=updates]";

export const cases = [
  {
    name: "backups are set up and made by clicking, and one is put back on another machine",
    async run(w, open) {
      const { a, page } = await house(w, open);
      const b = machine(a.bin);
      try {
        await health(page);
        const pane = "dialog [data-part=backup]";
        const disk = join(a.home, "disk");
        mkdirSync(disk);
        await shows(page, pane, /One encrypted file a day/);
        await page.fill(`${pane} input >> nth=0`, disk);
        await page.fill(`${pane} input >> nth=1`, "a long passphrase of mine");
        await page.fill(`${pane} input >> nth=2`, "another one");
        await shows(page, pane, /The two passphrases differ/);
        await seen(page, "backup-setup", pane);
        await page.fill(`${pane} input >> nth=2`, "a long passphrase of mine");
        await page.click(`${pane} button >> text=Save there each day`);
        await shows(page, pane, /Backups go to .*disk, one a day\.\s+None was made yet\./);
        await page.click(`${pane} button >> text=Back up now`);
        await shows(page, pane, /It is made, with \d+ files\./);
        await seen(page, "backup-made", pane);
        b.start("backup", "restore", disk, "--yes").stdin.end("a long passphrase of mine\n");
        assert.equal(await b.ended, 0, b.said);
        const there = await a.browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-GB", serviceWorkers: "block" });
        const other = await there.newPage();
        other.trouble = [];
        open.pages.push(other);
        await other.goto(await gateway(b, await freePort()));
        await ready(other);
        await until(other, () => /remember the bread/.test(document.querySelector("nav")?.innerText ?? ""));
      } finally {
        b.remove();
        await a.stop();
      }
    },
  },
  {
    name: "the database is checked and compacted from the page with its progress, and what the doctor found is mended there",
    async run(w, open) {
      const page = await open();
      await health(page);
      const store = "dialog [data-part=store]";
      await shows(page, store, /\d MB, of which [\d.]+ MB are not in use\./);
      await page.click(`${store} button >> text=Check all of it`);
      await shows(page, store, /All \d+ records could be read/);
      await page.click(`${store} button >> text=Compact now`);
      await shows(page, store, /[\d.]+ MB were given back/);
      const half = join(w.home, "Hearth", ".hearth-ABCDEFGHIJKLMNOPQRSTUVWX23");
      mkdirSync(join(w.home, "Hearth"), { recursive: true });
      writeFileSync(half, "half");
      utimesSync(half, Date.now() / 1000 - 7200, Date.now() / 1000 - 7200);
      await page.click("dialog section button >> text=Look everything over");
      await page.click("dialog section li:has-text('halves of files') button >> text=Mend");
      await eventually("the half is removed", () => !existsSync(half));
      await until(page, () => !/halves of files that were/.test(document.querySelector("dialog section")?.innerText ?? ""));
      await seen(page, "store", store);
    },
  },
  {
    name: "updated by clicking, back to the old version, and a bad version that is taken back by itself",
    async run(w, open) {
      const { f, publish, stop } = await installed(w);
      try {
        // A service would start it so: what it becomes is its own matter.
        await f.killGateway("SIGTERM");
        f.more.HEARTH_FAILPOINT_TIMES = "update:health=8s,update:watch=2s";
        await f.startGateway();
        const page = await f.open();
        open.pages.push(page);
        await ready(page);
        await say(page, "before the update");
        await until(page, () => document.querySelector("article[data-state=answered]"));
        publish("0.4.0", "0.4.0", "#!/bin/sh\necho 0.4.0\n");
        await health(page);
        await shows(page, updates, /Hearth 0\.2\.0 is running/);
        await page.click(`${updates} button >> text=Look for a new version`);
        await shows(page, updates, /Hearth 0\.4\.0 is there\./);
        await seen(page, "update-there", updates);
        await page.click(`${updates} button >> text=Update now`);
        await shows(page, updates, /downloaded|tried on a copy|changes over/);
        await page.locator(updates).scrollIntoViewIfNeeded();
        await picture(page, "update-running");
        await shows(page, updates, /Hearth 0\.4\.0 is running/);
        // Once it has proved itself there is a way back.
        await page.waitForSelector(`${updates} button >> text=Back to 0.2.0`, { timeout: 40_000 });
        await seen(page, "update-done", updates);
        await page.click(`${updates} button >> text=Back to 0.2.0`);
        await shows(page, updates, /Your messages stay/);
        await seen(page, "update-back", updates);
        await page.click(`${updates} button >> text=Yes, back to 0.2.0`);
        await shows(page, updates, /Hearth 0\.2\.0 is running/);
        await page.keyboard.press("Escape");
        await ready(page);
        assert.deepEqual(await states(page), [["before the update", "answered"]]);
        // A version that hangs once it runs for good.
        publish("0.5.0", "faulty", "0.5.0 run:hang");
        await health(page);
        await page.click(`${updates} button >> text=Look for a new version`);
        await shows(page, updates, /Hearth 0\.5\.0 is there\./);
        await page.click(`${updates} button >> text=Update now`);
        await shows(page, updates, /Hearth 0\.5\.0 is there\.\s+It was tried and taken back: it did not answer within/);
        await seen(page, "update-taken-back", updates);
        await shows(page, "dialog section", /Version 0\.2\.0, /);
        await page.keyboard.press("Escape");
        await ready(page);
        await say(page, "after all of it");
        await until(page, () => [...document.querySelectorAll("article[data-state=answered] .bubble")].some((e) => e.textContent === "after all of it"));
      } finally {
        await stop();
      }
    },
  },
  {
    name: "moved to another machine by clicking, with six digits on both screens; the old one sleeps and is woken",
    async run(w, open) {
      const { a, page } = await house(w, open);
      const b = machine(a.bin);
      try {
        await health(page);
        await page.click(`${move} button >> text=Move to another machine…`);
        await page.waitForSelector(dialog);
        await seen(page, "move-warn");
        await page.click(`${dialog} button >> text=Offer it for half an hour`);
        await page.waitForSelector(`${dialog} ol`);
        await seen(page, "move-offered");
        const arabic = await a.open({ locale: "ar-EG", width: 360, scheme: "dark" });
        open.pages.push(arabic);
        await health(arabic);
        assert.equal(await arabic.evaluate(() => document.documentElement.dir), "rtl");
        await arabic.locator(`${move} button`).click();
        await arabic.waitForSelector(`${dialog} ol`);
        await arabic.waitForSelector(`${dialog} textarea`); // the offer is another page's, and the code a new one
        assert.doesNotMatch(await arabic.textContent(dialog), /machine|digits|offer/i);
        await picture(arabic, "move-offered-arabic");
        assert.deepEqual(await axe(arabic), []);
        await arabic.context().close();
        b.start("move", "from", address(a.port));
        await page.waitForSelector(`${dialog} .ask`);
        await seen(page, "move-digits");
        const digits = (await page.textContent(`${dialog} .digits`)).trim();
        assert.match(digits, /^\d{3} \d{3}$/);
        await eventually("the digits on the other screen", () => b.said.includes(digits) && /Are they the same/.test(b.said));
        b.child.stdin.write("y\n");
        await page.click(`${dialog} button >> text=They are the same`);
        assert.equal(await b.ended, 0, b.said);
        assert.match(b.said, /lives here now/);
        await shows(page, dialog, /This Hearth sleeps since/);
        await shows(page, dialog, /It is awake on .*\. You can remove it from this machine\./);
        await seen(page, "move-arrived");
        await page.click(`${dialog} button >> text=Close`);
        await shows(page, move, /It is awake on/);
        await seen(page, "move-asleep", move);
        // There it is, with what was said.
        const there = await a.browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-GB", serviceWorkers: "block" });
        const other = await there.newPage();
        other.trouble = [];
        open.pages.push(other);
        await other.goto(await gateway(b, await freePort()));
        await ready(other);
        await until(other, () => /remember the bread/.test(document.querySelector("nav")?.innerText ?? ""));
        await other.click("nav .item >> text=remember the bread");
        await until(other, () => [...document.querySelectorAll("article[data-state] .bubble")].some((e) => e.textContent === "remember the bread"));
        await say(other, "and the butter");
        await until(other, () => [...document.querySelectorAll("article[data-state=answered] .bubble")].some((e) => e.textContent === "and the butter"));
        b.child.kill("SIGTERM");
        await b.ended;
        // Its person wants it back here: not without a word.
        await page.click(`${move} button >> text=Wake it here`);
        await shows(page, move, /two answer as the same Hearth/);
        await seen(page, "move-wake", move);
        await page.click(`${move} button >> text=Yes, no other one runs`);
        await page.waitForSelector(`${move} button >> text=Move to another machine…`);
        await page.keyboard.press("Escape");
        await ready(page);
        await say(page, "and the jam");
        await until(page, () => [...document.querySelectorAll("article[data-state=answered] .bubble")].some((e) => e.textContent === "and the jam"));
        assert.ok(!(await states(page)).some(([text]) => text === "and the butter"), "what was said there is here");
      } finally {
        b.remove();
        await a.stop();
      }
    },
  },
  {
    name: "moved by the code of the page and cut short: the page says how far it is, and the same command goes on",
    async run(w, open) {
      const { a, page } = await house(w, open);
      const b = machine(a.bin);
      try {
        mkdirSync(join(a.home, "Hearth"), { recursive: true });
        writeFileSync(join(a.home, "Hearth", "photos.bin"), randomBytes(60 << 20));
        await health(page);
        await page.click(`${move} button >> text=Move to another machine…`);
        await page.click(`${dialog} button >> text=Offer it for half an hour`);
        const code = await page.inputValue(`${dialog} textarea`);
        assert.match(code, /^[\w-]{100,}$/);
        b.start("move", "from", code);
        await eventually("something of it was brought", () => /brought [1-9]/.test(b.said), 60_000);
        b.child.kill("SIGKILL");
        await b.ended;
        await shows(page, dialog, /has \d+ % of it/);
        await seen(page, "move-cut");
        b.start("move", "from");
        assert.equal(await b.ended, 0, b.said);
        await shows(page, dialog, /It is awake on/);
        execFileSync("cmp", [join(a.home, "Hearth", "photos.bin"), join(b.home, "Hearth", "photos.bin")]);
      } finally {
        b.remove();
        await a.stop();
      }
    },
  },
];
