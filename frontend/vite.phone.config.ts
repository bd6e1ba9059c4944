import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { firstLoad } from "./firstload.ts";
import { oneFormat } from "./fonts.ts";
import { lexerOnly } from "./lexeronly.ts";
import { worker } from "./worker.ts";
import { words, wordsName } from "./scripts/words.mjs";

// The page for phones is a build of its own, below /phone/: other machines get
// this folder and nothing else, and the page on the computer pays nothing for it.

// Of the words of a language it takes what it shows.
const parts = ["phone", "tools", "rich", "cron", "files", "push", "chat", "artifacts", "asks"];

export default defineConfig({
  root: "phone",
  base: "/phone/",
  resolve: { alias: [{ find: /^\.\/languages$/, replacement: new URL("phone/plain.ts", import.meta.url).pathname }] },
  plugins: [words(parts), lexerOnly, oneFormat, svelte({ configFile: "../svelte.config.js" }), worker("/phone/")],
  build: {
    outDir: "../dist/phone",
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [firstLoad("phone", new URL("phone/main.ts", import.meta.url))] },
        chunkFileNames: ({ name, facadeModuleId }) => `assets/${wordsName(facadeModuleId) || name}-[hash].js`,
      },
    },
  },
});
