import { expect, test } from "vitest";
import { harmless } from "./harmless";

const url = (type: string, bytes: string): string => `data:image/${type};base64,${btoa(bytes)}`;
const four = (n: number): string => String.fromCharCode(n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255);
const png = (w: number, h: number): string => url("png", "\x89PNG\r\n\x1a\n" + four(13) + "IHDR" + four(w) + four(h));
const jpeg = (w: number, h: number): string =>
  url("jpeg", "\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08" + four(h).slice(2) + four(w).slice(2) + "\x03" + "\0".repeat(12));
const gif = (w: number, h: number): string => url("gif", "GIF89a" + String.fromCharCode(w & 255, w >> 8, h & 255, h >> 8) + "\0\0\0");

test("pictures of a usual size are shown", () => {
  for (const p of [png(800, 600), jpeg(800, 600), gif(80, 60)]) expect(harmless(p), p).toBe(true);
  expect(harmless(url("svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'><use href='#a'/></svg>"))).toBe(true);
});

test("Sec A-UI-21: what would unpack to a wall of pixels, repeats itself, or is no picture is not", () => {
  const large = [png(60_000, 60_000), jpeg(60_000, 60_000), gif(65_000, 65_000)];
  for (const p of [...large, png(0, 5), url("png", "GIF89a"), url("jpeg", "\xff\xd8\xff")])
    expect(harmless(p), p).toBe(false);
  expect(harmless(url("svg+xml", "<svg>" + "<use href='#a'/>".repeat(40) + "</svg>"))).toBe(false);
  expect(harmless(url("svg+xml", "<!DOCTYPE x [<!ENTITY a 'b'>]><svg/>"))).toBe(false);
  const others = ["data:text/html;base64,PGI+", "data:image/png,abc", "data:image/png;base64,$$", "data:image/x-icon;base64,AAAA"];
  for (const p of [...others, "https://a.example/a.png", "blob:x"])
    expect(harmless(p), p).toBe(false);
});
