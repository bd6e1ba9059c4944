// The answer that is being written right now: text by byte offsets, tools in
// between, and the growing blocks that are shown.
import type { AgentEvent, ChatEvent, InFlightRun } from "../net/wire";
import { Stream } from "../text/stream";
import type { Msg } from "./transcript";

export interface Tool {
  id: string;
  name: string;
  args: string;
  /** the arguments as the model gave them */
  input: unknown;
  /** what it gave back; while it runs, what there is of it */
  result: string;
  /** what the gateway says of the result for people: a diff, an exit code */
  details: unknown;
  /** how long it ran, in ms; 0 = not known */
  took: number;
  state: "running" | "done" | "failed";
}

export type Part = { kind: "text"; stream: Stream } | { kind: "tools"; tools: Tool[] };

/** "gap": words are missing, the history has to be read again. */
export type Fed = "ok" | "old" | "gap";

const longestShown = 20_000;

export function show(v: unknown): string {
  if (v === undefined || v === null || v === "") return "";
  const s = typeof v === "string" ? v : JSON.stringify(v, null, 2);
  return s.length > longestShown ? s.slice(0, longestShown) + "\n…" : s;
}

/** resultText takes the words out of a tool result where it has any. */
function resultText(v: unknown): unknown {
  const content = (v as { content?: unknown } | null)?.content;
  if (!Array.isArray(content)) return v;
  return content.map((b: { text?: unknown }) => (typeof b?.text === "string" ? b.text : "")).join("\n");
}

export class Live {
  /** length of the text in UTF-8 bytes, as the gateway counts */
  end = 0;
  parts: Part[] = [];
  phase = "";
  /** null until the gateway has said which model answers */
  builtIn: boolean | null = null;
  heardAt: number;

  constructor(
    readonly runId: string,
    readonly startedAt: number,
    /** the run of the message that the words stand under */
    readonly under = runId,
  ) {
    this.heardAt = startedAt;
  }

  /**
   * resume takes over what the gateway has. Replies of the run that are stored
   * already come first; the run's text goes on behind them, or, when it is as
   * long as all that was said, holds them too.
   */
  static resume(run: InFlightRun, stored: Msg[], now: number, under = run.runId): Live {
    const live = new Live(run.runId, now, under);
    const whole = new TextEncoder().encode(run.text).length === run.end;
    let rest = run.text;
    for (const m of stored) {
      if (m.role === "toolResult") live.finishTool(m.toolCallId, m.text, m.isError, m.details, 0);
      if (m.role !== "assistant") continue;
      live.builtIn ??= m.builtIn;
      live.write(m.text);
      if (whole && rest.startsWith(m.text)) rest = rest.slice(m.text.length);
      for (const b of m.content) if (b.type === "toolCall") live.startTool(b.id ?? "", b.name ?? "", b.arguments);
    }
    live.write(rest);
    live.end = run.end;
    return live;
  }

  get text(): string {
    return this.parts.map((p) => (p.kind === "text" ? p.stream.text : "")).join("");
  }

  delta(e: ChatEvent, now: number): Fed {
    this.heardAt = now;
    if (e.end === undefined) return this.cumulative(e);
    const offset = e.offset ?? 0;
    if (e.end <= this.end) return "old";
    if (offset !== this.end) return "gap";
    this.write(e.deltaText ?? "");
    this.end = e.end;
    this.phase = "";
    return "ok";
  }

  /** A gateway without our byte offsets sends the whole text each time. */
  private cumulative(e: ChatEvent): Fed {
    const all = (e.message?.content ?? []).map((b) => (b.type === "text" ? (b.text ?? "") : "")).join("").replace(/\r\n?/g, "\n");
    const have = this.text;
    if (all === "" || all.length <= have.length) return "old";
    if (!all.startsWith(have)) return "gap";
    this.write(all.slice(have.length));
    return "ok";
  }

  /** happened takes in what goes on inside the run. */
  happened(e: AgentEvent, now: number): void {
    this.heardAt = now;
    const d = e.data;
    if (e.stream === "lifecycle" && d["phase"] === "model") this.builtIn = d["provider"] === "guide";
    if (e.stream !== "tool") return;
    const id = String(d["toolCallId"] ?? "");
    if (d["phase"] === "start") this.startTool(id, String(d["name"] ?? "tool"), d["args"]);
    if (d["phase"] === "update") this.grow(id, resultText(d["partialResult"]));
    if (d["phase"] !== "result") return;
    const details = (d["result"] as { details?: unknown } | null)?.details;
    this.finishTool(id, resultText(d["result"]), d["isError"] === true, details, Number(d["durationMs"] ?? 0));
  }

  private write(words: string): void {
    let last = this.parts.at(-1);
    // The gateway parts what was said before and after a tool by an empty line.
    if (last?.kind === "tools") words = words.replace(/^\n+/, "");
    if (words === "") return;
    if (last?.kind !== "text") this.parts.push((last = { kind: "text", stream: new Stream() }));
    last.stream.append(words);
  }

  private startTool(id: string, name: string, args: unknown): void {
    if (this.running(id)) return;
    let last = this.parts.at(-1);
    if (last?.kind !== "tools") {
      if (last) last.stream.finish();
      this.parts.push((last = { kind: "tools", tools: [] }));
    }
    last.tools.push({ id, name, args: show(args), input: args, result: "", details: null, took: 0, state: "running" });
  }

  private grow(id: string, result: unknown): void {
    const tool = this.running(id);
    if (tool) tool.result = show(result);
  }

  private finishTool(id: string, result: unknown, isError: boolean, details: unknown, took: number): void {
    const tool = this.running(id);
    if (tool) Object.assign(tool, { result: show(result), details, took, state: isError ? "failed" : "done" });
  }

  /** An id may come again in a later step, when its first tool is done. */
  private running(id: string): Tool | undefined {
    for (const p of this.parts) {
      const tool = p.kind === "tools" ? p.tools.find((t) => t.id === id && t.state === "running") : undefined;
      if (tool) return tool;
    }
    return undefined;
  }
}
