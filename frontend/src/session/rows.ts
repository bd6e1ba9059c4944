// What the list on screen is made of. Long answers are cut into rows of a few
// blocks: the list then only keeps what is near the window.
import { inReply, inWords } from "../i18n/errors.svelte";
import type { Earlier, WireBlock } from "../net/wire";
import { blocksOf, type Block } from "../text/stream";
import { show, type Live, type Tool } from "./live";
import type { Entry } from "./outbox";
import { begun, type Msg, type Turn } from "./transcript";

export type Row =
  | { kind: "day"; key: string; ts: number }
  | { kind: "begin"; key: string; earlier: Earlier }
  | { kind: "user"; key: string; msg: Msg; entry: Entry | null }
  | {
      kind: "text";
      key: string;
      blocks: Block[];
      settled: number;
      head: boolean;
      tail: boolean;
      builtIn: boolean;
      live: boolean;
      text: string;
      /** of a note, over its first part */
      label: string;
      msg: Msg | null;
      changed: boolean;
    }
  | { kind: "tools"; key: string; head: boolean; builtIn: boolean; tools: Tool[]; live: boolean; runId: string }
  | { kind: "thought"; key: string; head: boolean; builtIn: boolean; text: string }
  | { kind: "typing"; key: string; head: boolean; builtIn: boolean; phase: string; run: string }
  | { kind: "command"; key: string; blocks: Block[]; text: string; msg: Msg }
  | {
      kind: "note";
      key: string;
      state: "failed" | "aborted" | "cancelled" | "dropped" | "interrupted" | "system";
      text: string;
      msg: Msg;
      all: Msg[];
    };

const perRow = 12;

/** Parsed texts, newest last; a finished answer is found here as it was streamed. */
export class Parsed {
  private readonly map = new Map<string, Block[]>();
  constructor(private readonly most = 1500) {}

  of(text: string): Block[] {
    let b = this.map.get(text);
    if (b) this.map.delete(text);
    else b = blocksOf(text);
    this.keep(text, b);
    return b;
  }

  keep(text: string, blocks: Block[]): void {
    this.map.set(text, blocks);
    if (this.map.size > this.most) this.map.delete(this.map.keys().next().value!);
  }
}

interface Style {
  run: string;
  builtIn: boolean;
  live: boolean;
  /** tools of the turn have changed files */
  changed?: boolean;
}

function textRows(s: Style, ordinal: number, blocks: Block[], settled: number, head: boolean, text: string, msg: Msg | null): Row[] {
  const rows: Row[] = [];
  for (let at = 0; at < blocks.length; at += perRow) {
    rows.push({
      kind: "text",
      key: `${s.run}/${ordinal}/${at}`,
      blocks: blocks.slice(at, at + perRow),
      settled: settled - at,
      head: head && at === 0,
      tail: at + perRow >= blocks.length,
      builtIn: s.builtIn,
      live: s.live,
      text,
      label: at === 0 ? (msg?.label ?? "") : "",
      msg,
      changed: s.changed ?? false,
    });
  }
  return rows;
}

/** runKey keeps the rows of a run apart where they stand under more than one message. */
const runKey = (run: string, under: string): string => (under === "" || under === run ? run : `${run}~${under}`);

