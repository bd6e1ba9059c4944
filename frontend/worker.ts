// The service worker of both pages, as a file beside each.
import { readFileSync } from "node:fs";
import type { Plugin } from "vite";

/** worker puts it into a build whose page is at home. */
export const worker = (home: string): Plugin => ({
  name: "service-worker",
  generateBundle() {
    const source = readFileSync(new URL("worker/worker.js", import.meta.url), "utf8").replace("__HOME__", home);
    this.emitFile({ type: "asset", fileName: "sw.js", source });
  },
});
