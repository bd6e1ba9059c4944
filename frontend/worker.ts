// The service worker of both pages, as a file beside each.
import type { Plugin } from "vite";

const source = new URL("worker/worker.js", import.meta.url).pathname;

/** worker puts it into a build whose page is at home. */
export const worker = (home: string): Plugin => ({
  name: "service-worker",
  async generateBundle() {
    const text = await this.fs.readFile(source, { encoding: "utf8" });
    this.emitFile({ type: "asset", fileName: "sw.js", source: text.replace("__HOME__", home) });
  },
});
