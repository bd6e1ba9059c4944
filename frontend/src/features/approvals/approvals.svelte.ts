// What the assistant asks its owner for.
import { createContext } from "svelte";
import type { Client } from "../../net/client.svelte";
import type { Approval, ApprovalResolved } from "../../net/wire";

/** Scope is for how long a yes or a no holds. */
export type ApprovalScope = "once" | "session" | "here" | "program" | "folder" | "deny" | "never";

export class Approvals {
  pending = $state.raw<Approval[]>([]);
  /** how long calls waited for a decision, by run and call */
  private readonly waits = new Map<string, number>();
  /** requests that are being answered by this page */
  private answering = $state.raw<ReadonlySet<string>>(new Set());

  constructor(private readonly client: Pick<Client, "call" | "on">) {
    client.on((name, payload) => this.event(name, payload));
  }

  /** load is called after hello: it asks what waits. */
  async load(): Promise<void> {
    this.pending = await this.client.call("exec.approval.list", {});
  }

  /** forCall is what a tool that runs waits for. */
  forCall(runId: string, callId: string): Approval | undefined {
    return this.pending.find((a) => a.request.toolCallId === callId && (a.request.runId ?? "") === runId);
  }

  /** asksIn: something in this run waits for a decision. */
  asksIn(runId: string): boolean {
    return this.pending.some((a) => (a.request.runId ?? "") === runId);
  }

  /** waited is how long a call waited for its person; that is no time of the tool. */
  waited(runId: string, callId: string): number {
    return this.waits.get(`${runId} ${callId}`) ?? 0;
  }

  private event(name: string, payload: unknown): void {
    if (name === "exec.approval.requested") {
      const a = payload as Approval;
      this.pending = [...this.pending.filter((o) => o.id !== a.id), a];
    } else if (name === "exec.approval.resolved") {
      const a = payload as ApprovalResolved;
      const asked = this.pending.find((o) => o.id === a.id);
      if (asked) this.waits.set(`${asked.request.runId ?? ""} ${asked.request.toolCallId ?? ""}`, Math.max(0, a.ts - asked.createdAtMs));
      this.pending = this.pending.filter((o) => o.id !== a.id);
    }
  }

  busy(id: string): boolean {
    return this.answering.has(id);
  }

  async decide(id: string, scope: ApprovalScope): Promise<void> {
    this.answering = new Set([...this.answering, id]);
    try {
      const yes = scope !== "deny" && scope !== "never";
      await this.client.call("exec.approval.resolve", {
        id,
        decision: !yes ? "deny" : scope === "once" ? "allow-once" : "allow-always",
        hearthScope: scope,
      });
    } finally {
      this.answering = new Set([...this.answering].filter((x) => x !== id));
    }
  }
}

export const [useApprovals, provideApprovals] = createContext<Approvals>();
