// From the first start to a file that was taken back: the page and the command line.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync, crc32 } from 'node:zlib';
import { until } from '../interop/rig.mjs';
import { key } from './model.mjs';
import { reads, write } from './world.mjs';

/** picture is a PNG of one colour. */
export function picture() {
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, sum]);
  };
  const head = Buffer.from([0, 0, 0, 16, 0, 0, 0, 16, 8, 2, 0, 0, 0]);
  const rows = Buffer.concat(Array.from({ length: 16 }, () => Buffer.concat([Buffer.from([0]), Buffer.alloc(48, 0x77)])));
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

/** asked waits for a request for approval and returns its id and all that is shown of it. */
export async function asked(w, want) {
  return until(`an approval that shows ${want}`, async () => {
    const all = await w.json('approvals');
    const found = (all.pending ?? all.approvals ?? all).find?.((a) => want.test(JSON.stringify(a)));
    return found && { id: found.id, shown: await w.hearth('approvals', 'show', found.id) };
  }, w.patience);
}

export const firstDays = [
  ['first start: a new home, one command, a link', async (w) => {
    await w.startGateway();
    assert.match(await w.hearth('status'), /running/i);
    assert.ok(existsSync(join(w.home, '.local/share/hearth')), 'its folder is not where the README says');
  }],

  ['"Look around first": the guide answers, though a key lies in the environment', async (w) => {
    const page = await w.page();
    await page.getByText('Look around first').click();
    await write(page, 'Hello, who are you?');
    await reads(page, /guide/i);
    const { state, model } = JSON.parse((await w.hearth('chat', '--json', 'And here?')).trim().split('\n').at(-1));
    assert.equal(state, 'final');
    assert.doesNotMatch(model, /openai|gpt/i, 'a key that nobody chose was used');
    await page.context().close();
  }],

  ['a key: refused in words without a keychain, kept once its place was chosen, tried, used', async (w) => {
    await w.hearth('config', 'set', 'models.providers.mine', `{baseUrl: "${w.model.url}", api: "openai-completions", models: [{id: "week", input: ["text", "image"], contextWindow: 100000}]}`);
    const refused = await w.type(key, 'models', 'auth', 'add', 'mine');
    assert.notEqual(refused.code, 0, 'a key was kept where nothing can keep it');
    assert.match(refused.out, /secrets/, refused.out);
    assert.doesNotMatch(refused.out, new RegExp(key));
    await w.hearth('config', 'set', 'secrets.backend', 'plain');
    const added = await w.type(key, 'models', 'auth', 'add', 'mine');
    assert.equal(added.code, 0, added.out);
    assert.match(await w.hearth('models', 'test', 'mine/week'), /answered in/i);
    await w.hearth('models', 'set', 'mine/week');
    assert.doesNotMatch(readFileSync(join(w.home, '.local/share/hearth/hearth.json'), 'utf8'), new RegExp(key));
  }],

  ['chat: the page and the command line are one conversation', async (w) => {
    assert.match(await w.hearth('chat', 'the garden is green'), /You said: the garden is green/);
    const page = await w.page();
    await page.getByText('You said: the garden is green').waitFor();
    await write(page, 'and the sky is blue');
    await reads(page, /You said: and the sky is blue/);
    assert.match(await w.hearth('sessions', 'show'), /the sky is blue/);
    w.open = page;
  }],

  ['what was said before a tool call is shown once, live and afterwards', async (w) => {
    await write(w.open, 'Let me look at the clock. CALL session_status {}');
    await reads(w.open, /It said: /);
    const times = async () => (await w.open.innerText('main')).split('Let me look at the clock.').length - 1;
    let live = await times();
    for (let tries = 0; live === 1 && tries < 50; tries += 1) { // the end of an answer may be drawn before its beginning
      await w.open.waitForTimeout(100);
      live = await times();
    }
    await w.open.reload();
    await reads(w.open, /It said: /);
    assert.equal(live, await times(), 'the page shows something else live than after a reload');
    assert.equal(live, 3 - 1, 'once in the question, once in the answer');
  }],

  ['a picture in: the model sees it', async (w) => {
    const file = join(w.home, 'holiday.png');
    writeFileSync(file, picture());
    assert.match(await w.hearth('chat', '--image', file, 'what is this?'), /I see 1 picture/);
  }],

  ['a command with a script: asked for, shown, allowed once, run as it was shown', async (w) => {
    mkdirSync(join(w.home, 'Hearth'), { recursive: true });
    writeFileSync(join(w.home, 'Hearth/greet.sh'), 'echo "hello from $0" > greeted.txt; cat greeted.txt\n');
    const answer = w.run('chat', 'CALL exec {"command":"bash greet.sh"}');
    const { id, shown } = await asked(w, /greet\.sh/);
    assert.match(shown, /echo "hello from/, `the question does not show the script:\n${shown}`);
    assert.ok(!existsSync(join(w.home, 'Hearth/greeted.txt')), 'it ran before anybody allowed it');
    await w.hearth('approvals', 'approve', id);
    assert.match((await answer).out, /hello from/);
    assert.match(readFileSync(join(w.home, 'Hearth/greeted.txt'), 'utf8'), /hello from/);
  }],

  ['undo: what a turn wrote is taken back, and that again', async (w) => {
    const note = join(w.home, 'Hearth/note.txt');
    writeFileSync(note, 'mine\n');
    await w.hearth('chat', 'CALL write {"path":"note.txt","content":"yours"}');
    assert.equal(readFileSync(note, 'utf8'), 'yours');
    await w.hearth('undo');
    assert.equal(readFileSync(note, 'utf8'), 'mine\n');
  }],

  ['pause: a message waits, and is answered when it ends', async (w) => {
    await w.hearth('pause', 'everything');
    await write(w.open, 'are you there?');
    assert.match(await w.hearth('status'), /paused/i);
    await w.hearth('resume');
    await reads(w.open, /You said: are you there\?/);
  }],
];
