export { default as Devices } from "./Devices.svelte";
export { default as Locked } from "./Locked.svelte";
export { default as PairingRequests } from "./PairingRequests.svelte";
