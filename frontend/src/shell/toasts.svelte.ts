// Short lines about what was done, or why it was not; they go by themselves.
import { createContext } from "svelte";
import { t } from "../i18n/t";
import { CallError } from "../net/socket";
import { fixOf, type Fixer } from "./repair";

export interface Toast {
  id: number;
  text: string;
  bad: boolean;
  /** what can still be done about it */
  label?: string;
  act?: () => void;
}

/** Offer is what a line offers for as long as it stands there. */
export interface Offer {
  act(): void;
  /** it went without that */
  over?(): void;
}

export class Toasts {
  list = $state.raw<Toast[]>([]);
  /** what repairs something; the page puts it here */
  fixer: Fixer = () => undefined;
  private last = 0;

  say(text: string, bad = false): void {
    const id = ++this.last;
    this.list = [...this.list.slice(-2), { id, text, bad }];
    setTimeout(() => (this.list = this.list.filter((x) => x.id !== id)), bad ? 8_000 : 2_500);
  }

  /** offer says what was done, and takes it back if the person wants; what it returns withdraws the offer. */
  offer(text: string, label: string, o: Offer, bad = false): () => void {
    const id = ++this.last;
    const gone = (): void => void (this.list = this.list.filter((x) => x.id !== id));
    const late = setTimeout(() => (gone(), o.over?.()), 8_000);
    const withdraw = (): void => (clearTimeout(late), gone());
    this.list = [...this.list.slice(-2), { id, text, bad, label, act: () => (withdraw(), o.act()) }];
    return withdraw;
  }

  /** complain says why something did not work, with what can be done about it. */
  complain(e: unknown): void {
    const fix = e instanceof CallError ? fixOf(e.repair, this.fixer) : null;
    if (fix) return void this.offer(e instanceof Error ? e.message : "", fix.label, fix, true);
    if (e instanceof CallError && e.code === "OFFLINE") this.say(t("toast.offline"), true);
    else this.say(e instanceof Error ? e.message : String(e), true);
  }
}

export const [useToasts, provideToasts] = createContext<Toasts>();
