// Chats that are deleted once nobody can take it back any more. The page may go before
// that, so each is kept by the browser until the gateway said yes, and what a page that
// went left behind is carried out by the next one, if the chat is still what it was.
import { createContext } from "svelte";
import { CallError } from "../net/socket";
import type { SessionRow } from "../net/wire";
import { keepDeletion, keptDeletions } from "../storage/local";
import type { Sessions } from "./sessions.svelte";

/** patience is how long another window may still offer to take it back, in milliseconds, and some more. */
const patience = 10_000;
const tooOld = 30 * 24 * 3600 * 1000;

/** Asked is a chat that somebody deleted, and what it was then. */
export interface Asked {
  key: string;
  /** when, by the clock of this browser */
  at: number;
  sessionId: string;
  /** by the clock of the gateway, which alone can say whether the chat was used since */
  updatedAt: number;
}

/** asked reads what was kept; null: it is nothing that may be carried out. */
export function asked(key: string, kept: unknown, now: number): Asked | null {
  const { at, sessionId, updatedAt } = (kept ?? {}) as Partial<Record<keyof Asked, unknown>>;
  if (key === "" || typeof sessionId !== "string" || sessionId === "" || typeof updatedAt !== "number") return null;
  return typeof at === "number" && Math.abs(now - at) < tooOld ? { key, at, sessionId, updatedAt } : null;
}

/** waits is how long nobody may carry it out yet; a clock that was put back does not make it longer. */
export const waits = (a: Asked, now: number): number => Math.min(patience, Math.max(0, a.at + patience - now));

/** askedFor are all that are kept; what may not be carried out is forgotten. */
function askedFor(now: number): Asked[] {
  const all = keptDeletions().map(([key, kept]) => ({ key, a: asked(key, kept, now) }));
  for (const { key, a } of all) if (!a) keepDeletion(key);
  return all.flatMap(({ a }) => a ?? []);
}

export interface DeletionsOptions {
  sessions: Sessions;
  online(): boolean;
  /** messages of this page are on their way to the chat */
  unsent(key: string): boolean;
}

export class Deletions {
  /** those that this page offers to take back or is deleting, with what ends the offer */
  private readonly mine = new Map<string, () => void>();
  /** those of an earlier page, which the list does not show meanwhile */
  private readonly left = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly o: DeletionsOptions) {
    for (const { key } of askedFor(Date.now())) this.hide(key);
  }

  /** ask is what the person did; withdraw takes away what offers to undo it. */
  ask(chat: SessionRow, withdraw: () => void): void {
    const { key, sessionId, updatedAt } = this.o.sessions.get(chat.key) ?? chat;
    this.mine.set(key, withdraw);
    keepDeletion(key, { at: Date.now(), sessionId, updatedAt });
    this.o.sessions.hide(key, true);
  }

  undo(key: string): void {
    this.mine.delete(key);
    this.forget(key);
  }

  /** carryOut deletes what nobody took back. */
  async carryOut(key: string): Promise<void> {
    await this.o.sessions.remove(key);
    this.undo(key); // one that could not be deleted stands in the list again
  }

  /** leave deletes at once, for the page goes. What does not get there is left to the next page. */
  leave(): void {
    if (!this.o.online()) return;
    for (const [key, withdraw] of this.mine) {
      withdraw();
      this.left.add(key);
      this.o.sessions.removing = key;
      void this.o.sessions.delete({ key }).then(
        () => this.undo(key),
        () => this.mine.delete(key), // the page may come back
      );
    }
  }

  /** settle carries out what was left behind; called after hello. */
  async settle(): Promise<void> {
    clearTimeout(this.timer);
    const now = Date.now();
    const all = askedFor(now).filter((a) => !this.mine.has(a.key));
    for (const key of this.left) if (!all.some((a) => a.key === key)) this.show(key); // another window undid it, or did it
    for (const a of all) this.hide(a.key);
    for (const a of all) if (waits(a, now) === 0) await this.finish(a);
    const later = all.map((a) => waits(a, now)).filter((ms) => ms > 0);
    if (later.length > 0) this.timer = setTimeout(() => void this.settle(), Math.min(...later));
  }

  private async finish(a: Asked): Promise<void> {
    if (this.o.unsent(a.key)) return this.forget(a.key);
    try {
      await this.o.sessions.delete({ key: a.key, expectedSessionId: a.sessionId, expectedSessionUpdatedAt: a.updatedAt });
    } catch (e) {
      if (e instanceof CallError && e.retryable) return; // the next hello tries again
    }
    this.forget(a.key);
  }

  private forget(key: string): void {
    keepDeletion(key);
    this.show(key);
  }

  private hide(key: string): void {
    this.left.add(key);
    this.o.sessions.hide(key, true);
  }

  private show(key: string): void {
    this.left.delete(key);
    this.o.sessions.hide(key, false);
  }
}

export const [useDeletions, provideDeletions] = createContext<Deletions>();
