// Views that the first sight of the page does not need. They come in a piece of
// their own, so that the first load stays small.

export { default as Asks } from "../features/channels/ContactRequests.svelte";
export { default as Attach } from "../features/chat/Attach.svelte";
export { default as Doors } from "../features/devices/PairingRequests.svelte";
export { default as Earlier } from "../features/chat/Earlier.svelte";
export { default as First } from "../features/onboarding/Onboarding.svelte";
export { default as From } from "../features/chat/SentBy.svelte";
export { default as Looking } from "../features/presence/ChatInView.svelte";
export { default as Needs } from "../features/approvals/PendingApprovals.svelte";
export { default as Panels } from "./Panels.svelte";
export { default as Paused } from "../features/pause/PausedBanner.svelte";
export { default as Pictures } from "../features/chat/Pictures.svelte";
export { default as Queue } from "../features/chat/Queue.svelte";
export { default as Shortcuts } from "../features/shortcuts/Shortcuts.svelte";
export { default as Suggest } from "../features/chat/CommandList.svelte";
export { default as Thought } from "../features/chat/Thought.svelte";
export { default as ToolCard } from "../features/chat/ToolCard.svelte";
