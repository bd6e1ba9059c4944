// The first sight and the settings, as any browser shows them.
import assert from "node:assert/strict";
import { answered, axe, ready, say, until } from "./harness.mjs";

export const cases = [
  {
    name: "the conversation and the settings: no axe findings, and nothing wider than the screen",
    async run(_w, open) {
      for (const width of [360, 1280]) {
        const page = await open({ width });
        await ready(page);
        await say(page, "# A heading\n\n| a | b |\n|---|---|\n| 1 | 2 |");
        await answered(page, "# A heading\n\n| a | b |\n|---|---|\n| 1 | 2 |");
        assert.deepEqual(await axe(page), []);
        await page.keyboard.press("Control+,");
        await page.click("dialog nav [data-pane=general]"); // a narrow window begins with the list
        await until(page, () => document.querySelector("dialog[open] [data-push]"));
        assert.deepEqual(await axe(page), []);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      }
    },
  },
];
