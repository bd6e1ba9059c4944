// Automations by OpenClaw's programs: every verb of its command line, and its page.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { json, until, work } from './rig.mjs';

/** script is a file with a program of code mode. */
function script(name, text) {
  const path = join(work, name);
  writeFileSync(path, text);
  return path;
}

/** added is a job that one case makes and removes again, when what was to happen to it has. */
async function added(run, args, then) {
  const made = await run('cron', 'add', ...args);
  if (made.code !== 0) return made;
  const r = await then(json(made).id, made);
  await run('cron', 'rm', json(made).id);
  return r;
}

/** ranOnce waits for a run of a job in the log. */
const ranOnce = (run, id) => until('the run in the log', async () => {
  const r = await run('cron', 'runs', '--id', id, '--limit', '1');
  return json(r)?.entries?.[0]?.status && r;
}, 90000);

/** theJob is the id of the job that these cases made. */
const theJob = async (run) => json(await run('cron', 'list', '--all', '--json')).jobs.find((j) => j.description === 'interop').id;
const onJob = (...args) => async (run) => run(args[0], args[1], await theJob(run), ...args.slice(2));

// Every verb of `openclaw cron`, also called automations, one after the other on one job.
export const commands = [
  ['cron add', (run) => run('cron', 'add', '--name', 'morning', '--description', 'interop', '--cron', '0 9 * * 1-5', '--tz', 'Europe/Vienna', '--session', 'isolated', '--message', 'turn by cron', '--no-deliver', '--json'),
    (r) => json(r).name === 'morning' && json(r).enabled],
  ['cron add, schedule and prompt', (run) => run('cron', 'add', '0 9 * * 1', 'Plan the week', '--name', 'weekly', '--no-deliver'), (r) => r.code === 0 && json(r).schedule.expr === '0 9 * * 1', '2026.9'],
  ['cron add, a moment', (run) => run('cron', 'add', '--name', 'tea', '--at', '40m', '--system-event', 'The tea is ready.', '--session', 'main', '--delete-after-run', '--json'),
    (r) => json(r).schedule.kind === 'at' && json(r).payload.kind === 'systemEvent' && json(r).deleteAfterRun === true],
  ['cron add, an interval', (run) => run('cron', 'add', '--name', 'hourly', '--every', '1h', '--session', 'isolated', '--message', 'Look around', '--announce', '--disabled', '--json'),
    (r) => json(r).schedule.everyMs === 3600000 && json(r).enabled === false && json(r).delivery.mode === 'announce'],
  ['cron add, six fields exactly', (run) => run('cron', 'add', '--name', 'seconds', '--cron', '30 0 6 * * *', '--exact', '--session', 'isolated', '--message', 'Look around', '--no-deliver', '--json'),
    (r) => json(r).schedule.expr === '30 0 6 * * *' && json(r).schedule.staggerMs === 0],
  ['cron add, a command', (run) => run('cron', 'add', '0 5 * * *', '--name', 'backup', '--command', 'echo done', '--no-deliver', '--json'),
    (r) => json(r).payload.kind === 'command', '2026.9'],
  ['cron add, what cannot be', (run) => run('cron', 'add', '--name', 'never', '--cron', '61 * * * *', '--session', 'isolated', '--message', 'x'), (r) => r.code !== 0 && /61|expression|minute/i.test(r.out)],
  ['cron status', (run) => run('cron', 'status', '--json'), (r) => json(r).enabled === true && json(r).jobs >= 1],
  ['cron list', (run) => run('cron', 'list'), (r) => r.code === 0 && r.out.includes('morning')],
  ['automations list', (run) => run('automations', 'list', '--json'), (r) => json(r).jobs.some((j) => j.name === 'morning'), '2026.9'],
  ['cron show, by name', (run) => run('cron', 'show', 'morning'), (r) => r.code === 0 && r.out.includes('0 9 * * 1-5')],
  ['cron get', onJob('cron', 'get'), (r) => json(r).name === 'morning'],
  ['cron edit', onJob('cron', 'edit', '--name', 'evening', '--cron', '0 18 * * *'), (r) => json(r).name === 'evening' && json(r).schedule.expr === '0 18 * * *'],
  ['cron edit, what and where to', onJob('cron', 'edit', '--message', 'turn by edited cron', '--model', 'scripted/fault-slowfirst-300', '--timeout-seconds', '90'),
    (r) => json(r).payload.message === 'turn by edited cron' && json(r).payload.timeoutSeconds === 90],
  ['cron edit, when failures are told', onJob('cron', 'edit', '--failure-alert', '--failure-alert-after', '3', '--failure-alert-cooldown', '2h'),
    (r) => json(r).failureAlert.after === 3 && json(r).failureAlert.cooldownMs === 7200000],
  ['cron disable', onJob('cron', 'disable'), (r) => json(r).enabled === false],
  ['cron enable', onJob('cron', 'enable'), (r) => json(r).enabled === true],
  ['cron scratch', async (run) => {
    const set = await onJob('cron', 'scratch', '--set', 'kept')(run);
    return set.code === 0 ? onJob('cron', 'scratch')(run) : set;
  }, (r) => r.stdout.includes('kept'), '2026.9'],
  ['cron run', async (run, g, version) => onJob('cron', 'run', ...(version >= '2026.9' ? ['--wait', '--wait-timeout', '60s'] : []))(run), (r) => r.code === 0],
  ['cron runs', async (run) => {
    const id = await theJob(run);
    return until('the run in the log', async () => {
      const r = await run('cron', 'runs', '--id', id, '--limit', '1');
      return json(r)?.entries?.[0]?.status === 'ok' && r;
    });
  }, (r) => json(r).entries[0].summary.includes('echo:')],
  ['cron add, when a command ends', (run) => added(run, ['--name', 'ends', '--on-exit', 'sleep 1; echo the build is over', '--message', 'say it', '--session', 'isolated', '--no-deliver'], (id) => ranOnce(run, id)),
    (r) => json(r).entries[0].status === 'ok' && json(r).entries[0].summary.includes('the build is over'), '2026.9'],
  ['cron add, when a program says so', (run) => added(run, ['--name', 'says', '--stream-command', JSON.stringify(['sh', '-c', 'echo quiet; echo PANIC in the boiler; exec sleep 600']), '--stream-mode', 'match', '--stream-match', 'PANIC', '--message', 'look', '--session', 'isolated', '--no-deliver'], (id) => ranOnce(run, id)),
    (r) => json(r).entries[0].summary.includes('PANIC in the boiler') && !json(r).entries[0].summary.includes('quiet'), '2026.9'],
  ['cron add, a script', (run) => added(run, ['--name', 'script', '--every', '24h', '--script', script('a.js', 'return { notify: "seven times " + (6 * 7) }')], async (id) => {
    const begun = await run('cron', 'run', id, '--wait', '--wait-timeout', '60s');
    return begun.code === 0 ? ranOnce(run, id) : begun;
  }), (r) => json(r).entries[0].summary === 'seven times 42', '2026.9'],
  ['cron add, a condition', (run) => added(run, ['--name', 'condition', '--every', '24h', '--trigger-script', script('t.js', 'return { fire: false, state: { looked: true } }'), '--trigger-once', '--message', 'never', '--session', 'isolated', '--no-deliver'], (id) => run('cron', 'get', id)),
    (r) => json(r).trigger.once === true && json(r).trigger.script.includes('fire: false'), '2026.9'],
  ['a watcher of ours: cron list, show, disable, rm', async (run, g) => {
    const made = await g.owner('watch', 'add', work, '--name', 'watched');
    if (made.code !== 0) return made;
    const id = json(await run('cron', 'list', '--all', '--json')).jobs.find((j) => j.name === 'watched').id;
    const shown = await run('cron', 'show', 'watched');
    const off = await run('cron', 'disable', id);
    const gone = await run('cron', 'rm', id);
    return { ...gone, ok: shown.code === 0 && json(off).enabled === false && json(gone).ok === true, out: shown.out + off.out + gone.out };
  }, (r) => r.ok, '2026.9'],
  ['gateway call tasks.list, get, cancel', (run) => added(run, ['--name', 'long work', '--every', '24h', '--command', 'sleep 300', '--no-deliver'], async (id) => {
    const ask = (method, params) => run('gateway', 'call', method, '--params', JSON.stringify(params), '--json');
    await run('cron', 'run', id);
    const task = await until('the task', async () => json(await ask('tasks.list', { status: 'running' }))?.tasks?.find((t) => t.title === 'long work'));
    const got = await ask('tasks.get', { taskId: task.id ?? task.taskId });
    const cancelled = await ask('tasks.cancel', { taskId: task.id ?? task.taskId });
    const over = await until('its end', async () => json(await ask('tasks.get', { taskId: task.id ?? task.taskId }))?.task?.status === 'cancelled');
    return { ...cancelled, ok: got.code === 0 && over };
  }), (r) => r.ok, '2026.9'],
  ['cron list --all', async (run) => run('cron', 'list', '--all'), (r) => ['evening', 'tea', 'hourly', 'seconds'].every((n) => r.out.includes(n))],
  ['cron rm', onJob('cron', 'rm'), (r) => json(r).ok === true],
  ['cron show, of none', (run) => run('cron', 'show', 'evening'), (r) => r.code !== 0],
];

