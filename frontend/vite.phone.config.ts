import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { firstLoad } from "./firstload.ts";
import { oneFormat } from "./fonts.ts";
import { worker } from "./worker.ts";

// The page for phones is a build of its own, below /phone/: other machines get
// this folder and nothing else, and the page on the computer pays nothing for it.

// The two pages share the loader of words; each brings its own.
const ownWords = {
  name: "words-of-the-phone",
  enforce: "pre" as const,
  transform: (code: string, id: string): string | undefined =>
    id.endsWith("/i18n/words.svelte.ts") ? code.replace('["./*/*.json", "!./en/*", "!./*/phone.json"]', '["./*/phone.json", "./*/page.json", "./*/tools.json", "./*/rich.json", "./*/push.json", "./*/chat.json", "./*/artifacts.json", "./*/files.json", "./*/cron.json", "!./en/*"]') : undefined,
};

export default defineConfig({
  root: "phone",
  base: "/phone/",
  resolve: { alias: [{ find: /^\.\/languages$/, replacement: new URL("phone/plain.ts", import.meta.url).pathname }] },
  plugins: [ownWords, oneFormat, svelte({ configFile: "../svelte.config.js" }), worker("/phone/")],
  build: {
    outDir: "../dist/phone",
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting: { groups: [firstLoad("phone", new URL("phone/main.ts", import.meta.url))] } } },
  },
});
