// The connection as views see it: whether it is there, what can be asked, and
// what the gateway tells meanwhile.
import { createContext } from "svelte";
import type { LinkState, Socket } from "./socket";
import type { Methods } from "./wire";

export type Listener = (event: string, payload: unknown) => void;

/** Caller is whoever can call a method of the gateway. */
export type Caller = Pick<Socket, "call">;

export class Client {
  link = $state.raw<LinkState>({ at: "connecting" });
  private readonly listeners = new Set<Listener>();

  constructor(
    private readonly socket: Pick<Socket, "call" | "hurry">,
    /** the id of this browser's key */
    readonly deviceId: string,
    /** tells a person why something did not work */
    private readonly complain: (e: unknown) => void,
  ) {}

  /** call asks for something; whoever calls shows the answer and its failure. */
  call<M extends keyof Methods>(method: M, params: Methods[M]["params"], timeout?: number): Promise<Methods[M]["result"]> {
    return this.socket.call(method, params, timeout);
  }

  /** act does what a person asked for and says it when it did not work. */
  async act<T>(p: Promise<T>): Promise<T | null> {
    try {
      return await p;
    } catch (e) {
      this.complain(e);
      return null;
    }
  }

  /** on hears events until what it returns is called. */
  on(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** heard hands an event of the gateway to who listens. */
  heard(event: string, payload: unknown): void {
    for (const l of this.listeners) l(event, payload);
  }

  /** hurry tries to connect now. */
  hurry(): void {
    this.socket.hurry();
  }
}

export const [useClient, provideClient] = createContext<Client>();
