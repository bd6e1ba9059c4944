// The first steps, once they are known.
import { createContext } from "svelte";
import type { Client } from "../../net/client.svelte";
import type { ContactRequest, Setup } from "../../net/wire";

/** Contacts are the people on messaging networks who ask to be let in. */
export interface Contacts {
  readonly requests: ContactRequest[];
  load(): Promise<void>;
  answer(r: ContactRequest, decision: "approve" | "reject", gets: "owner"): Promise<void>;
}

export interface OnboardingOptions {
  client: Client;
  contacts: Contacts;
  /** called when it was chosen what answers */
  chosen(): void;
}

export class Onboarding {
  setup = $state.raw<Setup | null>(null);
  /** nobody has chosen yet what answers */
  readonly fresh = $derived(this.setup?.steps[0]?.state === "open");

  constructor(private readonly o: OnboardingOptions) {
    o.client.on((name, payload) => name === "hearth.setup" && this.take(payload as Setup));
  }

  get contacts(): Contacts {
    return this.o.contacts;
  }

  /** load is called after hello; look: it looks once more at what there is. */
  async load(look = false): Promise<void> {
    this.take(await this.o.client.call("hearth.setup.get", look ? { look } : {}));
  }

  take(setup: Setup): void {
    const was = this.setup?.steps[0]?.state;
    this.setup = setup;
    if (setup.steps[0]?.state === "done" && was !== "done") this.o.chosen();
  }
}

export const [useOnboarding, provideOnboarding] = createContext<Onboarding>();
