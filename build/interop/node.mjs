// OpenClaw's node host: another machine that does things for the assistant.
import { client } from './cli.mjs';
import { json, newHome, start, until } from './rig.mjs';
import { judged } from './tui.mjs';

/** nodeHost pairs `openclaw node run` and has it run a command. */
export async function nodeHost(openclaw, g) {
  const env = { ...newHome(), OPENCLAW_GATEWAY_TOKEN: g.token };
  const host = start(process.execPath, [openclaw, 'node', 'run', '--host', '127.0.0.1', '--port', String(g.port), '--display-name', 'interop-node'], env, env.HOME);
  const run = (...args) => client(openclaw, g, args);
  const list = async () => json(await run('nodes', 'status', '--json')).nodes;
  const invoke = async (command, params) => {
    const r = await run('gateway', 'call', 'node.invoke', '--params', JSON.stringify({ nodeId: node.nodeId, command, params, timeoutMs: 15000, idempotencyKey: `interop-${command}-${Math.random()}` }), '--json');
    if (r.code !== 0) throw new Error(r.out);
    return json(r);
  };
  let node;
  try {
    return await judged([
      ['node run pairs', async () => {
        await until(`the node, which says: ${host.out}`, async () => {
          // Who may run commands is the owner's to say; the node asks for both.
          for (const kind of ['devices', 'nodes']) {
            const waiting = json(await run(kind, kind === 'devices' ? 'list' : 'pending', '--json'));
            for (const p of waiting.pending ?? []) await run(kind, 'approve', p.requestId);
          }
          node = (await list()).find((n) => n.displayName === 'interop-node' && n.connected && n.commands?.includes('system.run'));
          return node;
        }, 90000);
      }],
      ['nodes describe', async () => {
        const r = await run('nodes', 'describe', '--node', node.nodeId, '--json');
        if (r.code !== 0 || !r.out.includes('system.which')) throw new Error(r.out);
      }],
      ['node system.which', async () => {
        const out = JSON.stringify(await invoke('system.which', { bins: ['sh', 'no-such-program'] }));
        if (!out.includes('/sh') || out.includes('no-such-program":"/')) throw new Error(out);
      }],
      ['node system.run.prepare', async () => {
        const out = JSON.stringify(await invoke('system.run.prepare', { command: ['echo', 'hi'] }));
        if (!out.includes('echo')) throw new Error(out);
      }],
    ]);
  } catch (e) {
    throw new Error(`${e.message}\n${host.out}`);
  } finally {
    host.kill('SIGTERM');
  }
}
