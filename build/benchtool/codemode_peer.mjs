// Runs programs, one JSON text a line, each in a new VM of quickjs-wasi, and
// prints how many milliseconds the program took.
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { QuickJS } from 'quickjs-wasi';

const wasm = await WebAssembly.compile(await readFile(new URL(import.meta.resolve('quickjs-wasi/quickjs.wasm'))));
for await (const line of createInterface({ input: process.stdin })) {
  const vm = await QuickJS.create({ wasm });
  const code = '(() => {' + JSON.parse(line) + '\n})()';
  const began = performance.now();
  const result = vm.evalCode(code);
  const took = performance.now() - began;
  result.dispose();
  vm.dispose();
  console.log(took.toFixed(4));
}
