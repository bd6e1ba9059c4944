// One question at a time from the page around the frame, and its answer.
export interface Question {
  n: number;
  source: string;
  dark: boolean;
}

/** answer draws what the page asks for: an SVG as text, or why there is none. */
export function answer(draw: (q: Question) => Promise<string>): void {
  addEventListener("message", (e: MessageEvent<Question>) => {
    if (e.source !== parent) return;
    const { n } = e.data;
    draw(e.data).then(
      (svg) => parent.postMessage({ n, svg }, "*"),
      (why: unknown) => parent.postMessage({ n, problem: String(why instanceof Error ? why.message : why).slice(0, 400) }, "*"),
    );
  });
  parent.postMessage({ ready: true }, "*");
}
