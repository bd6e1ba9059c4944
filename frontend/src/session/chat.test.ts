import { describe, expect, test } from "vitest";
import type { AgentEvent, ChatEvent, Message } from "../net/wire";
import { document as randomDocument, random } from "../text/random";
import { Live } from "./live";
import type { Entry } from "./outbox";
import { layout, liveRows, Parsed, replyRows, type Row } from "./rows";
import { own, toMsg, turns, upsert, withPage, withRunState, type Msg } from "./transcript";

const wire = (role: string, seq: number, runId: string, text: string, more: Partial<Message> = {}): Message => ({
  role,
  content: [{ type: "text", text }],
  timestamp: seq * 1000,
  __openclaw: { id: `m${seq}`, seq, runId },
  ...more,
});
const msg = (...a: Parameters<typeof wire>): Msg => toMsg(wire(...a));
const user = (seq: number, runId: string, text: string, state = "answered"): Msg =>
  msg("user", seq, runId, text, { hearth: { state: state as "answered" } });
const entry = (id: string, text: string): Entry => ({ id, sessionKey: "s", text, at: 9_000_000, state: "waiting", error: "" });
const ids = (l: Msg[]): string[] => l.map((m) => m.id);

describe("transcript", () => {
  test("a message from the wire", () => {
    const m = toMsg({
      role: "user",
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
      timestamp: 5,
      idempotencyKey: "r1:user",
      hearth: { state: "failed", error: "no" },
    });
    expect(m).toMatchObject({ role: "user", text: "ab", runId: "r1", state: "failed", error: "no", seq: Infinity });
    expect(toMsg({ role: "assistant", content: [], timestamp: 1, provider: "guide", model: "guide" }).builtIn).toBe(true);
    const note = { role: "assistant", timestamp: 1, provider: "hearth", model: "gateway-injected" } as const;
    expect(toMsg({ ...note, content: [{ type: "text", text: "[Reminder]\n\nTea [hot]" }] })).toMatchObject({
      label: "Reminder", text: "Tea [hot]", model: "", content: [{ type: "text", text: "Tea [hot]" }],
    });
    expect(toMsg({ ...note, content: [{ type: "text", text: "Tea" }] })).toMatchObject({ label: "", text: "Tea", model: "" });
    expect(toMsg({ ...note, model: "m", content: [{ type: "text", text: "[x]\n\ny" }] })).toMatchObject({ label: "", text: "[x]\n\ny" });
    expect(toMsg({ role: "weird", content: "plain" as never, timestamp: 1 })).toMatchObject({ role: "system", text: "plain" });
  });

  test("the stored message takes the place of the one that was just sent", () => {
    let list = upsert([], own("r1", "hi", 1));
    list = upsert(list, own("r2", "there", 2));
    list = upsert(list, user(3, "r1", "hi", "accepted"));
    expect(ids(list)).toEqual(["m3", "own:r2"]);
    expect(ids(withPage(list, [user(3, "r1", "hi"), user(4, "r2", "there")]))).toEqual(["m3", "m4"]);
  });

  test("a page is the truth for its range, and only for it", () => {
    const list = [user(1, "a", "1"), user(2, "b", "2"), user(3, "c", "gone"), user(9, "x", "newer"), own("y", "just sent", 1)];
    const page = [user(2, "b", "2"), user(4, "d", "4")];
    expect(ids(withPage(list, page))).toEqual(["m1", "m2", "m4", "m9", "own:y"]);
    expect(ids(withPage(list, []))).toEqual(["own:y"]);
  });

  test("pages and messages in any order give the same list", () => {
    const all = Array.from({ length: 30 }, (_, i) => msg(i % 2 ? "assistant" : "user", i + 1, `r${i >> 1}`, `t${i}`));
    for (let seed = 1; seed <= 50; seed++) {
      const rnd = random(seed);
      let list: Msg[] = [];
      for (let i = 0; i < 25; i++) {
        const at = Math.floor(rnd() * all.length);
        if (rnd() < 0.5) list = upsert(list, all[at]!);
        else list = withPage(list, all.slice(at, at + 10));
      }
      list = withPage(list, all);
      expect(ids(list)).toEqual(ids(all));
    }
  });

  test("states only go forward", () => {
    let list = [user(1, "r", "x", "accepted")];
    list = withRunState(list, "r", "answering");
    list = withRunState(list, "r", "failed", "why");
    expect(withRunState(list, "r", "answering")).toBe(list);
    expect(list[0]).toMatchObject({ state: "failed", error: "why" });
    expect(upsert(list, user(1, "r", "x", "accepted"))[0]).toMatchObject({ state: "failed", error: "why" });
    expect(withRunState(list, "other", "answered")).toBe(list);
  });

  test("answers stand under their questions, also when the person wrote on", () => {
    const list = [
      user(1, "a", "q1"),
      user(2, "b", "q2"),
      msg("assistant", 3, "a", "a1"),
      msg("assistant", 4, "b", "a2"),
      msg("assistant", 5, "", "note"),
    ];
    expect(turns(list).map((t) => [t.user?.text, t.replies.map((r) => r.text)])).toEqual([
      ["q1", ["a1"]],
      ["q2", ["a2"]],
      [undefined, ["note"]],
    ]);
  });
});

