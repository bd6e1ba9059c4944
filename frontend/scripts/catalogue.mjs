// Puts what the gateway and the command line say in other languages beside the page,
// where both find it: the page asks for words/<language>/errors.json and about.json when
// it needs them, the command line reads what is built in.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const from = fileURLToPath(new URL("../src/i18n", import.meta.url));
const to = fileURLToPath(new URL("../dist/words", import.meta.url));

rmSync(to, { recursive: true, force: true }); // of an earlier build
for (const language of readdirSync(from)) {
  for (const part of ["help.json", "errors.json", "about.json"]) {
    const file = join(from, language, part);
    if (!existsSync(file)) continue;
    mkdirSync(join(to, language), { recursive: true });
    writeFileSync(join(to, language, part), JSON.stringify(JSON.parse(readFileSync(file, "utf8"))));
  }
}
