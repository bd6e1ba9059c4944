// Runs OpenClaw's own clients against our gateway and prints what works.
// usage: node main.mjs HEARTH SCRIPTMODEL BOTAPI VERSION=FOLDER…
import { join } from 'node:path';
import { commandLine } from './cli.mjs';
import { controlUI } from './controlui.mjs';
import { nodeHost } from './node.mjs';
import { clean, freePort, startGateway } from './rig.mjs';
import { terminal } from './tui.mjs';

const [hearth, scriptmodel, botapi, ...versions] = process.argv.slice(2);

/** all uses every client of one version on a fresh gateway. */
async function all(version, folder) {
  const openclaw = join(folder, 'openclaw.mjs');
  const port = await freePort();
  const gateway = await startGateway(hearth, scriptmodel, botapi, [`http://127.0.0.1:${port}`]);
  return [
    ...(await commandLine(openclaw, version, gateway)),
    ...(await terminal(openclaw, gateway)),
    ...(await controlUI(join(folder, 'dist', 'control-ui'), port, gateway)),
    ...(await nodeHost(openclaw, gateway)),
  ];
}

let failed = 0;
try {
  const columns = [];
  for (const v of versions) {
    const [version, folder] = v.split('=');
    console.log(`openclaw ${version}, node ${process.version}`);
    const rows = await all(version, folder);
    columns.push({ version, rows });
    for (const r of rows.filter((r) => !r.ok)) console.log(`FAILED ${r.name} (${r.seconds.toFixed(1)} s)\n${r.note.replace(/^/gm, '  | ')}`);
    failed += rows.filter((r) => !r.ok).length;
  }
  const names = [...new Set(columns.flatMap((c) => c.rows.map((r) => r.name)))];
  console.log(`\n| with Hearth | ${columns.map((c) => c.version).join(' | ')} |\n|---|${'---|'.repeat(columns.length)}`);
  for (const name of names) {
    const cells = columns.map((c) => c.rows.find((r) => r.name === name)).map((r) => (r ? `${r.ok ? 'works' : 'FAILED'}, ${r.seconds.toFixed(1)} s` : 'asks nobody'));
    console.log(`| ${name} | ${cells.join(' | ')} |`);
  }
  console.log(`\n${names.length} rows, ${failed} failed`);
} catch (e) {
  failed++;
  console.error(String(e.stack ?? e));
} finally {
  await clean();
}
process.exit(failed === 0 ? 0 : 1);
