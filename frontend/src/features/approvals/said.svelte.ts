// What a request asks for, in the language of this person: the gateway sends codes
// with parameters, and the same in English for a code that is not known here.
import { inWords } from "../../i18n/errors.svelte";
import { say, type Words } from "../../i18n/words.svelte";
import type { Approval } from "../../net/wire";

type Request = Approval["request"];
export type Fact = NonNullable<Request["hearthFacts"]>[number];

// They come later: until then it is said as the gateway says it.
let en = $state.raw<Words>({});
export const ready = import("../../i18n/en/asks.json").then(
  (m) => void (en = m.default),
  () => undefined,
);

/** words finds a sentence of the part "asks", "" where there is none. */
const words = (key: string, params?: Record<string, string>): string => (Object.hasOwn(en, key) ? say("asks", en, key, params) : "");

/** sentence says in one line what is asked for. */
export function sentence(r: Request): string {
  const s = r.hearthSays;
  if (!s) return r.hearthTitle || r.command;
  return words(`asks.${s.code}`, { who: "Hearth", ...s.params }) || s.text;
}

/** label names a fact, "" for one that speaks for itself. */
export const label = (f: Fact): string => (f.code && words(`fact.${f.code}`)) || f.label || "";

/** factsOf are those of a request; of a gateway that sends none they are made of its lines. */
export function factsOf(r: Request, lines: readonly string[]): Fact[] {
  if (r.hearthFacts?.length) return r.hearthFacts;
  if (lines.length === 0) return [{ code: "command", text: r.command, block: true }, ...(r.cwd ? [{ text: r.cwd }] : [])];
  // The first line is the command, what belongs to it is indented.
  const next = lines.findIndex((l, i) => i > 0 && !l.startsWith("  "));
  const upTo = next < 0 ? lines.length : next;
  return [{ code: "command", text: lines.slice(0, upTo).join("\n"), block: true }, ...lines.slice(upTo).map((text) => ({ text }))];
}

/** warning says one in this language: of the common ones what a translator wrote for this place. */
export const warning = (text: string): string => words(`warn.${known[text] ?? ""}`) || inWords(text, "about");

const known: Record<string, string> = {
  "What it changes cannot be undone.": "undo",
  "Undo brings back only the files named here as written to; what else it changes cannot be undone.": "partly",
  "It holds characters that cannot be seen or that look like others; they are shown as \\u{…}.": "hidden",
  "It runs outside the sandbox: it can read and change everything that you can, and reach the network.": "outside",
  "A client asks for this and runs it itself; Hearth cannot tell what it will do.": "client",
  "What is typed into a program may be a command to it.": "typed",
  "The file leaves this computer as it is when it is sent.": "file",
};
