// What can be completed of a slash command that is being typed. Pure.
import type { CommandInfo } from "../../net/wire";
import type { PromptTemplate } from "../../protocol";

export interface Choice {
  /** what the composer holds after it was taken */
  text: string;
  label: string;
  args: string;
  description: string;
  /** the person has typed it in full: Enter sends it */
  whole: boolean;
  /** it is a prompt that the person keeps, which is written instead */
  prompt?: PromptTemplate;
}

const starts = (word: string, typed: string): boolean => word.toLowerCase().startsWith(typed.toLowerCase());
const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
const namesOf = (c: CommandInfo): string[] => [`/${c.name}`, ...c.textAliases.filter((a) => a !== `/${c.name}`)];

/** named reports whether text is the whole name of a command: Enter sends that one, whatever prompts are called. */
export const named = (text: string, commands: CommandInfo[]): boolean => commands.some((c) => namesOf(c).some((n) => same(n, text)));

/** kept lists the prompts whose names begin like what is being typed; one that is called like a command is not typed. */
export const kept = (text: string, prompts: readonly PromptTemplate[], commands: CommandInfo[]): Choice[] =>
  /^\/[\p{L}\p{N}_-]*$/u.test(text)
    ? prompts
        .filter((p) => starts(`/${p.name}`, text) && !named(`/${p.name}`, commands))
        .map((prompt) => ({ text, label: `/${prompt.name}`, args: "", description: prompt.about ?? "", whole: false, prompt }))
    : [];

/** complete lists what the text can become; nothing when it is no command or is complete. */
export function complete(text: string, commands: CommandInfo[]): Choice[] {
  if (/^\/[\w-]*$/.test(text)) return names(text, commands);
  const m = /^(\/[\w-]+)[ :]+(\S*)$/.exec(text);
  const c = m && commands.find((x) => namesOf(x).some((n) => same(n, m[1]!)));
  return m && c ? choices(m[1]!, m[2]!, c) : [];
}

function names(typed: string, commands: CommandInfo[]): Choice[] {
  const out: Choice[] = [];
  for (const c of commands) {
    const name = namesOf(c).find((n) => starts(n, typed));
    if (!name) continue;
    const args = (c.args ?? []).map((a) => a.name).join(" ");
    out.push({ text: c.acceptsArgs ? `${name} ` : name, label: name, args, description: c.description, whole: same(name, typed) });
  }
  out.sort((a, b) => Number(b.whole) - Number(a.whole));
  return out.length === 1 && out[0]!.whole && out[0]!.text === typed ? [] : out;
}

function choices(name: string, typed: string, c: CommandInfo): Choice[] {
  const all = (c.args?.[0]?.choices ?? []).map((v) => v.value).filter((v) => starts(v, typed));
  if (all.length === 1 && same(all[0]!, typed)) return [];
  // Without a word the command alone is whole too: it shows how things are.
  return all.map((v) => ({ text: `${name} ${v}`, label: v, args: "", description: "", whole: typed === "" || same(v, typed) }));
}
