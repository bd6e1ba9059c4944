// Which pictures inside of a text are shown. Browsers draw them without scripts and
// without the network; what is left to guard against is size.

/** The most that a picture may have: characters, and pixels once it is unpacked. */
const most = { chars: 256 * 1024, svg: 64 * 1024, pixels: 24_000_000 };

const form = /^data:image\/(png|jpeg|gif|webp|svg\+xml);base64,([A-Za-z0-9+/]+={0,2})$/;

/** harmless says whether an address is a picture of a kind and size that may be shown. */
export function harmless(href: string): boolean {
  if (href.length > most.chars) return false;
  const m = form.exec(href);
  if (!m) return false;
  let bytes: string;
  try {
    bytes = atob(m[2]!);
  } catch {
    return false;
  }
  if (m[1] === "svg+xml") return bytes.length <= most.svg && tameSvg(bytes);
  const [w, h] = sizes[m[1] as keyof typeof sizes](bytes);
  return w > 0 && h > 0 && w * h <= most.pixels;
}

/** tameSvg: few things in it are drawn again, which could be repeated without end. */
export const tameSvg = (svg: string): boolean =>
  (svg.match(/<(?:\w+:)?use\b/gi)?.length ?? 0) <= 16 && !/<!ENTITY|data:image\/svg/i.test(svg);

type Size = readonly [width: number, height: number];

const at = (b: string, ...places: number[]): number => places.reduce((n, i) => n * 256 + (i < b.length ? b.charCodeAt(i) : NaN), 0);

const sizes = {
  png: (b: string): Size => (b.startsWith("\x89PNG\r\n\x1a\n") ? [at(b, 16, 17, 18, 19), at(b, 20, 21, 22, 23)] : [0, 0]),
  gif: (b: string): Size => (b.startsWith("GIF8") ? [at(b, 7, 6), at(b, 9, 8)] : [0, 0]),
  webp: (b: string): Size => {
    const kind = b.slice(0, 4) === "RIFF" && b.slice(8, 12) === "WEBP" ? b.slice(12, 16) : "";
    if (kind === "VP8X") return [at(b, 26, 25, 24) + 1, at(b, 29, 28, 27) + 1];
    if (kind === "VP8 ") return [at(b, 27, 26) & 0x3fff, at(b, 29, 28) & 0x3fff];
    if (kind === "VP8L") return [(at(b, 22, 21) & 0x3fff) + 1, ((at(b, 24, 23, 22) >> 6) & 0x3fff) + 1];
    return [0, 0];
  },
  jpeg: (b: string): Size => {
    if (!b.startsWith("\xff\xd8")) return [0, 0];
    // Segments with their lengths, up to the one that begins a frame.
    for (let i = 2; i + 9 < b.length && b[i] === "\xff"; i += 2 + at(b, i + 2, i + 3)) {
      const kind = at(b, i + 1);
      if (kind >= 0xc0 && kind <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(kind)) return [at(b, i + 7, i + 8), at(b, i + 5, i + 6)];
      if (at(b, i + 2, i + 3) < 2) break;
    }
    return [0, 0];
  },
};
