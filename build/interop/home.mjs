// Makes the folder of an OpenClaw installation with OpenClaw itself: its gateway
// talks to the scripted model, and is told what a person would tell it. What was
// said is written beside it, for who compares.
// usage: node home.mjs SCRIPTMODEL VERSION=FOLDER OUT
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { clean, freePort, start, until, work } from './rig.mjs';

const [scriptmodel, client, out] = process.argv.slice(2).map((a, i) => (i === 1 ? a : resolve(a)));
const [version, folder] = client.split('=');
const openclaw = resolve(folder, 'openclaw.mjs');
const home = join(work, 'person');
const state = join(home, '.openclaw');
const env = {
  HOME: home, OPENCLAW_NO_RESPAWN: '1', NO_COLOR: '1', OPENCLAW_DISABLE_BONJOUR: '1', OPENCLAW_SKIP_CHANNELS: '1',
  PATH: process.env.PATH,
};
const token = 'fixture-gateway-token-0001';

// A long message, so that newer versions pack its line.
const long = `the long one begins ${'lavender and thyme grow by the wall; '.repeat(900)}and ends with marzipan`;
const said = [
  ['main', 'The wifi of the summer house is called Seeschwalbe.'],
  ['main', 'Remember: Grandma Hedwig likes quince jelly.'],
  ['main', long],
  ['agent:main:work', 'The quarterly report is due on the ninth.'],
  ['agent:main:work', 'Use the blue template, not the green one.'],
  ['agent:main:garden', 'Tomatoes went into bed three today.'],
];

const put = (name, text) => {
  mkdirSync(join(state, name, '..'), { recursive: true });
  writeFileSync(join(state, name), text, { mode: 0o600 });
};

function settings(port, modelPort) {
  return {
    gateway: { mode: 'local', port, bind: 'loopback', auth: { mode: 'token', token } },
    agents: { defaults: { model: { primary: 'scripted/echo' }, userTimezone: 'Europe/Vienna' } },
    models: {
      providers: {
        scripted: {
          baseUrl: `http://127.0.0.1:${modelPort}/v1`, api: 'openai-completions', apiKey: 'sk-fixture-0123456789abcdefghij',
          models: [{ id: 'echo', name: 'Echo', reasoning: false, input: ['text'], contextWindow: 128000, maxTokens: 4096, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }],
        },
      },
    },
    messages: { ackReactionScope: 'group-mentions' },
    session: { dmScope: 'per-channel-peer' },
    logging: { file: join(work, 'openclaw.log') },
  };
}

/** connect speaks to the gateway as a program of this machine does. */
async function connect(port) {
  const ws = new WebSocket(`ws://127.0.0.1:${port}`);
  const waiting = new Map();
  let n = 0;
  const greeted = new Promise((resolve, reject) => {
    ws.onerror = () => reject(new Error('the gateway cannot be reached'));
    ws.onmessage = ({ data }) => {
      const f = JSON.parse(data);
      if (f.event === 'connect.challenge') resolve();
      waiting.get(f.id)?.(f);
      waiting.delete(f.id);
    };
  });
  await greeted;
  const call = async (method, params) => {
    const id = String(++n);
    const answer = new Promise((resolve) => waiting.set(id, resolve));
    ws.send(JSON.stringify({ type: 'req', id, method, params }));
    const f = await Promise.race([answer, delay(300000)]);
    if (!f?.ok) throw new Error(`${method}: ${JSON.stringify(f?.error ?? 'no answer')}`);
    return f.payload;
  };
  const hello = {
    minProtocol: 3, maxProtocol: 4, client: { id: 'gateway-client', version, platform: 'linux', mode: 'backend' }, role: 'operator', caps: [],
    scopes: ['operator.admin', 'operator.read', 'operator.write', 'operator.approvals', 'operator.pairing'], auth: { token },
  };
  await call('connect', hello);
  return call;
}

