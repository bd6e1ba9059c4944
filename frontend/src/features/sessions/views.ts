export { default as ChatMenu } from "./ChatMenu.svelte";
export { default as FolderDialog } from "./FolderDialog.svelte";
export { default as NameDialog } from "./NameDialog.svelte";
