/** composing: the key belongs to an input method, which has words of its own to confirm or to leave. */
export const composing = (e: KeyboardEvent): boolean => e.isComposing || e.keyCode === 229;
