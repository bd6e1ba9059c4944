// Names from outside, fit to stand between other words.

/** oneLine keeps names from moving other words: no breaks, no direction marks. */
export function oneLine(s: string): string {
  return s.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\u200e\u200f]+/g, " ").replace(/\s+/g, " ").trim().slice(0, 120);
}

/** isolated keeps a name of the other writing direction from moving the words around it. */
export const isolated = (s: string): string => String.fromCharCode(0x2068) + s + String.fromCharCode(0x2069);
