// The switch that stops the assistant from acting.
import { createContext } from "svelte";
import type { Client } from "../../net/client.svelte";
import type { Pause as State } from "../../net/wire";

export class Pause {
  state = $state.raw<State>({ level: "off" });
  readonly on = $derived(this.state.level !== "off");

  constructor(private readonly client: Pick<Client, "call" | "on">) {
    client.on((name, payload) => name === "hearth.pause" && (this.state = payload as State));
  }

  /** load is called after hello. */
  async load(): Promise<void> {
    this.state = await this.client.call("hearth.pause.get", {});
  }

  async set(level: string, durationMs = 0): Promise<void> {
    this.state = await this.client.call("hearth.pause.set", durationMs > 0 ? { level, durationMs } : { level });
  }
}

export const [usePause, providePause] = createContext<Pause>();
