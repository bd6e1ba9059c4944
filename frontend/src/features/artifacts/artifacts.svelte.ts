// Which artifact is open beside the conversation.
import type { Artifact } from "../../rich/artifact";

export class Artifacts {
  now = $state.raw<{ chat: string; artifact: Artifact } | null>(null);
}
