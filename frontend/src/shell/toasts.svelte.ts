// Short lines about what was done, or why it was not; they go by themselves.
import { createContext } from "svelte";
import { t } from "../i18n/t";
import { CallError } from "../net/socket";

export interface Toast {
  id: number;
  text: string;
  bad: boolean;
}

export class Toasts {
  list = $state.raw<Toast[]>([]);
  private last = 0;

  say(text: string, bad = false): void {
    const id = ++this.last;
    this.list = [...this.list.slice(-2), { id, text, bad }];
    setTimeout(() => (this.list = this.list.filter((x) => x.id !== id)), bad ? 8_000 : 2_500);
  }

  /** complain says why something did not work. */
  complain(e: unknown): void {
    if (e instanceof CallError && e.code === "OFFLINE") this.say(t("toast.offline"), true);
    else this.say(e instanceof Error ? e.message : String(e), true);
  }
}

export const [useToasts, provideToasts] = createContext<Toasts>();
