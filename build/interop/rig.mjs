// What the interop checks share: our gateway with the scripted model, and
// OpenClaw's own programs, each with a home of its own as on a fresh machine.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export const work = mkdtempSync(join(tmpdir(), 'hearth-interop-'));
const children = [];

/** start runs a program until the end of the run; what it prints is in .out. */
export function start(command, args, env = {}, cwd = work) {
  const p = spawn(command, args, { env: { ...process.env, ...env }, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  p.out = '';
  p.stdout.on('data', (d) => (p.out += d));
  p.stderr.on('data', (d) => (p.out += d));
  children.push(p);
  return p;
}

/** clean ends what was started and deletes what was written. */
export async function clean() {
  for (const c of children) c.kill('SIGTERM');
  await Promise.all(children.map((c) => c.exitCode !== null || c.signalCode !== null || new Promise((r) => { c.on('exit', r); setTimeout(r, 5000); })));
  rmSync(work, { recursive: true, force: true });
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const s = createServer().on('error', reject);
    s.listen(0, '127.0.0.1', () => {
      const { port } = s.address();
      s.close(() => resolve(port));
    });
  });
}

export async function until(what, test, ms = 20000) {
  for (const end = Date.now() + ms; Date.now() < end; await delay(100)) {
    const v = await test();
    if (v) return v;
  }
  throw new Error(`waited ${ms / 1000} s for ${what}`);
}

/** startBots starts the Bot API server of the Telegram tests; lab plays the people there. */
export async function startBots(botapi) {
  const token = '424242:interop-0123456789abcdefghijklmnopqrs';
  const port = await freePort();
  const server = start(botapi, ['-addr', `127.0.0.1:${port}`, '-token', token]);
  await until('the Bot API server', () => server.out.includes('http://'));
  const url = `http://127.0.0.1:${port}`;
  const lab = async (path, body) => {
    const r = await fetch(`${url}/_lab/${path}`, body && { method: 'POST', body: JSON.stringify(body) });
    if (!r.ok) throw new Error(`the Bot API server: ${path}: ${r.status}`);
    return (await r.json()) ?? [];
  };
  return { url, token, lab };
}

/** startGateway returns {url, token} of our gateway. pages may use it from a browser. */
export async function startGateway(hearth, scriptmodel, botapi, pages) {
  const modelPort = await freePort();
  const home = mkdtempSync(join(work, 'hearth-'));
  // Its answers take a third of a second, as real ones do at least: the terminal
  // chat of 2026.5.22 counts an answer that is quicker than its own drawing as
  // one that never ends.
  const model = 'fault-slowfirst-300';
  writeFileSync(join(home, 'hearth.json'), JSON.stringify({
    gateway: { port: await freePort(), controlUi: { allowedOrigins: pages } },
    agents: { defaults: { model: { primary: `scripted/${model}` }, workspace: join(home, 'workspace') } },
    models: { providers: { scripted: { baseUrl: `http://127.0.0.1:${modelPort}/v1`, api: 'openai-completions', models: [{ id: model }, { id: 'stream-400-25' }] } } },
  }), { mode: 0o600 });
  const served = start(scriptmodel, ['-addr', `127.0.0.1:${modelPort}`]);
  await until('the scripted model', () => fetch(`http://127.0.0.1:${modelPort}/v1/models`).then((r) => r.ok, () => served.exitCode !== null && Promise.reject(new Error(served.out))));
  const gateway = start(hearth, ['gateway'], { HEARTH_HOME: home });
  await until('our gateway', () => {
    if (gateway.exitCode !== null) throw new Error(`the gateway stopped: ${gateway.out}`);
    return existsSync(join(home, 'gateway.json'));
  });
  const { url } = JSON.parse(readFileSync(join(home, 'gateway.json'), 'utf8'));
  const hearthHome = { HEARTH_HOME: home };
  return {
    bots: await startBots(botapi),
    url: url.replace(/^http/, 'ws'), port: Number(new URL(url).port), token: readFileSync(join(home, 'gateway.token'), 'utf8').trim(),
    /** owner runs our own command line and returns what it printed. */
    owner: (...args) => finished(hearth, args, hearthHome, home, 60000),
  };
}

/** newHome makes a home for one of OpenClaw's programs and returns its environment. */
export function newHome(settings = {}) {
  const home = mkdtempSync(join(work, 'client-'));
  mkdirSync(join(home, '.openclaw'), { recursive: true });
  writeFileSync(join(home, '.openclaw', 'openclaw.json'), JSON.stringify({ ...settings, logging: { file: join(home, 'client.log') } }));
  return { HOME: home, OPENCLAW_NO_RESPAWN: '1', NO_COLOR: '1', OPENCLAW_DISABLE_BONJOUR: '1' };
}

/** finished runs a program to its end: {code, stdout, out, seconds}. */
export function finished(command, args, env, cwd, ms) {
  const began = Date.now();
  return new Promise((resolve, reject) => {
    const p = spawn(command, args, { env: { PATH: process.env.PATH, ...env }, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '', stderr = '';
    p.stdout.on('data', (d) => (stdout += d));
    p.stderr.on('data', (d) => (stderr += d));
    const timer = setTimeout(() => p.kill('SIGKILL'), ms);
    p.on('error', reject);
    p.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, stdout, out: stdout + stderr, seconds: (Date.now() - began) / 1000 });
    });
  });
}

/** json is the JSON in what a program printed, undefined when there is none. */
export const json = (r) => {
  const at = r.stdout.search(/[{[]/);
  return at < 0 ? undefined : JSON.parse(r.stdout.slice(at));
};
