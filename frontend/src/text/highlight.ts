// Colours for code, loaded the first time a finished code block is idle on
// screen. The highlighter gives pieces of text with a kind from a closed set;
// it never makes markup.
const most = 60_000;
const wait = (fn: () => void) => ("requestIdleCallback" in window ? requestIdleCallback(fn, { timeout: 1500 }) : setTimeout(fn, 120));

/** colour replaces the text of a code element by coloured spans, some time later. */
export function colour(code: HTMLElement, lang: string): void {
  const text = code.textContent ?? "";
  if (lang === "" || text === "" || text.length > most) return;
  wait(() => void paint(code, lang, text));
}

async function paint(code: HTMLElement, lang: string, text: string): Promise<void> {
  const { pieces } = await import("./languages");
  const list = code.isConnected && code.textContent === text ? pieces(text, lang) : null;
  if (!list) return;
  const frag = document.createDocumentFragment();
  for (const p of list) {
    if (p.kind === "") {
      frag.append(p.text);
      continue;
    }
    const span = document.createElement("span");
    span.className = "tok-" + p.kind;
    span.textContent = p.text;
    frag.append(span);
  }
  code.replaceChildren(frag);
}
