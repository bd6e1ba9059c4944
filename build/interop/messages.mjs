// OpenClaw's command line writing to people on Telegram, where our gateway alone is
// connected: a Bot API server of the tests takes what it writes.
import { json } from './rig.mjs';

const chat = 7;
const to = ['--channel', 'telegram', '--target', String(chat)];

/** on sets the account up at our gateway, once. */
async function on(g) {
  await g.bots.lab('chat', { ID: chat, Type: 'private' });
  const set = await g.owner('config', 'set', 'channels.telegram', JSON.stringify({ botToken: g.bots.token, apiRoot: g.bots.url, dmPolicy: 'allowlist', allowFrom: [String(chat)] }));
  if (set.code !== 0) throw new Error(`channels.telegram: ${set.out}`);
}

/** act runs a command, and says what stands in the chat then. */
const act = (...args) => async (run, g) => {
  const r = await run('message', ...args, ...to, '--json');
  r.chat = await g.bots.lab(`sent?chat=${chat}`);
  return r;
};

export const commands = [
  ['message send', async (run, g) => {
    await on(g);
    return act('send', '--message', 'hello from openclaw')(run, g);
  }, (r) => r.chat.length === 1 && r.chat[0].Text === 'hello from openclaw' && json(r).messageId === String(r.chat[0].ID)],
  ['message poll', act('poll', '--poll-question', 'Where to?', '--poll-option', 'Sea', '--poll-option', 'Mountains'), (r) => r.code === 0 && r.chat.length === 2 && r.chat[1].Options.join() === 'Sea,Mountains'],
  ['message react', act('react', '--message-id', '1', '--emoji', '👍'), (r) => json(r).payload.added === '👍' && r.chat[0].Reactions.join() === '👍'],
  ['message edit', act('edit', '--message-id', '1', '--message', 'hello again'), (r) => r.code === 0 && r.chat[0].Text === 'hello again'],
  ['message pin', act('pin', '--message-id', '1'), (r) => r.code === 0 && r.chat[0].Pinned, '2026.9'],
  ['message delete', act('delete', '--message-id', '1'), (r) => json(r).payload.deleted === true && r.chat.length === 1],
  ['message read, which Telegram has not', act('read'), (r) => r.code !== 0 && /cannot read what was said before/.test(r.out), '2026.9'],
  ['send, same key again', async (run, g) => {
    const params = JSON.stringify({ to: String(chat), channel: 'telegram', message: 'only once', idempotencyKey: 'interop-send' });
    for (let i = 0; i < 2; i++) {
      const r = await run('gateway', 'call', 'send', '--params', params, '--json');
      r.chat = await g.bots.lab(`sent?chat=${chat}`);
      if (r.code !== 0 || i === 1) return r;
    }
    return undefined;
  }, (r) => json(r).runId === 'interop-send' && r.chat.filter((m) => m.Text === 'only once').length === 1],
  ['channels logout', async (run, g) => {
    const r = await run('channels', 'logout', '--channel', 'telegram');
    r.file = (await g.owner('config', 'get', 'channels.telegram')).stdout;
    return r;
  }, (r) => /Cleared saved auth for telegram\/default/.test(r.out) && !/did not stop it/.test(r.out) && !r.file.includes('botToken') && r.file.includes('allowFrom'), '2026.9'],
];
