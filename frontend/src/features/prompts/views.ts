export { default as PromptDialog } from "./PromptDialog.svelte";
export { default as PromptsPane } from "./PromptsPane.svelte";
