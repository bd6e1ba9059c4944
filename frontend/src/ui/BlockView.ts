// Puts one block of Markdown into the page and keeps it up to date while it
// grows. The nodes come from text/nodes.ts; Svelte never sees their content.
import { growBlock, renderBlock, settleBlock } from "../text/nodes";
import type { Block } from "../text/stream";

export interface BlockParams {
  block: Block;
  settled: boolean;
  /** what its own words are in, such as those of its buttons */
  language?: string;
}

export function blockView(host: HTMLElement, first: BlockParams): { update(p: BlockParams): void } {
  let token = first.block.token;
  let settled = false;
  let { language } = first;
  let el = renderBlock(token);
  host.append(el);
  const settle = (now: boolean): void => {
    if (!now || settled) return;
    settled = true;
    settleBlock(el);
  };
  settle(first.settled);
  return {
    update(p) {
      if (p.block.token !== token || p.language !== language) {
        if (settled || p.language !== language || !growBlock(el, token, p.block.token)) {
          const fresh = renderBlock(p.block.token);
          el.replaceWith(fresh);
          el = fresh;
          settled = false;
        }
        token = p.block.token;
        language = p.language;
      }
      settle(p.settled);
    },
  };
}
