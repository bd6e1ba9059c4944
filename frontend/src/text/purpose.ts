/** purpose is the sentence that says what a tool is for; the rest is for models. A
 *  colon ends no sentence: what a tool is for may stand behind it. */
export function purpose(description: string): string {
  const lines = description.trim().split("\n");
  const line = lines[0]!.trimEnd();
  // A list below the line is for models, too.
  return /^.*?[.!?](?=\s+[\p{Lu}`]|\s*$)/u.exec(line)?.[0] ?? line.replace(/\s*:$/, ".");
}
