// Views that the first sight of the page does not need. They come in a piece of
// their own, so that the first load stays small.
import "./icons";

export { default as Asks } from "./Asks.svelte";
export { default as Attach } from "./Attach.svelte";
export { default as Doors } from "./Doors.svelte";
export { default as Earlier } from "./Earlier.svelte";
export { default as First } from "./First.svelte";
export { default as From } from "./From.svelte";
export { default as Looking } from "./Looking.svelte";
export { default as Needs } from "./Needs.svelte";
export { default as Panels } from "./Panels.svelte";
export { default as Paused } from "./Paused.svelte";
export { default as Pictures } from "./Pictures.svelte";
export { default as Queue } from "./Queue.svelte";
export { default as Shortcuts } from "../Shortcuts.svelte";
export { default as Suggest } from "./Suggest.svelte";
export { default as Thought } from "./Thought.svelte";
export { default as ToolCard } from "./ToolCard.svelte";
