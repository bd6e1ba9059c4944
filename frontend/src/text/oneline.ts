// Names from outside, fit to stand between other words.

/** oneLine keeps names from moving other words: no breaks, no direction marks; what is too long ends in an ellipsis. */
export function oneLine(s: string, most = 120): string {
  const line = s.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\u200e\u200f]+/g, " ").replace(/\s+/g, " ").trim();
  return line.length > most ? line.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "").trimEnd() + "…" : line;
}

/** sentence is oneLine for what somebody says, such as why something failed: it is read to its end. */
export const sentence = (s: string): string => oneLine(s, 500);

const [rightToLeft, firstStrong, pop] = [0x2067, 0x2068, 0x2069].map((c) => String.fromCharCode(c)) as [string, string, string];

/** isolated keeps a name of the other writing direction from moving the words around it. Spaces at its ends
 *  stay outside, where they part it from those. */
export function isolated(s: string): string {
  const core = s.trim();
  const at = s.indexOf(core);
  return s.slice(0, at) + firstStrong + core + pop + s.slice(at + core.length);
}

/** isolatedRTL says that the text is written from right to left, also where its first letter is not. */
export const isolatedRTL = (s: string): string => rightToLeft + s + pop;

/** isIsolatedRTL says whether isolatedRTL made it. */
export const isIsolatedRTL = (s: string): boolean => s.startsWith(rightToLeft);
