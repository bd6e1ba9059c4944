// A first week with Hearth, from outside: what a person types, clicks and reads, by
// the words of the docs alone. node main.mjs HEARTH BOTAPI [OPENCLAW]
import { clean } from '../interop/rig.mjs';
import { firstDays } from './first-days.mjs';
import { laterDays } from './later-days.mjs';
import { World } from './world.mjs';

const [hearth, botapi, openclaw] = process.argv.slice(2);
const w = await World.begin({ hearth, botapi, openclaw });
const failed = [];
let passed = 0;
for (const [name, live] of [...firstDays, ...laterDays]) {
  const began = Date.now();
  try {
    const note = await live(w);
    passed += 1;
    console.log(`  ok    ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)${note ? `: ${note}` : ''}`);
  } catch (e) {
    failed.push(name);
    w.patience = 10_000; // what stands on it fails sooner
    console.log(`  FAIL  ${name}\n        ${String(e.stack ?? e).replaceAll('\n', '\n        ')}`);
    if (!w.gateway || w.gateway.exitCode !== null) break;
  }
}
if (failed.length > 0) console.log((w.gateway?.out ?? '').slice(-4000));
await w.browser.close();
w.model.stop();
await clean();
console.log(`${passed} passed, ${failed.length} failed`);
process.exit(failed.length > 0 ? 1 : 0);
