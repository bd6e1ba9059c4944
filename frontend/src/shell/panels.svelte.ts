// Which dialog is open over the page: at most one.
import { createContext } from "svelte";
import type { PromptTemplate } from "../protocol";
import { over } from "./route";

/** PaneId is a part of the settings. */
export type PaneId =
  | "general"
  | "models"
  | "assistants"
  | "usage"
  | "chat"
  | "people"
  | "channels"
  | "tools"
  | "skills"
  | "memory"
  | "schedules"
  | "tasks"
  | "network"
  | "health";

export type Panel =
  | { kind: "palette" }
  | { kind: "search"; here?: boolean }
  | { kind: "why"; runId: string }
  | { kind: "undelivered" }
  | { kind: "undo"; runId: string }
  | { kind: "pause" }
  | { kind: "safety" }
  | { kind: "keys" }
  | { kind: "memory"; file?: string }
  | { kind: "skill"; name: string; path?: string }
  | { kind: "settings"; pane?: PaneId; field?: string }
  | { kind: "rename"; session: string }
  | { kind: "folder"; session: string }
  | { kind: "link"; href: string; host: string }
  | { kind: "offer"; text: string }
  | { kind: "prompt"; prompt: PromptTemplate; done: (text: string) => void }
  | { kind: "shortcuts" };

export class Panels {
  now = $state.raw<Panel | null>(null);

  open(panel: Panel): void {
    this.now = panel;
    over();
  }

  /** close closes what is open; with a panel, only that one. */
  close(panel = this.now): void {
    if (this.now === panel) this.now = null;
  }

  /** back closes what is open when the person goes back; false: nothing is. */
  back(): boolean {
    const open = this.now !== null;
    this.close();
    return open;
  }
}

export const [usePanels, providePanels] = createContext<Panels>();
