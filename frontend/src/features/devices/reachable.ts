// Whether another device could reach the gateway at all: the page passes it.
import { createContext } from "svelte";

export interface Reachable {
  /** null: not known */
  readonly status: { addresses: readonly string[] } | null;
}

export const [useReachable, provideReachable] = createContext<Reachable>();
