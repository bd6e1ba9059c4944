import { World, ready, until, say, shows } from "./harness.mjs";
const w = await World.start({ models: {} });
const out = "/tmp/shots"; import { mkdirSync } from "node:fs"; mkdirSync(out, { recursive: true });
for (const ollama of [false, true]) {
  const f = await World.fresh(w, { ollama });
  for (const [name, o] of [["dark-1280", { theme: "dark" }], ["light-360", { width: 360, height: 740 }]]) {
    const page = await f.open({ ...o, colorScheme: o.theme, viewport: o.width ? { width: o.width, height: o.height } : undefined });
    await ready(page).catch(() => {});
    await until(page, () => document.querySelector(".first")).catch(() => {});
    await new Promise((r) => setTimeout(r, 700));
    await page.screenshot({ path: `${out}/first-${ollama ? "ollama" : "none"}-${name}.png` });
  }
  await f.stop();
}
await w.stop(); process.exit(0);
