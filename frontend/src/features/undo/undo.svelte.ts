// Which answers' changes to files were taken back.
import { createContext } from "svelte";
import type { Caller } from "../../net/client.svelte";

export class Undo {
  private undone = $state.raw<ReadonlySet<string>>(new Set());

  constructor(private readonly client: Caller) {}

  /** load is called after hello. */
  async load(): Promise<void> {
    const { turns } = await this.client.call("hearth.undo.list", { limit: 200 });
    this.undone = new Set(turns.filter((x) => x.undoneBy).map((x) => x.runId));
  }

  has(runId: string): boolean {
    return this.undone.has(runId);
  }

  tookBack(runId: string): void {
    this.undone = new Set([...this.undone, runId]);
  }
}

export const [useUndo, provideUndo] = createContext<Undo>();
