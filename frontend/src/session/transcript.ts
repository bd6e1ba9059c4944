// The messages of one session as plain values, and how pages, events and the
// person's own unsent words come together. Pure functions only.
import type { Entry } from "./outbox";
import type { Message, MessageOrigin, MessageVersions, ReceiptState, WireBlock } from "../net/wire";

export type Role = "user" | "assistant" | "toolResult" | "system";

export interface Msg {
  id: string;
  /** position in the session; Infinity until the gateway has said it */
  seq: number;
  role: Role;
  text: string;
  content: WireBlock[];
  ts: number;
  runId: string;
  state: ReceiptState | "";
  error: string;
  /** what can be done about it */
  repair?: string | undefined;
  builtIn: boolean;
  model: string;
  toolCallId: string;
  toolName: string;
  isError: boolean;
  /** of a tool's result, for people */
  details: unknown;
  /** how long a tool ran, in ms; older results do not say */
  took?: number;
  /** a command or its reply, which models never see */
  quiet: boolean;
  /** some of its answer came */
  begun?: boolean;
  /** what kind of note it is, which no model wrote: "Reminder", the name of a job */
  label: string;
  /** the session that sent it in nobody's name: who started a sub-agent, or whose result it is */
  from?: string;
  /** the messaging network that it came from, and from whom */
  origin?: MessageOrigin;
  /** where its answer goes, when that is not where it came from */
  answersTo?: MessageOrigin;
  /** what was said in its place on other branches, and which of them this is */
  versions?: MessageVersions;
}

const roles: ReadonlySet<string> = new Set<Role>(["user", "assistant", "toolResult", "system"]);

export function textOf(content: WireBlock[]): string {
  let s = "";
  for (const b of content) if (b.type === "text") s += b.text ?? "";
  return s;
}

/** begun says whether words of an answer are among these. */
export const begun = (list: readonly Msg[]): boolean => list.some((m) => m.role === "assistant" && !m.quiet && m.text.trim() !== "");

/** labelled takes the label off a note, where it stands in brackets over the words. */
function labelled(content: WireBlock[]): [label: string, content: WireBlock[]] {
  const m = /^\[([^\]\n]{1,80})\]\n\n/.exec(content[0]?.text ?? "");
  return m ? [m[1]!, [{ ...content[0]!, text: content[0]!.text!.slice(m[0].length) }, ...content.slice(1)]] : ["", content];
}

export function toMsg(m: Message): Msg {
  const note = m.model === "gateway-injected";
  // Old transcripts may hold a bare string as content.
  const said = Array.isArray(m.content) ? m.content : [{ type: "text", text: String(m.content ?? "") }];
  const [label, content] = note ? labelled(said) : ["", said];
  const runId = m.__openclaw?.runId ?? (m.idempotencyKey ?? m.__openclaw?.idempotencyKey ?? "").replace(/:user$/, "");
  const role = roles.has(m.role) ? (m.role as Role) : "system";
  return {
    id: m.__openclaw?.id ?? `${role}:${runId || m.timestamp}`,
    seq: m.__openclaw?.seq ?? Infinity,
    role,
    text: textOf(content),
    content,
    ts: m.timestamp,
    runId,
    state: m.hearth?.state ?? "",
    error: m.hearth?.error ?? m.errorMessage ?? "",
    repair: m.hearth?.repair,
    builtIn: m.hearth?.builtIn === true || m.provider === "guide",
    model: note ? "" : m.provider && m.model ? `${m.provider}/${m.model}` : (m.model ?? ""),
    toolCallId: m.toolCallId ?? "",
    toolName: m.toolName ?? "",
    isError: m.isError === true,
    details: m.details,
    took: m.hearthDurationMs,
    quiet: m.excludeFromContext === true,
    label,
    from: m.provenance?.sourceSessionKey,
    origin: m.hearthOrigin,
    answersTo: m.hearthAnswersTo,
    versions: m.hearthVersions,
  };
}

