import { expect, test } from "vitest";
import { load, speak } from "../../i18n/words.svelte";
import type { Approval } from "../../net/wire";
import { factsOf, label, sentence, warning } from "./said";

const request = (r: object): Approval["request"] => ({ command: "ls", hearthTitle: "Run ls", ...r }) as unknown as Approval["request"];
const plain = (s: string): string => s.replace(/[\u2068\u2069]/g, "");

test("a sentence is said in the language of the person, with what it is about kept apart", async () => {
  const r = request({ hearthSays: { code: "list", params: { who: "Ember", paths: "~/{who}" }, text: "Ember wants to list ~/{who}" } });
  expect(plain(sentence(r))).toBe("Ember wants to list ~/{who}");
  await speak("de");
  await load("asks");
  expect(plain(sentence(r))).toBe("Ember möchte den Inhalt von ~/{who} auflisten");
  expect(label({ code: "writes", label: "Writes to", text: "/x" })).toBe("Schreibt in");
  expect(warning("What it changes cannot be undone.")).toMatch(/rückgängig/);
  expect(warning("Something new.")).toBe("Something new.");
  await speak("en");
});

test("what has no words here is said as the gateway says it", () => {
  expect(sentence(request({ hearthSays: { code: "of-tomorrow", text: "Hearth wants to fly" } }))).toBe("Hearth wants to fly");
  expect(sentence(request({}))).toBe("Run ls");
  expect(label({ code: "of-tomorrow", label: "Wings", text: "2" })).toBe("Wings");
});

test("a gateway without facts has lines, and the first of them is the command", () => {
  const f = factsOf(request({}), ["Text for /bin/sh:", "  rm x", "Folder: /w"]);
  expect(f.map((x) => [x.text, !!x.block])).toEqual([["Text for /bin/sh:\n  rm x", true], ["Folder: /w", false]]);
  expect(factsOf(request({ cwd: "/w" }), [])).toHaveLength(2);
});
