import { expect, test } from "vitest";
import { MaxAttachments } from "../../protocol";
import type { Attached } from "../../session/outbox";
import { again, attach, type Attaching, type Refusal } from "./attached";
import { refused } from "./filewords";

function attaching(): Attaching & { said: Refusal[]; list: Attached[] } {
  const o = {
    said: [] as Refusal[],
    list: [] as Attached[],
    client: { call: () => Promise.resolve({ upload: "u", received: 6 }) } as unknown as Attaching["client"],
    have: () => o.list,
    set: (l: Attached[]) => void (o.list = l),
    refused: (r: Refusal) => void o.said.push(r),
  };
  return o;
}

test("files beyond the most are named, the first of them", async () => {
  const o = attaching();
  const names = Array.from({ length: MaxAttachments + 5 }, (_, i) => `${i}.txt`);
  await attach(names.map((n) => new File(["walnut"], n, { type: "text/plain" })), o);
  expect(o.list).toHaveLength(MaxAttachments);
  const left = names.slice(MaxAttachments);
  expect(o.said).toEqual([{ why: "many", n: MaxAttachments, names: left }]);
  const plain = refused(o.said[0]!).replace(/[\u2068\u2069]/g, "");
  expect(plain).toBe(`A message can have at most ${MaxAttachments} files. ${left.slice(0, 3).join(", ")}, …`);
});

test("a file that a reload took cannot be tried again: it is chosen anew", () => {
  const o = attaching();
  const lost: Attached = {
    type: "file", mimeType: "", fileName: "a", size: 1, upload: "u", progress: 0.4, failed: "The connection to Hearth was lost.",
  };
  o.list = [lost];
  expect(again(lost, o)).toBe(false);
  expect(o.list).toEqual([lost]);
});
