// What is said of a chat that was deleted elsewhere, with its words.
import { load } from "../src/i18n/words.svelte";

export { default as Gone } from "../src/features/chat/Gone.svelte";

await load("chat");
