// The settings that need no more than a form, by pane. Each has a name and a
// sentence that says what happens (i18n/settings.json: "f.<path>" and "f.<path>.what").
// They are written from what the gateway says of its settings (sections.ts).
import type { PaneId } from "../../shell/panels.svelte";
import type { FieldSpec } from "./field";
import { sections } from "./sections";

export const fields = (pane: PaneId): FieldSpec[] => sections[pane] ?? [];
