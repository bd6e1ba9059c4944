// A prompt with its fields filled in. What a person types there is text, whatever it looks like.

/** fill puts values in the place of fields; a field without one stays as it is. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{\{([^{}\n]{1,64})\}\}/g, (whole, name: string) => values[name.trim()] ?? whole);

/** nameable is what a prompt may be called: it is typed behind a slash. */
export const nameable = (name: string): boolean => /^[\p{L}\p{N}][\p{L}\p{N}_-]{0,63}$/u.test(name);
