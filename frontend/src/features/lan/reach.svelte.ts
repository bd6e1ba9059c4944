// Where other machines can reach the gateway.
import { createContext } from "svelte";
import type { Caller } from "../../net/client.svelte";
import type { ReachStatus } from "../../protocol";

export class Reach {
  status = $state.raw<ReachStatus | null>(null);

  constructor(private readonly client: Caller) {}

  async load(): Promise<void> {
    this.status = await this.client.call("hearth.reach.status", {});
  }
}

export const [useReach, provideReach] = createContext<Reach>();
