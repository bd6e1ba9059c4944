/// <reference types="vitest/config" />
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// Modules that come when they are needed; what they import with others does not.
const later = /\/ui\/(later|settings|first)\/|\/ui\/(Locked|Shortcuts|Dialog)\.svelte|\/i18n\/(later\.|settings\.|setup\.|(?!en\/)[\w-]+\/|en\/(later|settings|setup))|\/styles\/(settings|output)\.css|\/chat\/(complete|found)\.|highlight\.js|\/text\/(highlight|languages)\./;

// The gateway serves dist/ from its own origin under a strict policy: nothing
// inline, nothing from elsewhere. assetsInlineLimit 0 keeps data: URLs out.
export default defineConfig(({ mode }) => ({
  plugins: [svelte()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // dist/.gitkeep keeps the Go embed compiling in a fresh clone; the size
    // script clears what an earlier build left.
    emptyOutDir: false,
    reportCompressedSize: false,
    // What the first sight needs is one piece: it compresses better than many.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: "page", test: (id: string) => !later.test(id) }] } },
    },
  },
  // Unit tests of runes need the browser build of Svelte.
  resolve: mode === "test" ? { conditions: ["browser"] } : {},
  test: {
    environment: "jsdom",
    css: { include: [/src/] },
    include: ["test/unit/**/*.test.ts"],
    restoreMocks: true,
    testTimeout: 30_000,
  },
}));
