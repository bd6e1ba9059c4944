// The home of somebody who begins with Hearth today: an empty folder, a program, a
// browser, and the two services of others that the week needs.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { finished, freePort, start, until, work } from '../interop/rig.mjs';
import { startModel } from './model.mjs';

const { chromium } = createRequire(join(process.cwd(), 'frontend', 'package.json'))('playwright-core');
export const botToken = '424242:week-0123456789abcdefghijklmnopqrstuv';

export class World {
  static async begin({ hearth, botapi, openclaw }) {
    const w = new World();
    w.patience = 45_000;
    Object.assign(w, { hearthBin: hearth, openclaw, home: mkdtempSync(join(work, 'person-')) });
    w.model = await startModel();
    const port = await freePort();
    w.bots = start(botapi, ['-addr', `127.0.0.1:${port}`, '-token', botToken]);
    w.botsURL = `http://127.0.0.1:${port}`;
    await until('the Bot API server', () => w.bots.out.includes('http://'));
    w.browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
    return w;
  }

  /** env is a person's own, and a key that a program left in it. */
  get env() {
    return { PATH: process.env.PATH, HOME: this.home, NO_COLOR: '1', LANG: 'C.UTF-8', OPENAI_API_KEY: 'sk-proj-nobody-chose-this-key-0123456789', OLLAMA_HOST: 'http://127.0.0.1:9' };
  }

  /** run runs hearth and returns what it printed, whatever became of it. */
  run(...args) {
    return finished(this.hearthBin, args, this.env, this.home, 120_000);
  }

  /** type is run with words on standard input. */
  type(input, ...args) {
    return finished('/bin/sh', ['-c', 'printf %s "$1" | { shift; "$@"; }', 'sh', input, this.hearthBin, ...args], this.env, this.home, 120_000);
  }

  /** hearth runs it where it must work. */
  async hearth(...args) {
    const r = await this.run(...args);
    assert.equal(r.code, 0, `hearth ${args.join(' ')}: ${r.out}`);
    return r.stdout;
  }

  async json(...args) {
    return JSON.parse(await this.hearth(...args, '--json'));
  }

  async startGateway() {
    this.gateway = start(this.hearthBin, ['gateway'], { ...this.env, XDG_DATA_HOME: '', XDG_CONFIG_HOME: '', DBUS_SESSION_BUS_ADDRESS: '', XDG_RUNTIME_DIR: '' }, this.home);
    this.link = (await until('the gateway', () => {
      if (this.gateway.exitCode !== null) throw new Error(`the gateway stopped: ${this.gateway.out}`);
      return /http:\/\/\S+#launch=\S+/.exec(this.gateway.out);
    }, 30_000))[0];
  }

  /** stopGateway ends it by a signal and returns its exit code. */
  async stopGateway(signal) {
    const gone = new Promise((r) => this.gateway.once('exit', r));
    this.gateway.kill(signal);
    return gone;
  }

  async page(o = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB', reducedMotion: 'reduce', ...o });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    await page.goto(this.link ?? (await this.hearth('open', '--print')).trim());
    this.link = undefined; // it connects one browser, once
    await page.waitForSelector('#composer');
    return page;
  }

  /** token is the shared token, where docs/secrets.md says that it lies. */
  async token() {
    return readFileSync(join(this.home, '.local/share/hearth/gateway.token'), 'utf8').trim();
  }

  async bot(path, body) {
    const r = await fetch(`${this.botsURL}/_lab/${path}`, body && { method: 'POST', body: JSON.stringify(body) });
    assert.ok(r.ok, `the Bot API server: ${path}: ${r.status}`);
    return r.json();
  }

  say(chat, from, text, extra = {}) {
    return this.bot('say', { chat, from, text, extra });
  }

  /** sent is what the bot wrote there last that matches. */
  async sent(chat, want) {
    let all = [];
    const last = async () => (all = (await this.bot(`sent?chat=${chat}`)) ?? []).findLast((m) => m.FromBot && want.test(m.Text));
    return until(`${want} on Telegram`, last, this.patience).catch((e) => {
      throw new Error(`${e.message}; the chat ends with ${JSON.stringify(all.slice(-4).map((m) => m.Text))}`);
    });
  }
}

/** write sends a message in the page. */
export async function write(page, text) {
  await page.fill('#composer', text);
  await page.press('#composer', 'Enter');
}

/** reads waits until the last answer in the page matches. */
export async function reads(page, want) {
  const is = ([source, flags]) => new RegExp(source, flags).test([...document.querySelectorAll('.row.text .md')].at(-1)?.innerText ?? '');
  await page.waitForFunction(is, [want.source, want.flags], { timeout: 45_000, polling: 100 }).catch(async () => {
    throw new Error(`no answer like ${want}; the page shows: ${(await page.innerText('main')).slice(-800)}`);
  });
}
