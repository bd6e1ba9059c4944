// OpenClaw's command line, each command with a home of its own.
import { commands as automations } from './cron.mjs';
import { commands as hooks } from './hooks.mjs';
import { commands as messages } from './messages.mjs';
import { finished, json, newHome } from './rig.mjs';

const texts = (history) => (history?.messages ?? []).map((m) => `${m.role}: ${m.content.map((b) => b.text ?? '').join('')}`);

/** client runs one command of the real client against the gateway. */
export function client(openclaw, g, args, ms = 120000) {
  const gateway = { mode: 'remote', remote: { url: g.url, token: g.token } };
  // It knows a network's commands only where it has an account itself; it is never connected.
  const channels = /^(message|channels)$/.test(args[0]) ? { telegram: { botToken: '424242:of-nobody-0123456789abcdefghijklmnop' } } : undefined;
  const env = newHome({ gateway, channels });
  return finished(process.execPath, [openclaw, ...args], env, env.HOME, ms);
}

// A case returns the client's answer; the check says whether it is right.
// since: the first version that asks the gateway for it.
export const cases = [
  ['gateway call health', (run) => run('gateway', 'call', 'health', '--json'), (r) => json(r).ok === true],
  ['gateway call chat.history', (run) => call(run, 'chat.history', { sessionKey: 'main' }), (r) => Array.isArray(json(r).messages)],
  ['chat.send round trip', async (run) => {
    const sent = await call(run, 'chat.send', { sessionKey: 'main', message: 'hello from openclaw', idempotencyKey: 'interop-1' });
    if (sent.code !== 0 || json(sent).runId !== 'interop-1') return sent;
    let r;
    for (let i = 0; i < 10; i++) {
      r = await call(run, 'chat.history', { sessionKey: 'main' });
      if (texts(json(r)).some((t) => t.startsWith('assistant: echo:'))) break;
    }
    return r;
  }, (r) => texts(json(r)).includes('assistant: echo: hello from openclaw')],
  ['chat.send, same key again', async (run) => {
    const again = await call(run, 'chat.send', { sessionKey: 'main', message: 'hello from openclaw', idempotencyKey: 'interop-1' });
    return again.code === 0 && json(again).runId === 'interop-1' ? call(run, 'chat.history', { sessionKey: 'main' }) : again;
  }, (r) => texts(json(r)).filter((t) => t === 'user: hello from openclaw').length === 1],
  ['gateway probe', (run, g) => run('gateway', 'probe', '--url', g.url, '--token', g.token), (r) => /Reachable: yes/i.test(r.out)],
  ['gateway status', (run, g) => run('gateway', 'status', '--url', g.url, '--token', g.token), (r) => r.code === 0],
  ['health', (run) => run('health'), (r) => r.code === 0],
  ['status', (run) => run('status'), (r) => r.code === 0],
  ['agent --message', (run) => run('agent', '--agent', 'main', '--message', 'turn by agent', '--json'), (r) => r.code === 0 && r.out.includes('echo: turn by agent')],
  ['models list', (run) => run('models', 'list'), (r) => r.code === 0 && r.out.includes('scripted/fault-slowfirst-300'), '2026.9'],
  ['system presence', (run) => run('system', 'presence'), (r) => r.code === 0 && r.out.includes('"gateway"')],
  ['logs --limit 5', (run) => run('logs', '--limit', '5'), (r) => r.code === 0],
  ['devices list', (run) => run('devices', 'list', '--json'), (r) => r.code === 0 && Array.isArray(json(r).paired)],
  ...automations,
  ...hooks,
  ...messages,
  ['nodes status', (run) => run('nodes', 'status', '--json'), (r) => r.code === 0 && Array.isArray(json(r).nodes)],
];

const call = (run, method, params) => run('gateway', 'call', method, '--params', JSON.stringify(params), '--json');

/** commandLine runs the cases and returns the rows of the table. */
export async function commandLine(openclaw, version, g) {
  const rows = [];
  for (const [name, act, check, since] of cases) {
    if (since && version < since) continue;
    const r = await act((...args) => client(openclaw, g, args), g, version);
    let ok = false;
    try {
      ok = check(r);
    } catch { /* an answer of another shape is a failure */ }
    rows.push({ name, ok, seconds: r.seconds, note: ok ? '' : r.out.trim().slice(0, 1500) });
  }
  return rows;
}
