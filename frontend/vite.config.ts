/// <reference types="vitest/config" />
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { firstLoad } from "./firstload.ts";
import { oneFormat } from "./fonts.ts";
import { lexerOnly } from "./lexeronly.ts";
import { worker } from "./worker.ts";
import { words, wordsName } from "./scripts/words.mjs";

// The gateway serves dist/ from its own origin under a strict policy: nothing
// inline, nothing from elsewhere. assetsInlineLimit 0 keeps data: URLs out.
export default defineConfig(({ mode }) => ({
  plugins: [words(), lexerOnly, oneFormat, svelte(), worker("/")],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // dist/.gitkeep keeps the Go embed compiling in a fresh clone; the size
    // script clears what an earlier build left.
    emptyOutDir: false,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [firstLoad("page", new URL("src/main.ts", import.meta.url))] },
        // The views of a feature are called after it.
        chunkFileNames: ({ name, facadeModuleId }) => {
          const feature = /\/features\/(\w+)\/views\.ts$/.exec(facadeModuleId ?? "")?.[1];
          return `assets/${feature ? `${feature}-views` : wordsName(facadeModuleId) || name}-[hash].js`;
        },
      },
    },
  },
  // Unit tests of runes need the browser build of Svelte.
  resolve: mode === "test" ? { conditions: ["browser"] } : {},
  test: {
    environment: "jsdom",
    css: { include: [/src/] },
    include: ["src/**/*.test.ts", "phone/**/*.test.ts"],
    restoreMocks: true,
    testTimeout: 30_000,
  },
}));
