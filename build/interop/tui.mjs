// OpenClaw's terminal chat, typed into as a person does, in tmux.
import { execFileSync } from 'node:child_process';
import { newHome, until } from './rig.mjs';

const tmux = (...args) => execFileSync('tmux', ['-L', `hearth-interop-${process.pid}`, ...args], { encoding: 'utf8' });
const quote = (s) => `'${s.replaceAll("'", `'\\''`)}'`;

/** terminal chats with the gateway and returns the rows of the table. */
export async function terminal(openclaw, gateway) {
  const env = { ...newHome(), TERM: 'xterm-256color' };
  const command = [...Object.entries(env).map(([k, v]) => `${k}=${quote(v)}`), quote(process.execPath), quote(openclaw), 'tui', '--url', gateway.url, '--token', gateway.token];
  tmux('new-session', '-d', '-s', 't', '-x', '130', '-y', '45', `env ${command.join(' ')}; sleep 5`);
  const screen = () => tmux('capture-pane', '-p', '-t', 't');
  const shows = (text, ms = 40000) => until(`"${text}" on the terminal, which shows:\n${screen()}`, () => screen().includes(text), ms);
  const type = async (text) => {
    tmux('send-keys', '-t', 't', '-l', text);
    await until('what was typed', () => screen().includes(text));
    tmux('send-keys', '-t', 't', 'Enter');
  };
  const idle = () => until('the end of the answer', () => /connected \| (idle|aborted)/.test(screen()));
  const rows = [];
  try {
    rows.push(['tui connects', async () => shows('connected')]);
    rows.push(['tui chat', async () => {
      await type('hello from the terminal');
      await shows('echo: hello from the terminal');
      await idle();
    }]);
    rows.push(['tui second message', async () => {
      await type('and once more');
      await shows('echo: and once more');
      await idle();
    }]);
    rows.push(['tui /status', async () => {
      await type('/status');
      await shows('Session: agent:main:main');
    }]);
    return await judged(rows);
  } finally {
    try {
      tmux('kill-server');
    } catch { /* it ended by itself */ }
  }
}

/** judged runs rows in order: [{name, ok, seconds, note}]. */
export async function judged(rows) {
  const out = [];
  for (const [name, act] of rows) {
    const began = Date.now();
    let note = '';
    try {
      await act();
    } catch (e) {
      note = String(e.message ?? e);
    }
    out.push({ name, ok: note === '', seconds: (Date.now() - began) / 1000, note });
  }
  return out;
}
