// Hooks inside by OpenClaw's command line, which asks the gateway for them since 2026.9.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { json } from './rig.mjs';

const hook = (name, events) => `---\nname: ${name}\ndescription: "A hook of the checks"\nmetadata: { "openclaw": { "events": ${JSON.stringify(events)} } }\n---\n`;

/** put makes a hook that only our gateway knows. */
async function put(gateway, name, events) {
  const at = join(json(await gateway.owner('hooks', 'list', '--json')).managedHooksDir, name);
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, 'HOOK.md'), hook(name, events));
  writeFileSync(join(at, 'handler.js'), 'return {};\n');
}

export const commands = [
  ['hooks list', async (run, g) => {
    await put(g, 'told', ['command:new']);
    await put(g, 'in-vain', ['message:dictated']);
    const enabled = await g.owner('hooks', 'enable', 'told', '--yes');
    return enabled.code === 0 ? run('hooks', 'list', '--json') : enabled;
  }, (r) => json(r).hooks.find((h) => h.name === 'told').loadable && !json(r).hooks.find((h) => h.name === 'in-vain').loadable, '2026.9'],
  ['hooks info', (run) => run('hooks', 'info', 'told'), (r) => r.code === 0 && r.out.includes('command:new') && /ready/i.test(r.out), '2026.9'],
  ['hooks info, of one that waits in vain', (run) => run('hooks', 'info', 'in-vain', '--json'), (r) => json(r).blockedReason.includes('no event message:dictated'), '2026.9'],
  ['hooks check', (run) => run('hooks', 'check', '--json'), (r) => json(r).hooks.eligible.includes('told') && json(r).hooks.notEligible.some((h) => h.name === 'in-vain'), '2026.9'],
];
