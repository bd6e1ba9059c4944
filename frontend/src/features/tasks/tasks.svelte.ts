// Background work as the pane shows it: what is at work, and what is over.
import type { Client } from "../../net/client.svelte";
import type { TaskView, TaskViewEvent } from "../../net/wire";

const page = 50;

export const isOpen = (t: TaskView): boolean => t.status === "queued" || t.status === "running";

/** part is how much of a task is done, from 0 to 1; undefined where nobody knows. */
export function part(t: TaskView): number | undefined {
  const { done = 0, total = 0 } = t.hearth;
  return isOpen(t) && total > 0 ? Math.min(done / total, 1) : undefined;
}

export class Tasks {
  all = $state.raw<TaskView[] | null>(null);
  more = $state(false);
  private next = "";
  readonly open = $derived((this.all ?? []).filter(isOpen).toSorted((a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0)));
  readonly over = $derived((this.all ?? []).filter((t) => !isOpen(t)).toSorted((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0)));

  constructor(private readonly client: Pick<Client, "call" | "on">) {}

  /** watch hears of changes until what it returns is called. */
  watch(): () => void {
    return this.client.on((name, payload) => name === "hearth.task" && this.heard(payload as TaskViewEvent));
  }

  async load(): Promise<void> {
    const status = ["queued", "running"];
    const [open, over] = await Promise.all([
      this.client.call("hearth.tasks.list", { status, limit: 500 }),
      this.client.call("hearth.tasks.list", { status: ["completed", "failed", "cancelled", "timed_out"], sortBy: "endedAt", limit: page }),
    ]);
    this.all = [...open.tasks, ...over.tasks];
    this.turned(over.nextCursor);
  }

  async older(): Promise<void> {
    const p = { status: ["completed", "failed", "cancelled", "timed_out"], sortBy: "endedAt", limit: page, cursor: this.next };
    const over = await this.client.call("hearth.tasks.list", p);
    for (const t of over.tasks) this.put(t);
    this.turned(over.nextCursor);
  }

  async cancel(t: TaskView): Promise<string> {
    const r = await this.client.call("tasks.cancel", { taskId: t.id });
    return r.cancelled ? "" : (r.reason ?? "");
  }

  async retry(t: TaskView): Promise<string> {
    const r = await this.client.call("tasks.retry", { taskIds: [t.id] });
    return r.results.find((x) => !x.ok)?.reason ?? "";
  }

  async dismiss(t: TaskView): Promise<void> {
    await this.client.call("tasks.dismiss", { taskIds: [t.id] });
    this.drop(t.id);
  }

  private heard(e: TaskViewEvent): void {
    if (e.removed) this.drop(e.removed);
    if (e.task) this.put(e.task);
  }

  private turned(cursor = ""): void {
    this.next = cursor;
    this.more = cursor !== "";
  }

  private put(t: TaskView): void {
    const all = this.all ?? [];
    this.all = all.some((o) => o.id === t.id) ? all.map((o) => (o.id === t.id ? t : o)) : [...all, t];
  }

  private drop(id: string): void {
    this.all = this.all?.filter((t) => t.id !== id) ?? null;
  }
}
