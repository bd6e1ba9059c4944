// How hard a passphrase is to guess, as `hearth secrets unlock` reckons it.
const everyday = /password|passwort|passphrase|12345678|123456|qwertz|qwerty|letmein|iloveyou|abc123|hearth/g;
const [word, common] = [11, 3]; // bits of a word out of some two thousand, and of one that everybody takes

/** guesses is about how many bits a guesser has to find: the choice for each character
 *  that does not follow from those before, words counted as words. */
export function guesses(pass: string): number {
  const lower = pass.toLowerCase().replace(everyday, "\0");
  const words = lower.split(/[^\p{L}]+/u).filter((w) => [...w].length >= 3);
  if (words.length >= 3) return word * new Set(words).size + common;
  const letters = pass !== pass.toLowerCase() && pass !== pass.toUpperCase() ? 52 : 26;
  const seen = new Set<string>();
  let bits = 0;
  let before = 0;
  for (const c of lower) {
    const at = c.codePointAt(0)!;
    const follows = seen.has(c) || Math.abs(at - before) <= 1;
    const choice = follows ? 2 : c === "\0" ? 2 ** common : /\p{Nd}/u.test(c) ? 10 : /\p{L}/u.test(c) ? letters : 33;
    bits += Math.log2(choice);
    seen.add(c);
    before = at;
  }
  return bits;
}

export type Strength = "short" | "weak" | "fair" | "strong";

/** strength is what a person is told of it. */
export function strength(pass: string): Strength {
  if ([...pass].length < 8) return "short";
  const bits = guesses(pass);
  return bits < 40 ? "weak" : bits < 55 ? "fair" : "strong";
}