/** replyRows are the stored replies of one turn. */
export function replyRows(turn: Turn, parsed: Parsed): Row[] {
  const rows: Row[] = [];
  // Some models use the same id again in a later step: results are taken in order.
  const results = new Map<string, Msg[]>();
  for (const m of turn.replies) if (m.role === "toolResult") results.set(m.toolCallId, [...(results.get(m.toolCallId) ?? []), m]);
  const over = turn.user === null || !["accepted", "answering"].includes(turn.user.state);
  const changed = turn.replies.some((m) => m.role === "toolResult" && !m.isError && changes(m.details));
  let ordinal = 0;
  for (const m of turn.replies) {
    if (m.role === "system") rows.push({ kind: "note", key: m.id, state: "system", text: m.text, msg: m, all: [m] });
    if (m.role !== "assistant") continue;
    if (m.quiet) {
      const text = inReply(m.text);
      rows.push({ kind: "command", key: `c/${m.id}`, blocks: parsed.of(text), text, msg: m });
      continue;
    }
    const s: Style = { run: runKey(m.runId || m.id, turn.user?.runId ?? ""), builtIn: m.builtIn, live: false, changed };
    const thought = m.content
      .map((b) => (b.type === "thinking" ? (b.thinking ?? "") : ""))
      .join("\n\n")
      .trim();
    if (thought !== "")
      rows.push({ kind: "thought", key: `${s.run}/${ordinal++}/r`, head: rows.length === 0, builtIn: s.builtIn, text: thought });
    if (m.text.trim() !== "") {
      const text = m.label === "Jobs" ? inWords(m.text) : m.text;
      const blocks = parsed.of(text);
      rows.push(...textRows(s, ordinal++, blocks, blocks.length, rows.length === 0, text, m));
    }
    let from = m.ts;
    const tools = m.content
      .filter((b) => b.type === "toolCall")
      .map((b) => {
        const r = results.get(b.id ?? "")?.shift();
        const tool = stored(b, r, over, from);
        from = r?.ts ?? from;
        return tool;
      });
    if (tools.length === 0) continue;
    const last = rows.at(-1);
    if (last?.kind === "tools") rows[rows.length - 1] = { ...last, tools: [...last.tools, ...tools] };
    else
      rows.push({
        kind: "tools",
        key: `${s.run}/${ordinal++}/t`,
        head: rows.length === 0,
        builtIn: s.builtIn,
        tools,
        live: false,
        runId: m.runId,
      });
  }
  return rows;
}

/** changes says whether a tool's result tells of a changed file. */
export function changes(details: unknown): boolean {
  const d = details as { diff?: unknown; files?: unknown } | null | undefined;
  return typeof d?.diff === "string" || Array.isArray(d?.files);
}

/** stored is a tool of the transcript; tools of one message ran one after the other. */
function stored(b: WireBlock, r: Msg | undefined, over: boolean, from: number): Tool {
  const state = r ? (r.isError ? "failed" : "done") : over ? "failed" : "running";
  return {
    id: b.id ?? "",
    name: b.name ?? "",
    args: show(b.arguments),
    input: b.arguments,
    result: r ? show(r.text) : "",
    details: r?.details,
    took: r ? (ran(r.details) ?? r.took ?? Math.max(0, r.ts - from)) : 0,
    state,
  };
}

/** ran is how long a tool says that it ran: waiting for a yes is not in it. */
export function ran(details: unknown): number | undefined {
  const ms = (details as { durationMs?: unknown } | null | undefined)?.durationMs;
  return typeof ms === "number" && ms >= 0 ? ms : undefined;
}

/** liveRows are the parts of the answer in progress; call flush on its streams before. */
export function liveRows(live: Live, builtIn: boolean): Row[] {
  const rows: Row[] = [];
  const s: Style = { run: runKey(live.runId, live.under), builtIn, live: true };
  live.parts.forEach((p, ordinal) => {
    const head = rows.length === 0;
    if (p.kind === "text") rows.push(...textRows(s, ordinal, p.stream.blocks, p.stream.settled, head, p.stream.text, null));
    else
      rows.push({
        kind: "tools",
        key: `${s.run}/${ordinal}/t`,
        head,
        builtIn,
        tools: p.tools.map((t) => ({ ...t })),
        live: true,
        runId: live.runId,
      });
  });
  const last = rows.at(-1);
  if (last === undefined || last.kind === "tools") {
    rows.push({ kind: "typing", key: `${s.run}/typing`, head: last === undefined, builtIn, phase: live.phase, run: live.runId });
  }
  return rows;
}