/** onPage are the rows of its web page's list of jobs, for a job of the name that the owner gave it. */
export function onPage(page, visit, gateway, name) {
  const listed = async () => json(await gateway.owner('cron', 'list', '--all', '--json')).jobs;
  const job = async (is) => (await listed()).find((j) => j.name === is);
  const entry = () => page.getByText(name, { exact: false }).first();
  // The newer one opens a job by its name; the older one has the buttons of each in the
  // list, where those of the job are in the smallest part that has them and the name.
  let alone = false;
  const button = (text) => {
    const said = { name: text, exact: typeof text === 'string' };
    const row = page.locator('*', { has: page.getByRole('button', said), hasText: name }).last();
    return (alone ? page : row).getByRole('button', said).first();
  };
  const seen = (locator) => locator.isVisible().catch(() => false);
  const press = (text) => button(text).click();
  const opened = async () => {
    await visit('cron', new RegExp(name));
    alone = false;
    if (await seen(button('Edit'))) return;
    await entry().click();
    alone = true;
  };
  return [
    ['page shows an automation', async () => {
      const added = await gateway.owner('cron', 'add', 'every weekday at 8', 'Summarize my mail', '--name', name);
      if (added.code !== 0) throw new Error(added.out);
      await visit('cron', new RegExp(name));
    }],
    ['page edits an automation', async () => {
      await opened();
      if (!alone) await press('Edit'); // where a job is opened its form is there
      await page.getByPlaceholder('0 7 * * *').first().fill('30 6 * * 1-5');
      await page.getByRole('button', { name: 'Save changes' }).first().click();
      await until('the new time at the gateway', async () => (await job(name)).schedule.expr === '30 6 * * 1-5');
    }],
    ['page runs an automation', async () => {
      await opened();
      await press(/^Run( now)?$/);
      await until('the run at the gateway', async () => json(await gateway.owner('cron', 'runs', name, '--json'))?.entries?.some((e) => e.status === 'ok'), 60000);
    }],
    ['page switches an automation off', async () => {
      await opened();
      const off = button('Disable');
      await ((await seen(off)) ? off : page.locator('input[type=checkbox]:visible, [role=switch]:visible').first()).click({ force: true });
      await until('the job to be off at the gateway', async () => (await job(name)).enabled === false);
    }],
    ['page removes an automation', async () => {
      await opened();
      // A click on a page that still loads does nothing, so the last step that is there is taken again.
      const removes = (selector) => page.locator(selector).filter({ hasText: /^\s*(Remove|Delete)/, visible: true }).first();
      const steps = [removes('dialog button, [role=dialog] button, [role=alertdialog] button'), removes('[role=menuitem]'), button(/^\s*(Remove|Delete)/), button(/^More actions/)];
      await until('the job to be gone at the gateway', async () => {
        for (const step of steps) {
          if (!(await seen(step))) continue;
          await step.click({ timeout: 2000 }).catch(() => {});
          break;
        }
        return !(await job(name));
      });
    }],
  ];
}
