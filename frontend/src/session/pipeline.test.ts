import { describe, expect, test } from "vitest";
import type { Message, SessionRow } from "../net/wire";
import { Live } from "./live";
import { layout, liveRows, Parsed, type Row } from "./rows";
import { isFrom, titleOf } from "./sessions.svelte";
import { own, toMsg, turns, under, waits, withRunState, type Msg } from "./transcript";

const msg = (role: string, seq: number, runId: string, text: string, more: Partial<Message> = {}): Msg =>
  toMsg({ role, content: [{ type: "text", text }], timestamp: seq * 1000, __openclaw: { id: `m${seq}`, seq, runId }, ...more });
const user = (seq: number, runId: string, text: string, state = "answered"): Msg =>
  msg("user", seq, runId, text, { hearth: { state: state as "answered" } });

describe("messages that wait", () => {
  test("everything behind the one that is answered, but no commands", () => {
    const list = [
      user(1, "a", "1", "answering"),
      user(2, "b", "2", "accepted"),
      user(3, "c", "/status", "accepted"),
      user(4, "d", "4", "accepted"),
      own("e", "5", 5),
    ];
    expect(waits(list, "a").map((m) => m.runId)).toEqual(["b", "d", "e"]);
    expect(waits(list, "").map((m) => m.runId)).toEqual(["b", "d", "e"]);
  });

  test("when nothing is answered, the first is on its way and does not wait", () => {
    const list = [user(1, "a", "1"), user(2, "b", "2", "accepted"), user(3, "c", "3", "accepted")];
    expect(waits(list, "").map((m) => m.runId)).toEqual(["c"]);
    expect(waits(list.slice(0, 2), "")).toEqual([]);
  });

  test("one that gave way has ended", () => {
    const list = withRunState([user(1, "a", "1", "accepted")], "a", "dropped", "too many");
    expect(list[0]).toMatchObject({ state: "dropped", error: "too many" });
    expect(withRunState(list, "a", "answering")).toBe(list);
    const { before } = layout(turns(list), new Parsed(), "", []);
    expect(before.at(-1)).toMatchObject({ kind: "note", state: "dropped", text: "too many" });
  });

  test("one that was taken back before its turn says that no answer began", () => {
    const last = (list: Msg[]): Row | undefined => layout(turns(list), new Parsed(), "", []).before.at(-1);
    expect(last([user(1, "a", "1", "aborted")])).toMatchObject({ kind: "note", state: "cancelled" });
    // What one key press stopped before it began is one line.
    const three = layout(turns([1, 2, 3].map((n) => user(n, `r${n}`, `${n}`, "aborted"))), new Parsed(), "", []).before.filter(
      (r) => r.kind === "note",
    );
    expect(three).toMatchObject([{ state: "cancelled", all: [{ text: "1" }, { text: "2" }, { text: "3" }] }]);
    expect(last([user(1, "a", "1", "aborted"), msg("assistant", 2, "a", "part")])).toMatchObject({ kind: "note", state: "aborted" });
  });
});

const shape = (rows: Row[]): string[] =>
  rows
    .filter((r) => r.kind !== "day")
    .map((r) =>
      r.kind === "user" ? `user ${r.msg.text}` : r.kind === "text" ? `text ${r.text}` : r.kind === "command" ? `command ${r.text}` : r.kind,
    );

describe("messages that are answered together", () => {
  const call: Partial<Message> = {
    content: [
      { type: "text", text: "Let me look." },
      { type: "toolCall", id: "c", name: "look", arguments: {} },
    ],
  };
  const steered = (state: string): Msg[] => [
    user(1, "a", "q1", state),
    msg("assistant", 2, "a", "", call),
    msg("toolResult", 3, "a", "42", { toolCallId: "c" }),
    user(10, "b", "q2", state),
  ];

  test("what was said before the second stands before it, the rest behind it", () => {
    const list = [...steered("answered"), msg("assistant", 11, "a", "Both.")];
    const { before } = layout(turns(list), new Parsed(), "", []);
    expect(shape(before)).toEqual(["user q1", "text Let me look.", "tools", "user q2", "text Both."]);
    expect(new Set(before.map((r) => r.key)).size).toBe(before.length);
  });

  test("the words in progress go on behind the one that was taken in, with the rows of the finished answer", () => {
    const list = steered("answering");
    expect(under(list, "a")).toBe("b");
    const live = Live.resume({ runId: "a", text: "Both.", end: 19 }, [], 0, "b");
    for (const p of live.parts) if (p.kind === "text") p.stream.flush();
    const parsed = new Parsed();
    const { before, after } = layout(turns(list), parsed, "a", [], "b");
    const during = [...before, ...liveRows(live, false), ...after];
    expect(shape(during)).toEqual(["user q1", "text Let me look.", "tools", "user q2", "text Both."]);
    const done = layout(turns([...steered("answered"), msg("assistant", 11, "a", "Both.")]), parsed, "", []).before;
    expect(done.map((r) => r.key)).toEqual(during.map((r) => r.key));
  });

  test("keys stay unique while it is not known yet where the words in progress stand", () => {
    for (const under of ["a", "b"]) {
      const live = Live.resume({ runId: "a", text: "Both.", end: 19 }, [], 0, under);
      for (const p of live.parts) if (p.kind === "text") p.stream.flush();
      for (const list of [
        steered("answering"),
        [...steered("answering"), msg("assistant", 11, "a", "Both.")],
        [msg("assistant", 11, "a", "Both.")],
      ]) {
        const { before, after } = layout(turns(list), new Parsed(), "a", [], under);
        const keys = [...before, ...liveRows(live, false), ...after].map((r) => r.key);
        expect(new Set(keys).size).toBe(keys.length);
      }
    }
  });

  test("one that waits is not taken in, and a later answer stays under its own question", () => {
    const list = [user(1, "a", "q1", "answering"), user(10, "b", "q2", "accepted")];
    expect(under(list, "a")).toBe("a");
    const two = [user(1, "a", "q1"), user(2, "b", "q2"), msg("assistant", 3, "a", "a1"), msg("assistant", 4, "b", "a2")];
    expect(turns(two).map((t) => t.replies.map((r) => r.text))).toEqual([["a1"], ["a2"]]);
  });

  test("collected messages: the answer stands under the last", () => {
    const list = [user(1, "a", "1"), user(2, "b", "2"), user(3, "c", "3"), msg("assistant", 4, "a", "all")];
    expect(shape(layout(turns(list), new Parsed(), "", []).before)).toEqual(["user 1", "user 2", "user 3", "text all"]);
  });
});

describe("commands in the conversation", () => {
  test("a command and its reply are quiet, also before the history says so of the command", () => {
    const list = [
      own("c", "/status", 1),
      msg("assistant", 2, "c", "**fine**", { provider: "hearth", model: "command", excludeFromContext: true }),
    ];
    const { before } = layout(turns(list), new Parsed(), "", []);
    expect(shape(before)).toEqual(["user /status", "command **fine**"]);
    expect(before.find((r) => r.kind === "user")).toMatchObject({ msg: { quiet: true } });
  });
});

test("a chat of a messaging network is called after the person, one of this page after its words", () => {
  const row = { key: "k", derivedTitle: "first words", origin: { provider: "telegram", label: "Anna" } } as SessionRow;
  expect([isFrom(row), titleOf(row, false)]).toEqual([true, "Anna"]);
  expect(titleOf({ ...row, label: "Mine" }, false)).toBe("Mine");
  const web = { ...row, origin: { provider: "webchat", label: "web" } };
  expect([isFrom(web), titleOf(web, false)]).toEqual([false, "first words"]);
});
