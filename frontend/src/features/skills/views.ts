export { default as SkillReview } from "./SkillReview.svelte";
export { default as SkillsPane } from "./SkillsPane.svelte";