/** spoken are the texts of a conversation. */
const spoken = (history) => (history?.messages ?? []).map((m) => [m.role, typeof m.content === 'string' ? m.content : m.content.map((b) => b.text ?? '').join('')]);

async function talk(call) {
  let n = 0;
  for (const [sessionKey, message] of said) {
    const before = spoken(await call('chat.history', { sessionKey })).filter(([role]) => role === 'assistant').length;
    await call('chat.send', { sessionKey, message, idempotencyKey: `fixture-${++n}` });
    await until(`an answer to message ${n}`, async () => spoken(await call('chat.history', { sessionKey })).filter(([role]) => role === 'assistant').length > before, 90000);
  }
}

async function make() {
  const [port, modelPort] = [await freePort(), await freePort()];
  mkdirSync(state, { recursive: true });
  put('openclaw.json', JSON.stringify(settings(port, modelPort), null, 2));
  put('.env', 'FIXTURE_VARIABLE=fixture-variable-value\n');
  put('workspace/MEMORY.md', '# Memory\n\n- The dentist is Dr. Kirschbaum.\n');
  put('workspace/memory/2026-05-01.md', '# 1 May\n\nBought a hammock for the veranda.\n');
  put('workspace/memory/2026-05-02.md', '# 2 May\n\nThe cat is called Brombeere.\n');
  put('workspace/USER.md', '# User\n\n- Likes to be called Capt. Nemo.\n');
  put('workspace/notes/recipes.md', '# Recipes\n\nPlum dumplings need stale bread.\n');
  put('skills/tea-times/SKILL.md', '---\nname: tea-times\ndescription: How long each tea steeps.\n---\nGreen tea: two minutes.\n');
  start(scriptmodel, ['-addr', `127.0.0.1:${modelPort}`]);
  const gateway = start(process.execPath, [openclaw, 'gateway', 'run', '--port', String(port)], env, home);
  await until('OpenClaw\'s gateway', () => {
    if (gateway.exitCode !== null) throw new Error(`it stopped: ${gateway.out}`);
    return fetch(`http://127.0.0.1:${port}/healthz`).then((r) => r.ok, () => false);
  }, 400000);
  // It closes connections that come before it is ready.
  const call = await until('its side programs', () => connect(port).catch((e) => (/retryable":true/.test(e) ? delay(2000).then(() => undefined) : Promise.reject(e))), 300000);
  await talk(call);
  const histories = {};
  for (const key of new Set(said.map(([k]) => k))) histories[key] = spoken(await call('chat.history', { sessionKey: key }));
  await call('sessions.reset', { key: 'agent:main:garden' });
  await call('cron.add', {
    name: 'morning', schedule: { kind: 'cron', expr: '0 9 * * 1-5', tz: 'Europe/Vienna' }, sessionTarget: 'isolated', wakeMode: 'now',
    payload: { kind: 'agentTurn', message: 'What is on today?' }, delivery: { mode: 'none' },
  });
  await call('cron.add', {
    name: 'hourly', schedule: { kind: 'every', everyMs: 3600000 }, sessionTarget: 'main', wakeMode: 'now', payload: { kind: 'systemEvent', text: 'Look at the oven.' },
  });
  await delay(1500);
  gateway.kill('SIGTERM');
  await until('its end', () => gateway.exitCode !== null || gateway.signalCode !== null, 120000);
  return histories;
}

try {
  const histories = await make();
  rmSync(out, { recursive: true, force: true });
  cpSync(state, out, { recursive: true, filter: (p) => !/\/(logs|cache|tmp|completions|node_modules)$/.test(p) });
  writeFileSync(join(out, 'said.json'), JSON.stringify({ version, histories }, null, 1));
  console.log(`openclaw ${version}: ${existsSync(join(out, 'state')) ? 'SQLite' : 'files'}, ${readdirSync(out).join(' ')}`);
} catch (e) {
  console.error(String(e.stack ?? e));
  process.exitCode = 1;
} finally {
  await clean();
}
