// The problems that the gateway knows of.
import { createContext } from "svelte";
import type { Client } from "../../net/client.svelte";
import type { Health, HelloOK, Problem } from "../../net/wire";

const idOf = (p: Problem): string => p.code + p.message;

export class Problems {
  private list = $state.raw<Problem[]>([]);
  private dismissed = $state.raw<ReadonlySet<string>>(new Set());
  readonly shown = $derived(this.list.filter((p) => !this.dismissed.has(idOf(p))));

  constructor(
    private readonly client: Client,
    /** called after each look at the gateway's health */
    private readonly looked: () => void,
  ) {
    client.on((name, payload) => {
      if (name === "health") this.take(payload as Health);
      else if (name === "config.changed" || (name === "tick" && document.visibilityState === "visible")) void this.look();
    });
  }

  greeted(hello: HelloOK): void {
    this.list = hello.snapshot.health.hearth?.problems ?? [];
  }

  dismiss(p: Problem): void {
    this.dismissed = new Set([...this.dismissed, idOf(p)]);
  }

  private async look(): Promise<void> {
    await this.client.call("health", {}).then((h) => this.take(h), () => undefined);
  }

  private take(h: Health): void {
    this.list = h.hearth?.problems ?? [];
    this.looked();
  }
}

export const [useProblems, provideProblems] = createContext<Problems>();
