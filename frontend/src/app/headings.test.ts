import { expect, test } from "vitest";
import type { PaneId } from "../shell/panels.svelte";
import { headings } from "./headings";
import { panes } from "./panes";

const found = (wanted: string): string[] =>
  (Object.keys(panes) as PaneId[]).flatMap((id) =>
    headings(id).filter((h) => h.words.toLowerCase().includes(wanted)).map((h) => `${id}: ${h.name}`),
  );

test("the search of the settings finds what stands in the panes beside their fields", () => {
  const want: Record<string, string> = {
    appearance: "general: Appearance", dark: "general: Appearance", theme: "general: Appearance",
    language: "general: Language", deutsch: "general: Language",
    server: "models: Add a server", servers: "models: Servers of your own", passphrase: "models: Where keys are kept",
    key: "models: Add a key",
    prompt: "chat: Prompts to use again", token: "network: Other programs", backup: "health: Backup",
  };
  for (const [wanted, heading] of Object.entries(want)) expect(found(wanted), wanted).toContain(heading);
});
