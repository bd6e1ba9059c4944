// What the phone needs once somebody attaches a file, or a message has one.
import { load } from "../src/i18n/words.svelte";

export { again, attach, lacking, leaveOut, reading } from "../src/features/chat/attached";
export { default as Attached } from "../src/features/chat/Attached.svelte";
export { default as FileChip } from "../src/features/chat/FileChip.svelte";
export { refused, t } from "../src/features/chat/filewords";

void load("files");
