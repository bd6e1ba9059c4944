// Other people, other programs, a new day, a power cut, and the end.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../interop/rig.mjs';
import { client } from '../interop/cli.mjs';
import { picture } from './first-days.mjs';
import { botToken, reads, write } from './world.mjs';

const ann = { ID: 42, Name: 'Ann' };
const bob = { ID: 77, Name: 'Bob' };
const friends = -1001;

/** introduces lets somebody write, take the code and be let in. */
async function introduced(w, who, text, ...how) {
  await w.bot('chat', { ID: who.ID, Type: 'private' });
  await w.say(who.ID, who, text);
  const { Text } = await w.sent(who.ID, /[A-Z0-9]{6,}/);
  const code = /\b(?=[A-Z0-9]*\d)[A-Z0-9]{6,}\b|\b[A-Z0-9]{8}\b/.exec(Text)[0];
  await w.hearth('contacts', 'approve', code, ...how);
}

export const laterDays = [
  ['Telegram: the owner is let in as the owner and answered', async (w) => {
    await w.hearth('config', 'set', 'channels.telegram', `{botToken: "${botToken}", apiRoot: "${w.botsURL}", groups: {"${friends}": {requireMention: true}}}`);
    await until('the bot is connected, without a restart', async () => /connected/.test(await w.hearth('channels')), w.patience);
    await introduced(w, ann, 'hello', '--owner');
    await w.say(ann.ID, ann, 'my secret is PINEAPPLE');
    await w.sent(ann.ID, /PINEAPPLE/);
    await w.say(ann.ID, ann, '/whoami');
    await w.sent(ann.ID, /owner/i);
  }],

  ['a guest has a conversation of their own', async (w) => {
    await introduced(w, bob, 'may I?');
    await w.say(bob.ID, bob, 'what do you know of pineapples?');
    await w.sent(bob.ID, /You said: .*pineapples/);
    const [request] = w.model.shown('what do you know of pineapples?');
    assert.doesNotMatch(w.model.all(request), /PINEAPPLE|the garden is green/, 'a guest was shown the owner’s words');
    await w.say(bob.ID, bob, '/whoami');
    const { Text } = await w.sent(bob.ID, /Bob|guest|let in/i);
    assert.doesNotMatch(Text, /You are the owner/);
  }],

  ['what somebody forwards is a quotation, not an order', async (w) => {
    await w.say(ann.ID, ann, '/pause everything', { forward_origin: { type: 'hidden_user', sender_user_name: 'Mallory', date: 1 } });
    await w.say(ann.ID, ann, 'did you read that?');
    await w.sent(ann.ID, /did you read that/);
    assert.doesNotMatch(await w.hearth('status'), /paused/i);
  }],

  ['a group: answered when named, commands behind a mention are commands', async (w) => {
    await w.bot('chat', { ID: friends, Type: 'supergroup', Title: 'Friends' });
    await w.say(friends, ann, 'nobody asked the bot');
    await w.say(friends, ann, '@HearthTestBot good morning');
    await w.sent(friends, /good morning/);
    const before = w.model.requests.length;
    await w.say(friends, ann, '@HearthTestBot /status');
    await w.sent(friends, /Hearth is here/);
    assert.equal(w.model.requests.length, before, 'a command behind a mention was sent to the model');
  }],

  ['a picture in from Telegram, and a file out', async (w) => {
    await w.bot('file', { id: 'holiday', name: 'holiday.png', mime: 'image/png', data: picture().toString('base64') });
    await w.say(ann.ID, ann, '', { caption: 'look at this', photo: [{ file_id: 'holiday', file_unique_id: 'u1', width: 16, height: 16, file_size: 90 }] });
    await w.sent(ann.ID, /I see 1 picture/);
    writeFileSync(join(w.home, 'Hearth/out.png'), picture());
    await w.say(ann.ID, ann, 'CALL message {"action":"send","message":"here it is","media":"out.png"}');
    const picked = async () => (await w.bot(`sent?chat=${ann.ID}`)).some((m) => m.FromBot && m.File);
    await until('the picture on Telegram', picked, w.patience).catch(() => w.sent(ann.ID, /never said/));
  }],

  ['a new day: the group begins anew, a chat that a person made does not', async (w) => {
    await w.hearth('config', 'set', 'session.resetByType.group', '{mode: "idle", idleMinutes: 1}');
    await delay(62_000);
    await w.say(friends, ann, '@HearthTestBot a new day');
    await w.sent(friends, /a new day/);
    const group = w.model.shown('a new day').at(-1);
    assert.doesNotMatch(w.model.all(group), /good morning/, 'the group did not begin anew');
    await write(w.open, 'the page goes on');
    await reads(w.open, /the page goes on/);
    assert.match(w.model.all(w.model.shown('the page goes on').at(-1)), /the garden is green/, 'a chat emptied itself');
  }],

  ['OpenClaw’s command line talks to it', async (w) => {
    if (!w.openclaw) return 'skipped: OpenClaw is not installed here; build/test --interop installs it';
    const { port } = new URL((await w.hearth('open', '--print')).trim());
    const g = { url: `ws://127.0.0.1:${port}`, token: await w.token() };
    const r = await client(w.openclaw, g, ['agent', '--agent', 'main', '--message', 'a word from elsewhere', '--json']);
    assert.equal(r.code, 0, r.out);
    assert.match(r.out, /You said: .*a word from elsewhere/);
  }],

  ['the plug is pulled in the middle of an answer: nothing is lost, nothing said twice', async (w) => {
    await write(w.open, 'count slowly 60');
    await until('the model is asked', () => w.model.shown('count slowly 60').length > 0);
    await write(w.open, 'and then this');
    await delay(500);
    await w.stopGateway('SIGKILL');
    await w.startGateway();
    await until('both are answered', async () => {
      const lines = (await w.hearth('sessions', 'show')).split('\n');
      // An answer of which somebody may have seen words is kept as far as it came, and says so.
      const cut = lines.some((l) => l.startsWith('w1 w2 ')) && lines.some((l) => l.includes('Hearth stopped while it was answering'));
      return (cut || lines.some((l) => l.includes('w60'))) && lines.some((l) => l.includes('You said: and then this'));
    }, 90_000);
    const messages = (await w.hearth('sessions', 'export')).trim().split('\n').map((l) => JSON.parse(l));
    for (const text of ['count slowly 60', 'and then this']) {
      assert.equal(messages.filter((m) => m.role === 'user' && JSON.stringify(m.content).includes(text)).length, 1, `${text} stands there more than once`);
    }
  }],

  ['quit means quit', async (w) => {
    assert.equal(await w.stopGateway('SIGTERM'), 0);
    assert.equal((await w.run('status')).code, 3);
  }],
];
