import { describe, expect, test } from "vitest";
import type { AgentEvent, Message } from "../../net/wire";
import { Live, type Tool } from "../../session/live";
import { replyRows, Parsed } from "../../session/rows";
import { toMsg, turns, type Msg } from "../../session/transcript";
import { purpose } from "../../text/purpose";
import { changes, diffLines, facts, nestedOf, parentOf, pictures, plan, said } from "./toolcard";
import { isCell, titleOf } from "./tooltitle";

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  id: "c",
  name,
  args: "",
  input: {},
  result: "",
  details: null,
  took: 0,
  state: "done",
  ...more,
});
const msg = (role: string, seq: number, text: string, more: Partial<Message> = {}): Msg =>
  toMsg({ role, content: [{ type: "text", text }], timestamp: seq * 1000, __openclaw: { id: `m${seq}`, seq, runId: "r" }, ...more });

describe("what a tool does, on one line", () => {
  test("words for known tools, the name for others", () => {
    expect(titleOf(tool("exec", { input: { command: "git status\n&& ls" } }))).toMatchObject({ verb: "Run", object: "git status && ls" });
    expect(titleOf(tool("edit", { input: { path: "notes.md" } }))).toMatchObject({ verb: "Edit", object: "notes.md" });
    expect(titleOf(tool("web_fetch", { input: { url: "https://bread.example/how?x=1" } })).object).toBe("bread.example/how");
    expect(titleOf(tool("web_fetch", { input: { url: "not an address" } })).object).toBe("not an address");
    expect(titleOf(tool("somebody_elses", { input: { path: 3 } }))).toMatchObject({ verb: "", object: "somebody_elses" });
  });

  test("arguments of any shape do no harm", () => {
    for (const input of [null, undefined, 3, "text", [], { command: { a: 1 } }, { path: null }]) {
      for (const name of ["exec", "read", "process", "gateway", "image", "update_plan"])
        expect(typeof titleOf(tool(name, { input })).object).toBe("string");
    }
  });
});

test("a reload shows how long a tool ran, not how long its yes took", () => {
  const asks = msg("assistant", 2, "", { content: [{ type: "toolCall", id: "c", name: "write", arguments: { path: "a" } }] });
  const user = msg("user", 1, "write it");
  const result = msg("toolResult", 90, "done", { toolCallId: "c", toolName: "write", hearthDurationMs: 40 });
  expect(result.took).toBe(40);
  const row = turns([user, asks, result])
    .flatMap((x) => replyRows(x, new Parsed()))
    .find((r) => r.kind === "tools");
  expect(row?.kind === "tools" && row.tools[0]!.took).toBe(40);
});

test("what a tool is for is whole, whatever stands behind a colon", () => {
  expect(purpose("Search what is remembered: the notes, and chats. More for models.")).toBe(
    "Search what is remembered: the notes, and chats.",
  );
  expect(purpose("Remind at a time: e.g. 8.30. Next")).toBe("Remind at a time: e.g. 8.30.");
  expect(purpose("Ask devices. `status` lists them.")).toBe("Ask devices.");
  expect(purpose("Run a command\nand more.")).toBe("Run a command");
  expect(purpose("Look after devices:\n- one\n- two")).toBe("Look after devices.");
});

describe("devices", () => {
  test("what is asked of one", () => {
    expect(titleOf(tool("nodes", { input: { action: "camera_snap", node: "Attic" } })).object).toBe("camera snap, Attic");
    expect(titleOf(tool("canvas", { input: { action: "navigate", url: "https://x.example/a?q" } })).object).toBe("navigate, x.example/a");
    expect(titleOf(tool("canvas", { input: { action: "hide" } })).object).toBe("hide");
  });

  test("pictures are those that the gateway keeps, and nothing else", () => {
    const media = [
      { type: "image", mediaId: "m1" },
      { type: "image", url: "http://169.254.169.254/" },
      { type: "video", mediaId: "m2" },
      null,
      3,
    ];
    expect(pictures(tool("nodes", { details: { media } })).map((p) => p.mediaId)).toEqual(["m1"]);
    for (const details of [null, undefined, 3, {}, { media: "x" }]) expect(pictures(tool("nodes", { details }))).toEqual([]);
  });
});

describe("programs of code mode", () => {
  const cell = tool("exec", { id: "p", input: { code: "// Look at the notes\nreturn 1" } });
  const all = [
    cell,
    tool("read", { id: "p/1" }),
    tool("exec", { id: "p/2", input: { command: "ls" } }),
    tool("read", { id: "q/1" }),
    tool("read", { id: "x" }),
  ];
  test("a program is told from a command, and named by its first words", () => {
    expect(titleOf(cell)).toMatchObject({ verb: "Run a program:", object: "Look at the notes" });
    expect(titleOf(tool("exec", { input: { code: "\n  return 7" } })).object).toBe("return 7");
    expect(all.map(isCell)).toEqual([true, false, false, false, false]);
    expect(isCell(tool("wait", { input: { runId: "r" } }))).toBe(true);
  });

  test("calls stand in the card of the program that made them", () => {
    expect(nestedOf(cell, all).map((x) => x.id)).toEqual(["p/1", "p/2"]);
    expect(all.map((x) => parentOf(x, all)?.id)).toEqual([undefined, "p", "p", undefined, undefined]);
  });

  test("what it said, whatever the details are", () => {
    expect(
      said(
        tool("exec", {
          details: {
            status: "completed",
            value: { a: 1 },
            output: [{ type: "text", text: "hi" }, { type: "json", value: [1] }, { type: "text" }],
          },
        }),
      ),
    ).toEqual({
      cut: false,
      status: "completed",
      value: '{\n  "a": 1\n}',
      error: "",
      output: [
        { type: "text", text: "hi" },
        { type: "json", text: "[\n  1\n]" },
        { type: "text", text: "" },
      ],
    });
    expect(said(tool("exec", { details: { status: "failed", error: "no", line: 3 } })).error).toBe("no (line 3)");
    for (const details of [null, undefined, {}, { output: 3 }, { output: [{}] }, { value: null }])
      expect(said(tool("exec", { details })).value).toBe("");
  });
});

