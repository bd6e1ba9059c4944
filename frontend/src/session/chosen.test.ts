import { expect, test } from "vitest";
import { MemoryDatabase } from "../storage/database";
import { Chosen } from "./chosen.svelte";
import type { Attached, Upload } from "./outbox";

const settled = (): Promise<void> => new Promise((done) => setTimeout(done, 5));
const lost = (): string => "The connection to Hearth was lost.";
const upload = (more: Partial<Upload>): Upload => ({
  type: "file", mimeType: "text/plain", fileName: "notes.txt", size: 6, upload: "u1", progress: 1, ...more,
});
const read = upload({ file: { name: "notes.txt", kind: "text" } as NonNullable<Upload["file"]> });
const picture: Attached = { type: "image", mimeType: "image/png", fileName: "a.png", content: "AAAA" };

/** reloaded is what a page finds that is opened after another one. */
async function reloaded(keep: MemoryDatabase, key: string): Promise<Attached[]> {
  await settled();
  const c = new Chosen(keep, lost);
  await c.load();
  return c.of(key);
}

test("files that are there and pictures outlast a reload, each with its chat", async () => {
  const keep = new MemoryDatabase();
  const c = new Chosen(keep, lost);
  c.set("a", [read, picture]);
  c.set("b", [picture]);
  expect(await reloaded(keep, "a")).toEqual([read, picture]);
  expect(await reloaded(keep, "b")).toEqual([picture]);
  c.set("a", []);
  expect(await reloaded(keep, "a")).toEqual([]);
});

test("a file that was on its way is shown as one that did not get there: no message goes without it in silence", async () => {
  const keep = new MemoryDatabase();
  new Chosen(keep, lost).set("a", [upload({ progress: 0.4 })]);
  expect(await reloaded(keep, "a")).toEqual([upload({ progress: 0.4, failed: lost() })]);
});

test("what is chosen now is not replaced by what was kept", async () => {
  const keep = new MemoryDatabase();
  new Chosen(keep, lost).set("a", [read]);
  await settled();
  const c = new Chosen(keep, lost);
  const loading = c.load();
  c.set("a", [picture]);
  await loading;
  expect(c.of("a")).toEqual([picture]);
});

test("what another window keeps stays, and forgetting takes all of it", async () => {
  const keep = new MemoryDatabase();
  const [one, two] = [new Chosen(keep, lost), new Chosen(keep, lost)];
  one.set("a", [read]);
  await settled();
  two.set("b", [picture]);
  expect(await reloaded(keep, "a")).toEqual([read]);
  two.forget();
  expect([await reloaded(keep, "a"), await reloaded(keep, "b")]).toEqual([[], []]);
});
