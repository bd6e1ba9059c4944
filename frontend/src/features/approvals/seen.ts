/**
 * seenToEnd calls seen once a box has been shown to its end, which is at once when
 * all of it fits: a yes counts only after the whole command was on the screen.
 * It returns what ends the watching, for use as an attachment.
 */
export function seenToEnd(box: HTMLElement, seen: () => void): () => void {
  const look = (): void => {
    if (box.scrollTop + box.clientHeight >= box.scrollHeight - 6) seen();
  };
  const resize = new ResizeObserver(look);
  resize.observe(box);
  box.addEventListener("scroll", look, { passive: true });
  return () => (resize.disconnect(), box.removeEventListener("scroll", look));
}
