// Builds the frames in which foreign things are drawn: each is one file with its
// script inside, because a frame without an origin gets nothing from the gateway.
import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const out = join(root, "dist/frame");
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

/** script is a source with all that it imports, as the text of one script. */
async function script(name) {
  const [{ output }] = [
    await build({
      configFile: false, root, logLevel: "error", publicDir: false,
      // Formulas in diagrams would bring KaTeX a second time.
      resolve: { alias: { katex: join(root, "frame/none.ts") } },
      build: {
        write: false, modulePreload: false, target: "es2022", reportCompressedSize: false,
        rolldownOptions: { input: join(root, `frame/${name}.ts`), output: { format: "iife", codeSplitting: false } },
      },
    }),
  ].flat();
  // The parser of HTML ends a script at these words, wherever they stand.
  return output[0].code.replaceAll(/<\/script/gi, "<\\/script").replaceAll("<!--", "<\\!--");
}

// own: only this script runs there, whatever is drawn.
const frames = { diagram: true, chart: true, picture: true, artifact: false };
for (const [name, own] of Object.entries(frames)) {
  const code = await script(name);
  const hash = createHash("sha256").update(code).digest("base64");
  const policy = own ? `<meta http-equiv="Content-Security-Policy" content="script-src 'sha256-${hash}'">` : "";
  const html = `<!doctype html><html><head><meta charset="utf-8">${policy}</head><body><script>${code}</script></body></html>\n`;
  writeFileSync(join(out, `${name}.html`), html);
  console.log(`${(html.length / 1024).toFixed(1).padStart(8)} KB frame ${name}`);
}