const delta = (offset: number, text: string): ChatEvent => ({
  runId: "r",
  sessionKey: "s",
  seq: 1,
  state: "delta",
  deltaText: text,
  end: offset + new TextEncoder().encode(text).length,
  ...(offset > 0 ? { offset } : {}),
});
const tool = (phase: string, more: object = {}): AgentEvent => ({
  runId: "r",
  stream: "tool",
  seq: 1,
  ts: 1,
  sessionKey: "s",
  data: { phase, toolCallId: "c1", name: "look", ...more },
});
const shape = (l: Live): unknown[] =>
  l.parts.map((p) => (p.kind === "text" ? p.stream.text : p.tools.map((t) => `${t.name}:${t.state}:${t.result}`)));

describe("the answer in progress", () => {
  test("bytes decide what is new, what is old and what is missing", () => {
    const l = new Live("r", 0);
    expect(l.delta(delta(0, "né"), 1)).toBe("ok");
    expect(l.end).toBe(3);
    expect(l.delta(delta(0, "n"), 1)).toBe("old");
    expect(l.delta(delta(5, "x"), 1)).toBe("gap");
    expect(l.delta(delta(3, "🙂"), 1)).toBe("ok");
    expect(l.text).toBe("né🙂");
    expect(l.end).toBe(7);
  });

  test("a gateway without byte offsets sends the whole text", () => {
    const l = new Live("r", 0);
    const all = (text: string): ChatEvent => ({
      runId: "r",
      sessionKey: "s",
      seq: 1,
      state: "delta",
      message: wire("assistant", 1, "r", text),
    });
    expect([l.delta(all("ab"), 1), l.delta(all("abc"), 1), l.delta(all("ab"), 1), l.delta(all("xyzw"), 1)]).toEqual([
      "ok",
      "ok",
      "old",
      "gap",
    ]);
    expect(l.text).toBe("abc");
  });

  test("tools stand where they ran", () => {
    const l = new Live("r", 0);
    l.delta(delta(0, "Let me look."), 1);
    l.happened(tool("start", { args: { q: 1 } }), 2);
    l.happened(tool("start", { args: { q: 1 } }), 2);
    expect(shape(l)).toEqual(["Let me look.", ["look:running:"]]);
    l.happened(tool("result", { isError: false, result: { content: [{ type: "text", text: "42" }] } }), 3);
    l.delta(delta(12, "\n\nIt is 42."), 4);
    expect(shape(l)).toEqual(["Let me look.", ["look:done:42"], "It is 42."]);
    l.happened({ ...tool(""), stream: "lifecycle", data: { phase: "model", provider: "guide" } }, 5);
    expect(l.builtIn).toBe(true);
  });

  test("words before a tool are shown once, however often the frame is drawn", () => {
    const l = new Live("r", 0);
    const draw = (): string[] => {
      for (const p of l.parts) if (p.kind === "text") p.stream.flush();
      return liveRows(l, false).flatMap((r) => (r.kind === "text" ? r.blocks.map((b) => b.token.raw.trim()) : []));
    };
    l.delta(delta(0, "First.\n\nSecond."), 1);
    expect(draw()).toEqual(["First.", "Second."]);
    l.happened(tool("start"), 2);
    expect(draw()).toEqual(["First.", "Second."]);
    l.happened(tool("result", { isError: false }), 3);
    l.delta(delta(15, "\n\nThird."), 4);
    draw();
    expect(draw()).toEqual(["First.", "Second.", "Third."]);
  });

  test("after a reconnect the stored steps come first, then the words so far", () => {
    const asked = msg("assistant", 2, "r", "Let me look.", {
      content: [
        { type: "text", text: "Let me look." },
        { type: "toolCall", id: "c1", name: "look", arguments: {} },
      ],
    });
    const got = msg("toolResult", 3, "r", "42", { toolCallId: "c1" });
    const part = Live.resume({ runId: "r", text: "It is", end: 19 }, [asked, got], 0);
    expect(shape(part)).toEqual(["Let me look.", ["look:done:42"], "It is"]);
    expect(part.delta(delta(19, " 42."), 1)).toBe("ok");
    const whole = Live.resume({ runId: "r", text: "Let me look.\n\nIt is", end: 19 }, [asked, got], 0);
    expect(shape(whole)).toEqual(["Let me look.", ["look:done:42"], "It is"]);
    expect(shape(Live.resume({ runId: "r", text: "Hi", end: 2 }, [], 0))).toEqual(["Hi"]);
  });

  test("F-WS-02: dropped, doubled and reordered deltas never make a wrong text", () => {
    for (let seed = 1; seed <= 100; seed++) {
      const rnd = random(seed);
      const text = randomDocument(rnd, 30).replace(/\r/g, "");
      const chars = [...text];
      const all: ChatEvent[] = [];
      for (let i = 0, at = 0; i < chars.length;) {
        const n = 1 + Math.floor(rnd() * 6);
        const e = delta(at, chars.slice(i, i + n).join(""));
        all.push(e);
        at = e.end!;
        i += n;
      }
      const l = new Live("r", 0);
      for (const e of all) {
        const times = rnd() < 0.1 ? 0 : rnd() < 0.2 ? 2 : 1;
        for (let i = 0; i < times; i++) l.delta(e, 0);
      }
      expect(text.startsWith(l.text)).toBe(true);
      expect(new TextEncoder().encode(l.text).length).toBe(l.end);
    }
  });
});

