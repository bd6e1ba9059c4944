// One request of the assistant as both pages show it: its lines, whether all of
// the command was on the screen, and the time that is left to decide.
import type { Approval } from "../../net/wire";
import { seenToEnd } from "./seen";

export class Asked {
  /** a yes counts only after the whole command was on the screen */
  seen = $state(false);
  private now = $state(Date.now());

  readonly warnings = $derived.by(() => {
    const r = this.approval.request;
    return r.hearthWarnings ?? (r.warningText ? [r.warningText] : []);
  });
  /** what would happen; the gateway's lines show what no eye can see as \\u{…}, the bare command would not */
  readonly lines = $derived.by(() => (this.approval.request.hearthLines ?? []).filter((l) => !this.warnings.includes(l)));
  /** seconds */
  readonly left = $derived.by(() => Math.max(0, Math.ceil((this.approval.expiresAtMs - this.now) / 1000)));
  /** the same as a clock shows it */
  readonly clock = $derived(`${Math.floor(this.left / 60)}:${String(this.left % 60).padStart(2, "0")}`);

  constructor(private readonly of: () => Approval) {
    $effect(() => {
      const clock = setInterval(() => (this.now = Date.now()), 1000);
      return () => clearInterval(clock);
    });
  }

  private get approval(): Approval {
    return this.of();
  }

  /** watch is an attachment for the box that shows the command. */
  readonly watch = (box: HTMLElement): (() => void) => seenToEnd(box, () => (this.seen = true));
}