/** own is a message of this person that was acknowledged but not yet seen in the transcript. */
export function own(runId: string, text: string, ts: number, to?: Entry["to"]): Msg {
  return {
    id: `own:${runId}`,
    seq: Infinity,
    role: "user",
    ...(to ? { answersTo: { channel: to.channel ?? "", sender: to.name } } : {}),
    text,
    content: [{ type: "text", text }],
    ts,
    runId,
    state: "accepted",
    error: "",
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

const bySeq = (a: Msg, b: Msg): number => (a.seq === b.seq ? 0 : a.seq - b.seq);

/** provisional entries are replaced by what the gateway stored for the same run. */
const replaces = (real: Msg, old: Msg): boolean =>
  old.seq === Infinity && old.runId !== "" && old.runId === real.runId && old.role === real.role;

// A state never goes back: an event that was on its way is older than a page.
const rank: Record<string, number> = { "": 0, accepted: 1, answering: 2, answered: 3, failed: 3, aborted: 3, dropped: 3, interrupted: 3 };

const settle = (now: Msg, before: Msg | undefined): Msg =>
  before && rank[before.state]! > rank[now.state]! ? { ...now, state: before.state, error: before.error, repair: before.repair } : now;

export function upsert(list: Msg[], m: Msg): Msg[] {
  const same = list.find((o) => o.id === m.id) ?? (m.seq < Infinity ? list.find((o) => replaces(m, o)) : undefined);
  const rest = list.filter((o) => o.id !== m.id && !(m.seq < Infinity && replaces(m, o)));
  rest.push(settle(m, same));
  return rest.sort(bySeq);
}

/**
 * withPage takes in a page of history. The page is the truth for its range; older
 * messages that were read before stay, and so do newer and provisional ones
 * that the page cannot know yet.
 */
export function withPage(list: Msg[], page: Msg[]): Msg[] {
  if (page.length === 0) return list.filter((o) => o.seq === Infinity);
  const from = page[0]!.seq;
  const to = page[page.length - 1]!.seq;
  const ids = new Set(page.map((m) => m.id));
  const kept = list.filter((o) => !ids.has(o.id) && (o.seq < from || o.seq > to) && !page.some((m) => replaces(m, o)));
  return [...kept, ...page].sort(bySeq);
}

/** withRunState changes the state of the person's message that started a run. */
export function withRunState(list: Msg[], runId: string, state: ReceiptState, error = "", repair = ""): Msg[] {
  let changed = false;
  const next = list.map((m) => {
    if (m.role !== "user" || m.runId !== runId || rank[m.state]! >= rank[state]!) return m;
    changed = true;
    return { ...m, state, error: error || m.error, repair: repair || m.repair };
  });
  return changed ? next : list;
}

/** Turn is a person's message with everything that answers it. */
export interface Turn {
  key: string;
  user: Msg | null;
  replies: Msg[];
}

/** waits are the messages whose turn comes later; active is the run that is being answered. */
export function waits(list: Msg[], active: string): Msg[] {
  const waiting = list.filter(
    (m) => m.role === "user" && m.state === "accepted" && m.runId !== active && !m.quiet && !m.text.startsWith("/"),
  );
  // When nothing is being answered, the first is on its way.
  return active !== "" || list.some((m) => m.role === "user" && m.state === "answering") ? waiting : waiting.slice(1);
}

/**
 * under is the run whose message stands last before the words that a run says
 * now: its own, or one that was taken into it while it went on.
 */
export function under(list: Msg[], runId: string): string {
  const joined = list.filter((m) => m.role === "user" && m.state === "answering" && m.runId !== runId && m.seq < Infinity).at(-1);
  return joined?.runId ?? runId;
}

/**
 * turns puts replies under the message they answer, also where the person
 * wrote on before the answer came. A message that another run answered too has
 * no reply of its own: what was said after it stands under it.
 */
export function turns(list: Msg[]): Turn[] {
  const out: Turn[] = [];
  const byRun = new Map<string, Turn>();
  for (const m of list) {
    if (m.role !== "user") continue;
    if (m.runId !== "" && !byRun.has(m.runId)) byRun.set(m.runId, { key: m.id, user: m, replies: [] });
  }
  const replied = new Set(list.filter((m) => m.role !== "user").map((m) => m.runId));
  for (const m of list) {
    if (m.role === "user") {
      const turn = byRun.get(m.runId);
      out.push(turn?.user === m ? turn : { key: m.id, user: m, replies: [] });
      continue;
    }
    const turn = m.runId !== "" ? byRun.get(m.runId) : undefined;
    if (turn) (joinedBy(list, turn.user!, m, byRun, replied) ?? turn).replies.push(m);
    else if (out.length > 0 && out[out.length - 1]!.user === null) out[out.length - 1]!.replies.push(m);
    else out.push({ key: m.id, user: null, replies: [m] });
  }
  return out;
}

function joinedBy(list: Msg[], asked: Msg, reply: Msg, byRun: Map<string, Turn>, replied: Set<string>): Turn | undefined {
  if (reply.seq === Infinity) return undefined;
  for (let i = list.indexOf(reply) - 1; i >= 0 && list[i] !== asked; i--) {
    const m = list[i]!;
    if (m.role === "user" && m.seq > asked.seq && !replied.has(m.runId)) return byRun.get(m.runId);
  }
  return undefined;
}
