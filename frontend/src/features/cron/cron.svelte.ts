// What is planned: the list, what was missed while the machine slept, and what
// has just been said to somebody who has not seen it yet.
import { createContext } from "svelte";
import type { Client } from "../../net/client.svelte";
import type { CronActed, CronEvent, CronJob, CronMissed, CronProposal, CronProposals } from "../../net/wire";

/** Due is a reminder that waits for somebody to see it. */
export interface Due {
  runId: string;
  jobId: string;
  text: string;
  important: boolean;
  at: number;
}

const mostJobs = 2000;

export class Schedules {
  jobs = $state.raw<CronJob[] | null>(null);
  missed = $state.raw<CronMissed | null>(null);
  due = $state.raw<Due[]>([]);
  /** jobs that were planned in a conversation since the page was opened */
  planned = $state.raw<CronJob[]>([]);
  /** what the assistant said it would do, and nobody has answered */
  proposals = $state.raw<CronProposal[]>([]);
  /** counts what the gateway told of runs, for those who show the log */
  runs = $state(0);
  private wanted = false;

  constructor(
    private readonly client: Pick<Client, "call" | "on">,
    /** tells somebody who does not look that there is a reminder */
    private readonly tell: () => void = () => undefined,
  ) {
    client.on((name, payload) => {
      if (name === "cron") this.heard(payload as CronEvent);
      if (name === "hearth.cron.proposals") this.proposals = (payload as CronProposals).proposals;
    });
  }

  /** load is called after hello; a gateway without schedules has nothing to say. */
  async load(): Promise<void> {
    this.missed = await this.client.call("hearth.cron.missed", {}).then((m) => (m.id ? m : null), () => null);
    this.proposals = await this.client.call("hearth.cron.proposals", {}).then((p) => p.proposals, () => []);
    const log = await this.client.call("cron.runs", { scope: "all", limit: 50 }).catch(() => null);
    for (const r of log?.entries ?? [])
      if (r.runId && r.hearth?.important && !r.hearth.seenAtMs && r.status === "ok")
        this.add({ runId: r.runId, jobId: r.jobId, text: r.summary || r.jobName || "", important: true, at: r.runAtMs ?? r.ts });
    if (this.wanted) await this.list();
  }

  /** list reads all jobs, page by page, and keeps them fresh from then on. */
  async list(): Promise<void> {
    this.wanted = true;
    const all: CronJob[] = [];
    for (let offset = 0; all.length < mostJobs; ) {
      const page = await this.client.call("cron.list", { includeDisabled: true, limit: 200, offset });
      all.push(...page.jobs);
      if (!page.hasMore || page.nextOffset == null || page.nextOffset <= offset) break;
      offset = page.nextOffset;
    }
    this.jobs = all;
  }

  async enable(j: CronJob, enabled: boolean): Promise<void> {
    await this.act(j, enabled ? "resume" : "pause");
  }

  async run(j: CronJob): Promise<boolean> {
    return (await this.act(j, "run")).begun === true;
  }

  async remove(j: CronJob): Promise<void> {
    await this.act(j, "delete");
    this.drop(j.id);
  }

  /** plan gives a job another time, in words. */
  async plan(j: CronJob, when: string): Promise<void> {
    await this.act(j, "plan", when);
  }

  private async act(j: CronJob, what: string, when?: string): Promise<CronActed> {
    const r = await this.client.call("hearth.cron.act", { id: j.id, do: what, ...(when ? { when } : {}) });
    if (r.job) this.put(r.job);
    return r;
  }

  async seen(d: Due): Promise<void> {
    this.forget(d);
    if (d.important) await this.client.call("hearth.cron.seen", { runId: d.runId });
  }

  async snooze(d: Due, minutes: number): Promise<CronJob> {
    const later = await this.client.call("hearth.cron.snooze", { id: d.jobId, runId: d.runId, minutes });
    this.forget(d);
    return later;
  }

  /** answer says yes or no to a proposal; when: at another time, in words. */
  async answer(p: CronProposal, yes: boolean, when = ""): Promise<void> {
    await this.client.call("hearth.cron.proposals.answer", { id: p.id, yes, ...(when ? { when } : {}) });
    this.proposals = this.proposals.filter((o) => o.id !== p.id);
  }

  async resolve(run: boolean): Promise<void> {
    const m = this.missed;
    this.missed = null;
    if (m?.id) await this.client.call("hearth.cron.missed.resolve", { id: m.id, run });
  }

  /** speaks is true while there is something to say over a conversation. */
  speaks(session: string): boolean {
    const here = this.planned.some((j) => sessionOf(j) === session) || this.proposals.some((p) => p.sessionKey === session);
    return here || this.missed !== null || this.due.length > 0;
  }

  /** shown puts the card of a job that was just planned away. */
  shown(id: string): void {
    this.planned = this.planned.filter((j) => j.id !== id);
  }

  /** put takes a job as it is now. */
  put(j: CronJob): void {
    if (this.jobs) this.jobs = this.jobs.some((o) => o.id === j.id) ? this.jobs.map((o) => (o.id === j.id ? j : o)) : [...this.jobs, j];
    this.planned = this.planned.map((o) => (o.id === j.id ? j : o));
  }

  private heard(e: CronEvent): void {
    if (e.action === "removed") return this.drop(e.jobId);
    if (e.job) this.put(e.job);
    if (e.action === "added" && e.job && sessionOf(e.job) !== "") this.planned = [...this.planned.filter((j) => j.id !== e.jobId), e.job];
    if (e.action === "started" || e.action === "finished") this.runs++;
    if (e.action !== "finished") return;
    const own = e.job?.hearth;
    if (e.runId && e.status === "ok" && (own?.reminder || own?.important || e.hearth?.important)) {
      this.tell();
      this.add({
        runId: e.runId,
        jobId: e.jobId,
        text: e.summary || e.job?.payload.text || e.job?.name || "",
        important: Boolean(own?.important || e.hearth?.important),
        at: e.runAtMs ?? Date.now(),
      });
    }
    if (e.hearth?.late) void this.client.call("hearth.cron.missed", {}).then((m) => (this.missed = m.id ? m : null), () => undefined);
  }

  private add(d: Due): void {
    this.due = [...this.due.filter((o) => o.runId !== d.runId && o.jobId !== d.jobId), d];
  }

  private forget(d: Due): void {
    this.due = this.due.filter((o) => o.runId !== d.runId);
  }

  private drop(id: string): void {
    this.jobs = this.jobs?.filter((j) => j.id !== id) ?? null;
    this.shown(id);
  }
}

/** sessionOf is the conversation in which a job was planned, "" for none. */
export const sessionOf = (j: CronJob): string => j.owner?.sessionKey || j.sessionKey || "";

export const [useSchedules, provideSchedules] = createContext<Schedules>();
