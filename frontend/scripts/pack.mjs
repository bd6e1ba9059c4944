// Packs what was built, so that Hearth carries it small: browsers get these
// bytes as they are, embed.go unpacks them for who cannot read them.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const dist = fileURLToPath(new URL("../dist", import.meta.url));
const files = readdirSync(dist, { recursive: true, withFileTypes: true }).filter((f) => f.isFile() && f.name !== ".gitkeep");
for (const f of files) if (f.name.endsWith(".gz")) rmSync(join(f.parentPath, f.name)); // of an earlier build
for (const f of files) {
  if (f.name.endsWith(".gz")) continue;
  const name = join(f.parentPath, f.name);
  writeFileSync(name + ".gz", gzipSync(readFileSync(name), { level: 9 }));
  rmSync(name);
}
