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
  let node;
  try {
    return await judged([
      ['node run pairs', async () => {
        await until(`the node, which says: ${host.out}`, async () => {
          // Who may run commands is the owner's to say; the node asks for both.
          for (const kind of ['devices', 'nodes']) {
            const waiting = json(await run(kind, kind === 'devices' ? 'list' : 'pending', '--json')); // nodes: a plain list
            for (const p of waiting?.pending ?? waiting ?? []) await run(kind, 'approve', p.requestId);
          }
          node = (await list()).find((n) => n.displayName === 'interop-node' && n.connected && n.commands?.includes('system.run'));
          return node;
        }, 90000);
      }],
      ['nodes describe', async () => {
        const r = await run('nodes', 'describe', '--node', node.nodeId, '--json');
        if (r.code !== 0 || !r.out.includes('system.which')) throw new Error(r.out);
      }],
      ['nodes invoke system.which', async () => {
        const r = await run('nodes', 'invoke', '--node', node.nodeId, '--command', 'system.which', '--params', JSON.stringify({ bins: ['sh', 'no-such-program'] }), '--json');
        if (r.code !== 0 || !/"[^"]*\/sh"/.test(r.out) || /no-such-program": *"\//.test(r.out)) throw new Error(r.out);
      }],
      ['node runs what was approved', async () => {
        // The owner calls, is asked, sees the plan, and says yes.
        const call = g.owner('nodes', 'invoke', 'interop-node', 'system.run', '--params', JSON.stringify({ command: ['echo', 'hi from the node'] }), '--json', '--timeout', '60s');
        let early;
        call.then((r) => (early = r));
        const asked = await until('the question', async () => {
          if (early) throw new Error(early.out);
          const r = await g.owner('approvals', '--json'); return (json(r) ?? [])[0];
        });
        if (!JSON.stringify(asked).includes('hi from the node')) throw new Error(`the question hides what would run: ${JSON.stringify(asked)}`);
        const yes = await g.owner('approvals', 'approve', asked.id);
        if (yes.code !== 0) throw new Error(yes.out);
        const r = await call;
        if (r.code !== 0 || !r.out.includes('hi from the node')) throw new Error(r.out);
      }],
    ]);
  } catch (e) {
    throw new Error(`${e.message}\n${host.out}`);
  } finally {
    host.kill('SIGTERM');
  }
}
