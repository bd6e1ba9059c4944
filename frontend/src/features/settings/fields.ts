// The settings that need no more than a form, by pane. Each has a name and a
// sentence that says what happens (i18n/settings.json: "f.<path>" and "f.<path>.what").
// Those of sections.ts are written from what the gateway says of its settings.
import type { PaneId } from "../../shell/panels.svelte";
import type { FieldSpec } from "./field";
import { sections } from "./sections";

const others: Record<PaneId, FieldSpec[]> = {
  general: [],
  models: [],
  usage: [],
  chat: [],
  people: [],
  channels: [],
  tools: [],
  skills: [],
  memory: [],
  schedules: [],
  tasks: [],
  network: [
    { path: "discovery.mdns.mode", kind: "choice", options: ["minimal", "full", "off"], fallback: "minimal" },
  ],
  health: [],
};

export const fields = Object.fromEntries(
  Object.entries(others).map(([pane, own]) => [pane, [...own, ...(sections[pane as PaneId] ?? [])]]),
) as Record<PaneId, FieldSpec[]>;
