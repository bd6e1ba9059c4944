// Starts our gateway with the scripted model and runs OpenClaw's own client
// against it, each command with a home of its own as on a fresh machine.
// usage: node interop.mjs HEARTH SCRIPTMODEL OPENCLAW_MJS
import { spawn } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, writeFileSync, rmSync, existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const [hearth, scriptmodel, openclaw] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), 'hearth-interop-'));
const children = [];

function start(command, args, env) {
  const p = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  p.out = '';
  p.stdout.on('data', (d) => (p.out += d));
  p.stderr.on('data', (d) => (p.out += d));
  children.push(p);
  return p;
}

function freePort() {
  return new Promise((resolve, reject) => {
    const s = createServer().on('error', reject);
    s.listen(0, '127.0.0.1', () => {
      const { port } = s.address();
      s.close(() => resolve(port));
    });
  });
}

async function until(what, test, ms = 15000) {
  for (const end = Date.now() + ms; Date.now() < end; await delay(50)) {
    const v = await test();
    if (v) return v;
  }
  throw new Error(`waited ${ms / 1000} s for ${what}`);
}

async function startGateway() {
  const modelPort = await freePort();
  const port = await freePort();
  const home = join(work, 'hearth');
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(home, 'hearth.json'), JSON.stringify({
    gateway: { port },
    agents: { defaults: { model: { primary: 'scripted/echo' }, workspace: join(work, 'workspace') } },
    models: { providers: { scripted: { baseUrl: `http://127.0.0.1:${modelPort}/v1`, api: 'openai-completions', models: [{ id: 'echo' }] } } },
  }), { mode: 0o600 });
  const model = start(scriptmodel, ['-addr', `127.0.0.1:${modelPort}`]);
  await until('the scripted model', () => fetch(`http://127.0.0.1:${modelPort}/v1/models`).then((r) => r.ok, () => model.exitCode !== null && Promise.reject(new Error(model.out))));
  const gateway = start(hearth, ['gateway'], { HEARTH_HOME: home });
  await until('our gateway', () => {
    if (gateway.exitCode !== null) throw new Error(`the gateway stopped: ${gateway.out}`);
    return existsSync(join(home, 'gateway.json'));
  });
  const { url } = JSON.parse(readFileSync(join(home, 'gateway.json'), 'utf8'));
  return { url: url.replace(/^http/, 'ws'), token: readFileSync(join(home, 'gateway.token'), 'utf8').trim() };
}

let homes = 0;