const dayOf = (ts: number): string => new Date(ts).toDateString();

/**
 * layout puts turns, the answer in progress and the outbox together. live is
 * called once, where the answer belongs: behind the message of the run under.
 */
export function layout(list: Turn[], parsed: Parsed, liveRun: string, entries: Entry[], under = liveRun): { before: Row[]; after: Row[] } {
  const before: Row[] = [];
  const after: Row[] = [];
  let rows = before;
  let day = "";
  const at = (ts: number, key: string): void => {
    if (!ts || dayOf(ts) === day) return;
    day = dayOf(ts);
    rows.push({ kind: "day", key: `day/${key}`, ts });
  };
  const here = new Set(list.map((t) => t.user?.runId));
  const anchored = liveRun !== "" && list.some((t) => t.user?.runId === liveRun);
  const turnOf = (run: string): Turn | undefined => (run === "" ? undefined : list.find((t) => t.user?.runId === run));
  const anchor = turnOf(under) ?? turnOf(liveRun);
  for (const turn of list) {
    const u = turn.user && told(turn.user, turn.replies);
    // An answer without a known question goes before what still waits.
    if (liveRun !== "" && !anchored && rows === before && u?.state === "accepted") rows = after;
    // Its words are shown as the answer in progress.
    if (!u && liveRun !== "" && turn.replies.every((m) => m.runId === liveRun)) continue;
    at(u?.ts ?? turn.replies[0]?.ts ?? 0, turn.key);
    if (u)
      rows.push({
        kind: "user",
        key: u.runId ? `u/${u.runId}` : u.id,
        msg: u,
        entry: null,
      });
    if (turn === anchor) {
      rows = after;
      continue;
    }
    rows.push(...replyRows(turn, parsed));
    if (u) note(rows, u, turn.replies.length > 0);
  }
  for (const e of entries) {
    // The history may show a message before its acknowledgement was read.
    if (here.has(e.id)) continue;
    at(e.at, e.id);
    rows.push({ kind: "user", key: `u/${e.id}`, entry: e, msg: pendingMsg(e) });
  }
  unique([before, after]);
  return { before, after };
}

/** unique makes sure of the keys: the list must not stop on a strange transcript. */
function unique(parts: Row[][]): void {
  const seen = new Set<string>();
  for (const rows of parts)
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!;
      let key = row.key;
      while (seen.has(key)) key += "'";
      seen.add(key);
      if (key !== row.key) rows[i] = { ...row, key };
    }
}

/** told is a message with what its replies tell of it. */
function told(u: Msg, replies: readonly Msg[]): Msg {
  const quiet = replies.some((m) => m.quiet);
  const broke = u.state === "failed" && begun(replies);
  return quiet || broke ? { ...u, quiet: quiet || u.quiet, ...(broke ? { begun: true } : {}) } : u;
}

function note(rows: Row[], u: Msg, begun: boolean): void {
  if (u.state !== "failed" && u.state !== "aborted" && u.state !== "dropped" && u.state !== "interrupted") return;
  const state = u.state === "aborted" && !begun ? "cancelled" : u.state;
  // What one key press stopped before it began is one line.
  const before = rows.at(-2);
  if (state === "cancelled" && before?.kind === "note" && before.state === "cancelled") {
    rows.splice(-2, 1);
    rows.push({ ...before, msg: u, all: [...before.all, u] });
    return;
  }
  rows.push({ kind: "note", key: `n/${u.runId || u.id}`, state, text: u.error, msg: u, all: [u] });
}

function pendingMsg(e: Entry): Msg {
  return {
    id: `out:${e.id}`,
    seq: Infinity,
    role: "user",
    text: e.text,
    content: [],
    ts: e.at,
    runId: e.id,
    state: "",
    error: e.error,
    builtIn: false,
    model: "",
    toolCallId: "",
    toolName: "",
    isError: false,
    details: null,
    quiet: false,
    label: "",
  };
}
