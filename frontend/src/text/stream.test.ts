import { describe, expect, test } from "vitest";
import { cuts, document, random } from "./random";
import { blocksOf, Stream } from "./stream";

const tokens = (s: Stream) => s.blocks.map((b) => b.token);

function streamed(pieces: string[], flush: () => boolean): Stream {
  const s = new Stream();
  for (const p of pieces) {
    s.append(p);
    if (flush()) s.flush();
  }
  s.finish();
  return s;
}

describe("Markdown stream", () => {
  test("any way of cutting gives the same blocks as the whole text", () => {
    for (let seed = 1; seed <= 400; seed++) {
      const rnd = random(seed);
      const text = document(rnd, 5 + Math.floor(rnd() * 60));
      const want = blocksOf(text).map((b) => b.token);
      const got = tokens(streamed(cuts(rnd, text), () => rnd() < 0.7));
      expect(got, `seed ${seed}: ${JSON.stringify(text)}`).toEqual(want);
    }
  });

  test("settled blocks keep their identity and key", () => {
    for (let seed = 1; seed <= 60; seed++) {
      const rnd = random(seed * 7919);
      const s = new Stream();
      let before: unknown[] = [];
      for (const p of cuts(rnd, document(rnd, 60))) {
        s.append(p);
        s.flush();
        for (let i = 0; i < before.length; i++) expect(s.blocks[i]).toBe(before[i]);
        before = s.blocks.slice(0, s.settled);
        s.blocks.forEach((b, i) => expect(b.key).toBe(i));
      }
    }
  });

  test("a text that is finished stays as it is, however often it is brought up to date", () => {
    for (let seed = 1; seed <= 100; seed++) {
      const rnd = random(seed * 13);
      const s = streamed(cuts(rnd, document(rnd, 20)), () => rnd() < 0.5);
      const before = [...s.blocks];
      s.flush();
      s.finish();
      s.flush();
      expect(s.blocks.length).toBe(before.length);
      s.blocks.forEach((b, i) => expect(b).toBe(before[i]));
    }
  });

  test("no character of the text is lost", () => {
    for (let seed = 1; seed <= 100; seed++) {
      const rnd = random(seed * 31);
      const text = document(rnd, 40).replace(/\[ref\]: .*/g, "").replace(/\r\n?/g, "\n");
      const s = new Stream();
      s.append(text);
      s.finish();
      const words = (x: string) => x.match(/[a-z]+/g) ?? [];
      expect(words(s.blocks.map((b) => b.token.raw).join("\n"))).toEqual(words(text));
    }
  });

  test("a link definition that comes late resolves its links", () => {
    const s = streamed(["see [docs]", "\n\nmore\n\n", "[docs]: https://exa", "mple.com/d"], () => true);
    const p = s.blocks[0]!.token as { tokens: { type: string; href?: string }[] };
    expect(p.tokens.find((t) => t.type === "link")?.href).toBe("https://example.com/d");
  });

  test("a block above the limit is shown as plain text, however it is cut", () => {
    const text = "before\n\n" + "long line ".repeat(60_000) + "\n\nafter";
    const want = blocksOf(text).map((b) => b.token.type);
    expect(want[0]).toBe("paragraph");
    expect(want).toContain("plain");
    const rnd = random(5);
    const big = Array.from({ length: 40 }, (_, i) => text.slice((i * text.length) / 40, ((i + 1) * text.length) / 40));
    expect(tokens(streamed(big, () => rnd() < 0.5)).map((t) => t.type)).toEqual(want);
  });
});
