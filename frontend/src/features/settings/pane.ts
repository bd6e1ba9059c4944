// What a pane of the settings is made of. Which panes there are says src/app/panes.ts.
import type { Component } from "svelte";
import type { Config } from "../../shell/config.svelte";
import type { PaneId } from "../../shell/panels.svelte";
import type { IconName } from "../../ui/icons";
import type { Views } from "../../ui/lazy.svelte";

/** PaneProps is what every part of a pane is given. */
export interface PaneProps {
  config: Config;
  /** goes to another pane */
  show(pane: PaneId): void;
}

export interface PanePart {
  of: Views<unknown>;
  /** the view among those, once they are there */
  view(): Component<PaneProps> | undefined;
}

/** Heading is what stands in a pane beside its fields, for the search. */
export interface Heading {
  name: string;
  /** what it is found by */
  words: string;
}

export interface Pane {
  icon: IconName;
  above?: readonly PanePart[];
  below?: readonly PanePart[];
}
