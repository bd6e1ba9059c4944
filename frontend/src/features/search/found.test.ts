import { describe, expect, test } from "vitest";
import type { SearchHit } from "../../net/wire";
import { pieces } from "../../text/pieces";
import { random } from "../../text/random";
import { groups } from "./found";

describe("search results", () => {
  const hit = (key: string, seq: number): SearchHit => ({
    sessionKey: key,
    sessionId: "s",
    title: `T ${key}`,
    messageId: `${key}${seq}`,
    seq,
    role: "user",
    timestamp: seq,
    score: 1,
    snippet: "",
    ranges: [],
  });

  test("grouped by chat in the order of their newest hits", () => {
    const g = groups([hit("b", 9), hit("a", 8), hit("b", 7)]);
    expect(g.map((x) => [x.key, x.title, x.hits.map((y) => `${y.at}:${y.hit.seq}`)])).toEqual([
      ["b", "T b", ["0:9", "1:7"]],
      ["a", "T a", ["2:8"]],
    ]);
  });

  test("found words are marked by UTF-16 units", () => {
    expect(pieces("🙂 über alles", [[3, 7]])).toEqual([
      { text: "🙂 ", hit: false },
      { text: "über", hit: true },
      { text: " alles", hit: false },
    ]);
    expect(pieces("ab", [])).toEqual([{ text: "ab", hit: false }]);
  });

  test("any ranges give back the whole snippet", () => {
    for (let seed = 1; seed <= 300; seed++) {
      const rnd = random(seed);
      const n = (): number => Math.floor(rnd() * 14) - 2;
      const ranges = Array.from({ length: Math.floor(rnd() * 5) }, () => [n(), n()]);
      expect(
        pieces("0123456789", ranges)
          .map((p) => p.text)
          .join(""),
      ).toBe("0123456789");
    }
  });
});
