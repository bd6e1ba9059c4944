export { default as Approval } from "./Approval.svelte";
export { default as PendingApprovals } from "./PendingApprovals.svelte";
