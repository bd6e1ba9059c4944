// What the assistant asks its owner for, and the switch that stops it from
// acting.
import type { Approval, ApprovalResolved, Pause } from "../../net/wire";
import type { Socket } from "../../net/socket";

/** Scope is for how long a yes or a no holds. */
export type ApprovalScope = "once" | "session" | "here" | "program" | "folder" | "deny" | "never";

export class Safety {
  pending = $state.raw<Approval[]>([]);
  pause = $state.raw<Pause>({ level: "off" });
  /** answers whose changes to files were taken back */
  undone = $state.raw<ReadonlySet<string>>(new Set());
  /** how long calls waited for a decision, by run and call */
  private readonly waits = new Map<string, number>();
  /** requests that are being answered by this page */
  private answering = $state.raw<ReadonlySet<string>>(new Set());

  constructor(private readonly socket: Socket) {}

  /** load is called after hello: it asks what waits. */
  async load(): Promise<void> {
    const [pending, pause] = await Promise.all([this.socket.call("exec.approval.list", {}), this.socket.call("hearth.pause.get", {})]);
    this.pending = pending;
    this.pause = pause;
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

  tookBack(runId: string): void {
    this.undone = new Set([...this.undone, runId]);
  }

  async loadUndone(): Promise<void> {
    const { turns } = await this.socket.call("hearth.undo.list", { limit: 200 });
    this.undone = new Set(turns.filter((x) => x.undoneBy).map((x) => x.runId));
  }

  event(name: string, payload: unknown): void {
    if (name === "exec.approval.requested") {
      const a = payload as Approval;
      this.pending = [...this.pending.filter((o) => o.id !== a.id), a];
    } else if (name === "exec.approval.resolved") {
      const a = payload as ApprovalResolved;
      const asked = this.pending.find((o) => o.id === a.id);
      if (asked) this.waits.set(`${asked.request.runId ?? ""} ${asked.request.toolCallId ?? ""}`, Math.max(0, a.ts - asked.createdAtMs));
      this.pending = this.pending.filter((o) => o.id !== a.id);
    } else if (name === "hearth.pause") this.pause = payload as Pause;
  }

  busy(id: string): boolean {
    return this.answering.has(id);
  }

  async decide(id: string, scope: ApprovalScope): Promise<void> {
    this.answering = new Set([...this.answering, id]);
    try {
      const yes = scope !== "deny" && scope !== "never";
      await this.socket.call("exec.approval.resolve", { id, decision: !yes ? "deny" : scope === "once" ? "allow-once" : "allow-always", hearthScope: scope });
    } finally {
      this.answering = new Set([...this.answering].filter((x) => x !== id));
    }
  }

  async setPause(level: string, durationMs = 0): Promise<void> {
    this.pause = await this.socket.call("hearth.pause.set", durationMs > 0 ? { level, durationMs } : { level });
  }
}
