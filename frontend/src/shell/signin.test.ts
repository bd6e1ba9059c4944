import { expect, test } from "vitest";
import type { HelloOK } from "../net/wire";
import { MemoryDatabase } from "../storage/database";
import { SignIn } from "./signin";

const hello = (deviceToken: string): HelloOK => ({ auth: { deviceToken } }) as unknown as HelloOK;

test("a link is used once, then this browser has a token of its own", async () => {
  const keep = new MemoryDatabase();
  const s = new SignIn(keep, "code-1");
  expect(await s.credentials()).toEqual({ bootstrapToken: "code-1" });
  await s.greeted(hello("mine"));
  expect(await s.credentials()).toEqual({ deviceToken: "mine" });
  expect(await new SignIn(keep, "").credentials()).toEqual({ deviceToken: "mine" });
});

test("a used-up link is no harm for a browser that is known, and final for one that is not", async () => {
  const keep = new MemoryDatabase();
  expect(await new SignIn(keep, "used-up").refused()).toBe(false);
  await new SignIn(keep, "code").greeted(hello("mine"));
  const s = new SignIn(keep, "used-up");
  expect(await s.refused()).toBe(true);
  expect(await s.credentials()).toEqual({ deviceToken: "mine" });
  expect(await s.refused()).toBe(false); // the token was refused too
});

test("what was pasted: a link, a code, or neither", async () => {
  const s = new SignIn(new MemoryDatabase(), "");
  expect(s.take("not a code")).toBe(false);
  expect(await s.credentials()).toBe(null);
  expect(s.take("http://127.0.0.1:18789/#launch=abc-DEF_123")).toBe(true);
  expect(await s.credentials()).toEqual({ bootstrapToken: "abc-DEF_123" });
});
