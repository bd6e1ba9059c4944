// What can be done with a message, with its words.
import { load } from "../src/i18n/words.svelte";

export { default as Acts } from "./Acts.svelte";

await load("chat");
