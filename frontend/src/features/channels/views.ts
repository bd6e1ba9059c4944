export { default as ChannelsPane } from "./ChannelsPane.svelte";
export { default as ContactRequests } from "./ContactRequests.svelte";
export { default as Contacts } from "./Contacts.svelte";
export { default as Undelivered } from "./Undelivered.svelte";
