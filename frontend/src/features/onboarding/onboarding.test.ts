import { expect, test } from "vitest";
import { Client } from "../../net/client.svelte";
import type { Setup } from "../../net/wire";
import { Onboarding } from "./onboarding.svelte";

const setup = (state: string): Setup => ({ steps: [{ id: "model", state }] }) as unknown as Setup;

test("who answers is told once when it was chosen, also when nobody watched", () => {
  let chosen = 0;
  const client = new Client({ call: () => Promise.resolve(setup("open")), hurry: () => undefined } as never, "me", () => undefined);
  const store = new Onboarding({ client, contacts: undefined as never, chosen: () => chosen++ });
  expect(store.fresh).toBe(false); // not known yet
  client.heard("hearth.setup", setup("open"));
  expect([store.fresh, chosen]).toEqual([true, 0]);
  client.heard("hearth.setup", setup("done"));
  client.heard("hearth.setup", setup("done"));
  expect([store.fresh, chosen]).toEqual([false, 1]);
  client.heard("hearth.setup", setup("again"));
  client.heard("hearth.setup", setup("done"));
  expect(chosen).toBe(2);
});