// client runs one command of the real client and returns {code, out, seconds}.
function client(gateway, args, ms = 120000) {
  const home = join(work, `client${homes++}`);
  mkdirSync(join(home, '.openclaw'), { recursive: true });
  writeFileSync(join(home, '.openclaw', 'openclaw.json'), JSON.stringify({
    gateway: { mode: 'remote', remote: { url: gateway.url, token: gateway.token } },
    logging: { file: join(home, 'client.log') },
  }));
  const env = { HOME: home, OPENCLAW_NO_RESPAWN: '1', NO_COLOR: '1', PATH: process.env.PATH };
  const began = Date.now();
  return new Promise((resolve, reject) => {
    const p = spawn(process.execPath, [openclaw, ...args], { env, cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
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

const json = (r) => {
  const at = r.stdout.search(/[{[]/);
  return at < 0 ? undefined : JSON.parse(r.stdout.slice(at));
};
const call = (g, method, params) => client(g, ['gateway', 'call', method, '--params', JSON.stringify(params), '--json']);
const texts = (history) => (history?.messages ?? []).map((m) => `${m.role}: ${m.content.map((b) => b.text ?? '').join('')}`);

// A case returns the client's answer; the check says whether it is right.
const required = [
  ['gateway call health', (g) => client(g, ['gateway', 'call', 'health', '--json']), (r) => json(r).ok === true],
  ['gateway call chat.history', (g) => call(g, 'chat.history', { sessionKey: 'main' }), (r) => Array.isArray(json(r).messages)],
  ['chat.send round trip', async (g) => {
    const key = 'interop-1';
    const sent = await call(g, 'chat.send', { sessionKey: 'main', message: 'hello from openclaw', idempotencyKey: key });
    if (sent.code !== 0 || json(sent).runId !== key) return sent;
    let r;
    for (let i = 0; i < 10; i++) {
      r = await call(g, 'chat.history', { sessionKey: 'main' });
      if (texts(json(r)).some((t) => t.startsWith('assistant: echo:'))) break;
    }
    return r;
  }, (r) => texts(json(r)).includes('assistant: echo: hello from openclaw')],
  ['chat.send, same key again', async (g) => {
    const again = await call(g, 'chat.send', { sessionKey: 'main', message: 'hello from openclaw', idempotencyKey: 'interop-1' });
    return again.code === 0 && json(again).runId === 'interop-1' ? call(g, 'chat.history', { sessionKey: 'main' }) : again;
  }, (r) => texts(json(r)).filter((t) => t === 'user: hello from openclaw').length === 1],
  ['gateway probe', (g) => client(g, ['gateway', 'probe', '--url', g.url, '--token', g.token]), (r) => /Reachable: yes/i.test(r.out)],
  ['gateway status', (g) => client(g, ['gateway', 'status', '--url', g.url, '--token', g.token]), (r) => r.code === 0],
  ['health', (g) => client(g, ['health']), (r) => r.code === 0],
  ['status', (g) => client(g, ['status']), (r) => r.code === 0],
  ['agent --message', (g) => client(g, ['agent', '--agent', 'main', '--message', 'turn by agent', '--json']),
    (r) => r.code === 0 && r.out.includes('echo: turn by agent')],
  ['models list', (g) => client(g, ['models', 'list']), (r) => r.code === 0 && r.out.includes('scripted/echo')],
  ['system presence', (g) => client(g, ['system', 'presence']), (r) => r.code === 0 && r.out.includes('"gateway"')],
  ['logs --limit 5', (g) => client(g, ['logs', '--limit', '5']), (r) => r.code === 0],
];
// These need methods of later work; they are tried so that the table stays true.
const later = [
  ['cron list', (g) => client(g, ['cron', 'list']), (r) => r.code === 0],
  ['nodes status', (g) => client(g, ['nodes', 'status']), (r) => r.code === 0],
  ['devices list', (g) => client(g, ['devices', 'list']), (r) => r.code === 0],
];

function row(name, mark, seconds, note) {
  console.log(`${mark.padEnd(6)} ${name.padEnd(28)} ${seconds.toFixed(1).padStart(6)} s  ${note}`);
}

async function run() {
  const gateway = await startGateway();
  console.log(`our gateway ${gateway.url}, openclaw ${openclaw.includes('openclaw') ? JSON.parse(readFileSync(join(openclaw, '..', 'package.json'), 'utf8')).version : ''}, node ${process.version}\n`);
  let failed = 0, passed = 0;
  for (const [group, must] of [[required, true], [later, false]]) {
    for (const [name, act, check] of group) {
      const r = await act(gateway);
      let ok = false;
      try {
        ok = check(r);
      } catch { /* an answer of another shape is a failure */ }
      if (ok) passed++;
      else if (must) failed++;
      const note = ok ? '' : (r.out.trim().split('\n').findLast((l) => l.trim()) ?? '').slice(0, 110);
      row(name, ok ? 'ok' : must ? 'FAILED' : 'later', r.seconds, note);
      if (!ok && must) console.log(r.out.replace(/^/gm, '         | ').slice(0, 1500));
    }
  }
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

let code = 1;
try {
  code = await run();
} catch (e) {
  console.error(String(e.stack ?? e));
} finally {
  for (const c of children) c.kill('SIGTERM');
  await Promise.all(children.map((c) => c.exitCode !== null || c.signalCode !== null || new Promise((r) => { c.on('exit', r); setTimeout(r, 5000); })));
  rmSync(work, { recursive: true, force: true });
}
process.exit(code);