const kinds = (rows: Row[]): string[] =>
  rows.map((r) => (r.kind === "user" ? `user ${r.msg.text}` : r.kind === "text" ? `text ${r.text.slice(0, 9)}` : r.kind));

describe("rows", () => {
  test("live words go under their question and before what waits", () => {
    const list = [user(1, "a", "q1"), msg("assistant", 2, "a", "a1"), user(3, "b", "q2", "answering"), user(4, "c", "q3", "accepted")];
    const { before, after } = layout(turns(list), new Parsed(), "b", [entry("d", "q4")]);
    expect(kinds(before)).toEqual(["day", "user q1", "text a1", "user q2"]);
    expect(kinds(after).filter((k) => k !== "day")).toEqual(["user q3", "user q4"]);
  });

  test("an answer to an unknown question goes before what waits", () => {
    const { before, after } = layout(turns([user(1, "a", "q1"), user(2, "b", "q2", "accepted")]), new Parsed(), "x", []);
    expect(kinds(before)).toEqual(["day", "user q1"]);
    expect(kinds(after)).toEqual(["user q2"]);
  });

  test("a finished answer keeps the rows and blocks that were streamed", () => {
    const parsed = new Parsed();
    const live = new Live("r", 0);
    const text = Array.from({ length: 40 }, (_, i) => `Paragraph ${i}\n\n`).join("") + "end";
    live.delta(delta(0, text), 0);
    for (const p of live.parts) if (p.kind === "text") p.stream.flush();
    const during = liveRows(live, false);
    for (const p of live.parts) if (p.kind === "text") (p.stream.finish(), parsed.keep(p.stream.text, p.stream.blocks));
    const [turn] = turns([user(1, "r", "q"), msg("assistant", 2, "r", text)]);
    const stored = replyRows(turn!, parsed);
    expect(stored.map((r) => r.key)).toEqual(during.map((r) => r.key));
    expect(stored.flatMap((r) => (r.kind === "text" ? r.blocks : []))).toEqual(during.flatMap((r) => (r.kind === "text" ? r.blocks : [])));
    expect(stored.length).toBe(4);
  });

  test("failed, stopped and interrupted turns end with a note; an unfinished tool is not shown as running", () => {
    const call = msg("assistant", 2, "a", "", { content: [{ type: "toolCall", id: "c", name: "look", arguments: {} }] });
    for (const state of ["failed", "aborted", "interrupted"] as const) {
      const { before } = layout(turns([user(1, "a", "q", state), call]), new Parsed(), "", []);
      expect(before.at(-1)).toMatchObject({ kind: "note", state });
      expect(before.find((r) => r.kind === "tools")).toMatchObject({ tools: [{ name: "look", state: "failed" }] });
    }
    expect(layout(turns([user(1, "a", "q")]), new Parsed(), "", []).before.at(-1)?.kind).toBe("user");
  });

  test("a turn that failed says whether some of its answer came", () => {
    const last = (...replies: Msg[]): Row[] => layout(turns([user(1, "a", "q", "failed"), ...replies]), new Parsed(), "", []).before;
    for (const kind of ["user", "note"] as const) {
      const of = (rows: Row[]): unknown => (rows.find((r) => r.kind === kind) as { msg: Msg }).msg.begun;
      expect(of(last(msg("assistant", 2, "a", "Half of an")))).toBe(true);
      expect(of(last(msg("assistant", 2, "a", "")))).toBeUndefined();
      expect(of(last())).toBeUndefined();
    }
  });

  test("row keys are unique and rows hold at most twelve blocks", () => {
    const list = Array.from({ length: 40 }, (_, i) => [
      user(3 * i + 1, `r${i}`, "q"),
      msg("assistant", 3 * i + 2, `r${i}`, randomDocument(random(i), 80)),
    ]).flat();
    const { before } = layout(turns(list), new Parsed(), "", [entry("e", "x")]);
    expect(new Set(before.map((r) => r.key)).size).toBe(before.length);
    for (const r of before) if (r.kind === "text") expect(r.blocks.length).toBeLessThanOrEqual(12);
  });

  test("a message that the history shows before its acknowledgement is there once", () => {
    const { before, after } = layout(turns([user(1, "a", "q1"), user(2, "b", "q2", "answering")]), new Parsed(), "b", [
      entry("b", "q2"),
      entry("c", "q3"),
    ]);
    expect([...kinds(before), ...kinds(after)].filter((k) => k !== "day")).toEqual(["user q1", "user q2", "user q3"]);
  });

  test("ids that come twice in a strange transcript neither stop the list nor mix up results", () => {
    const call = (seq: number): Msg =>
      msg("assistant", seq, "a", "", { content: [{ type: "toolCall", id: "c0", name: "look", arguments: {} }] });
    const list = [
      user(1, "a", "q"),
      call(2),
      msg("toolResult", 3, "a", "first", { toolCallId: "c0" }),
      call(4),
      msg("toolResult", 5, "a", "second", { toolCallId: "c0" }),
      user(6, "a", "again"),
      user(7, "a", "again"),
    ];
    const { before } = layout(turns(list), new Parsed(), "", [entry("x", "1"), entry("x", "2")]);
    expect(new Set(before.map((r) => r.key)).size).toBe(before.length);
    expect(before.find((r) => r.kind === "tools")).toMatchObject({ tools: [{ result: "first" }, { result: "second" }] });
    const live = new Live("r", 0);
    for (const phase of ["start", "result", "start"]) live.happened(tool(phase), 1);
    expect(shape(live)).toEqual([["look:done:", "look:running:"]]);
  });

  test("an answer that has not said anything yet says that it is being worked on", () => {
    const live = new Live("r", 0);
    expect(kinds(liveRows(live, false))).toEqual(["typing"]);
    live.happened(tool("start"), 1);
    expect(kinds(liveRows(live, false))).toEqual(["tools", "typing"]);
  });
});
