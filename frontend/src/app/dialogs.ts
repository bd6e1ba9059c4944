// Which view shows which panel.
import type { Component } from "svelte";
import { views as audit } from "../features/audit";
import { views as channels } from "../features/channels";
import { views as chat } from "../features/chat";
import { views as memory } from "../features/memory";
import { views as palettes } from "../features/palette";
import { views as pause } from "../features/pause";
import { views as prompts } from "../features/prompts";
import { views as search } from "../features/search";
import { views as secrets } from "../features/secrets";
import { views as sessions } from "../features/sessions";
import { views as shortcuts } from "../features/shortcuts";
import { views as skills } from "../features/skills";
import { views as undo } from "../features/undo";
import { views as why } from "../features/why";
import type { Panel } from "../shell/panels.svelte";
import { lazy, type Views } from "../ui/lazy.svelte";
import { panes } from "./panes";

type Kind = Panel["kind"];
type Shown<K extends Kind> = Omit<Extract<Panel, { kind: K }>, "kind"> & { onclose(): void };

type Props = Record<string, unknown>;

export interface Dialog<P extends Props> {
  of: Views<unknown>;
  /** the view among those, once they are there */
  view(): Component<P> | undefined;
}

const dialog = <M, P extends Props>(of: Views<M>, pick: (m: M) => Component<P>): Dialog<P> => ({
  of,
  view: () => (of.now ? pick(of.now) : undefined),
});

// The settings come with all of their panes.
const settings = lazy(async () => {
  const parts = new Set(Object.values(panes).flatMap((p) => [...(p.above ?? []), ...(p.below ?? [])].map((part) => part.of)));
  const [view] = await Promise.all([import("./SettingsDialog.svelte"), ...[...parts].map((of) => of.load())]);
  return view;
});

const palette = lazy(async () => {
  const [view] = await Promise.all([import("./PaletteDialog.svelte"), palettes.load()]);
  return view;
});

export const firstServer = lazy(() => import("./FirstServer.svelte"), "models");

export const dialogs: { [K in Kind]: Dialog<Shown<K>> } = {
  folder: dialog(sessions, (v) => v.FolderDialog),
  keys: dialog(secrets, (v) => v.KeysDialog),
  link: dialog(chat, (v) => v.LinkDialog),
  memory: dialog(memory, (v) => v.Memory),
  offer: dialog(chat, (v) => v.OfferedText),
  palette: dialog(palette, (v) => v.default),
  pause: dialog(pause, (v) => v.PauseDialog),
  prompt: dialog(prompts, (v) => v.PromptDialog),
  rename: dialog(sessions, (v) => v.NameDialog),
  safety: dialog(audit, (v) => v.SafetyPanel),
  search: dialog(search, (v) => v.Search),
  settings: dialog(settings, (v) => v.default),
  shortcuts: dialog(shortcuts, (v) => v.Shortcuts),
  skill: dialog(skills, (v) => v.SkillReview),
  undelivered: dialog(channels, (v) => v.Undelivered),
  undo: dialog(undo, (v) => v.UndoDialog),
  why: dialog(why, (v) => v.Why),
};