describe("changes of files", () => {
  const diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n";
  test("one file, and several", () => {
    expect(changes(tool("edit", { details: { path: "x", diff, added: 1, removed: 1 } }))).toEqual([
      { path: "x", diff, added: 1, removed: 1 },
    ]);
    expect(
      changes(
        tool("apply_patch", { details: { files: [{ path: "x", diff, added: 1, removed: 1 }, { path: "empty", diff: "" }, null, 3] } }),
      ),
    ).toHaveLength(1);
    for (const details of [null, undefined, 3, {}, { diff: 3 }, { files: "x" }]) expect(changes(tool("edit", { details }))).toEqual([]);
  });

  test("lines are told apart, file names are left out", () => {
    expect(diffLines(diff).map((l) => l.kind)).toEqual(["hunk", "same", "del", "add"]);
    expect(diffLines("+".repeat(3) + "\n".repeat(5000)).length).toBeLessThanOrEqual(2001);
  });
});

describe("other facts", () => {
  test("of a command", () => {
    expect(facts(tool("exec", { details: { cwd: "/w", exitCode: 2, sandbox: "confined", truncated: true } }))).toEqual([
      "in /w",
      "exit code 2",
      "confined",
      "output was shortened",
    ]);
    expect(facts(tool("exec", { details: { cwd: "/w", exitCode: 0 } }))).toEqual(["in /w"]);
    expect(facts(tool("read", { details: { cwd: "/w" } }))).toEqual([]);
  });

  test("the steps of a plan", () => {
    expect(plan(tool("update_plan", { input: { plan: [{ step: "one", status: "completed" }, { nothing: 1 }] } }))).toEqual([
      { step: "one", status: "completed" },
    ]);
    expect(plan(tool("update_plan", { input: { plan: "x" } }))).toEqual([]);
  });
});

describe("tools in a transcript", () => {
  const asked = msg("assistant", 2, "", {
    content: [
      { type: "thinking", thinking: "hm" },
      { type: "toolCall", id: "a", name: "edit", arguments: { path: "x" } },
      { type: "toolCall", id: "b", name: "exec", arguments: {} },
    ],
  });
  const list = [
    msg("user", 1, "do it", { hearth: { state: "answered" } }),
    asked,
    msg("toolResult", 3, "ok", { toolCallId: "a", details: { path: "x", diff: "+1", added: 1, removed: 0 } }),
    msg("toolResult", 5, "no", { toolCallId: "b", isError: true }),
    msg("assistant", 6, "done"),
  ];
  const rows = replyRows(turns(list)[0]!, new Parsed());

  test("thoughts come before tools, the answer knows that files were changed", () => {
    expect(rows.map((r) => r.kind)).toEqual(["thought", "tools", "text"]);
    expect(rows[0]).toMatchObject({ text: "hm", head: true });
    expect(rows[2]).toMatchObject({ changed: true });
  });

  test("how long each took is counted from the one before", () => {
    expect(rows[1]).toMatchObject({
      tools: [
        { took: 1000, state: "done", details: { path: "x" } },
        { took: 2000, state: "failed" },
      ],
    });
  });
});

test("a tool's result grows while it runs", () => {
  const live = new Live("r", 0);
  const at = (data: Record<string, unknown>): AgentEvent => ({
    runId: "r",
    stream: "tool",
    seq: 1,
    ts: 1,
    sessionKey: "s",
    data: { toolCallId: "c1", name: "exec", ...data },
  });
  live.happened(at({ phase: "start", args: { command: "make" } }), 1);
  live.happened(at({ phase: "update", partialResult: { content: [{ type: "text", text: "line 1" }] } }), 2);
  expect(live.parts[0]).toMatchObject({ tools: [{ result: "line 1", state: "running" }] });
  live.happened(
    at({ phase: "result", result: { content: [{ type: "text", text: "line 2" }], details: { exitCode: 0 } }, durationMs: 1234 }),
    3,
  );
  expect(live.parts[0]).toMatchObject({ tools: [{ result: "line 2", state: "done", took: 1234, details: { exitCode: 0 } }] });
  live.happened(at({ phase: "update", partialResult: { content: [{ type: "text", text: "late" }] } }), 4);
  expect(live.parts[0]).toMatchObject({ tools: [{ result: "line 2" }] });
});
