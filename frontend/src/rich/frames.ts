// Frames without origin and network in which foreign things are drawn. The gateway
// sends them with a policy of their own (gateway/server/frame.go).

const phone = location.pathname.startsWith("/phone");

/** at is the address of a frame of the gateway, for this page or the one for phones. */
export const at = (name: string): string => `${phone ? "/phone" : ""}/frame/${name}.html`;

/** sandbox makes such a frame; who calls puts it into the page. */
export function sandbox(name: string, title: string): HTMLIFrameElement {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.referrerPolicy = "no-referrer";
  frame.title = title;
  frame.src = at(name);
  return frame;
}

/** hear calls back with what a frame says; the answer ends that. */
export function hear(frame: HTMLIFrameElement, heard: (data: Record<string, unknown>) => void): () => void {
  const listener = (e: MessageEvent<unknown>): void => {
    if (e.source === null || e.source !== frame.contentWindow) return;
    if (typeof e.data === "object" && e.data !== null) heard(e.data as Record<string, unknown>);
  };
  addEventListener("message", listener);
  return () => removeEventListener("message", listener);
}

export type Drawn = "diagram" | "chart";

const limits = { start: 20_000, draw: 8_000, idle: 60_000, source: 50_000, svg: 2_000_000 };

/** Late is that a drawing took too long. */
export class Late extends Error {}

/** Draughtsman draws one thing after the other in a hidden frame, and leaves when nothing comes. */
class Draughtsman {
  private frame: HTMLIFrameElement | null = null;
  private ready: Promise<void> | null = null;
  private deaf = (): void => undefined;
  private answer: (data: Record<string, unknown>) => void = () => undefined;
  private line: Promise<unknown> = Promise.resolve();
  private idle: ReturnType<typeof setTimeout> | undefined;
  private n = 0;

  constructor(private readonly kind: Drawn) {}

  draw(source: string, dark: boolean): Promise<string> {
    const next = this.line.then(() => this.one(source, dark));
    this.line = next.catch(() => undefined);
    return next;
  }

  private async one(source: string, dark: boolean): Promise<string> {
    if (source.length > limits.source) throw new Late();
    clearTimeout(this.idle);
    this.ready ??= this.open();
    try {
      await this.ready;
      const n = ++this.n;
      const said = await within(limits.draw, (done) => {
        this.answer = (data) => data["n"] === n && done(data);
        this.frame!.contentWindow!.postMessage({ n, source, dark }, "*");
      });
      if (typeof said["svg"] === "string" && said["svg"].length <= limits.svg) return said["svg"];
      throw new Error(typeof said["problem"] === "string" ? said["problem"].slice(0, 400) : "");
    } catch (e) {
      if (e instanceof Late) this.leave(); // it may be stuck: the next drawing gets a new one
      throw e;
    } finally {
      this.idle = setTimeout(() => this.leave(), limits.idle);
    }
  }

  private async open(): Promise<void> {
    const frame = sandbox(this.kind, "");
    frame.className = "draughtsman";
    frame.tabIndex = -1;
    frame.setAttribute("aria-hidden", "true");
    this.frame = frame;
    await within(limits.start, (done) => {
      this.deaf = hear(frame, (data) => (data["ready"] === true ? done(data) : this.answer(data)));
      document.body.append(frame);
    });
  }

  private leave(): void {
    this.deaf();
    this.frame?.remove();
    this.frame = this.ready = null;
    this.answer = () => undefined;
  }
}

type Data = Record<string, unknown>;

function within(ms: number, begin: (done: (data: Data) => void) => void): Promise<Data> {
  return new Promise((done, late) => {
    const timer = setTimeout(() => late(new Late()), ms);
    begin((data) => {
      clearTimeout(timer);
      done(data);
    });
  });
}

const draughtsmen = { diagram: new Draughtsman("diagram"), chart: new Draughtsman("chart") };
const kept = new Map<string, Promise<string>>();

/** draw gives the SVG of a diagram or chart; rows that come back find what was drawn. */
export function draw(kind: Drawn, source: string, dark: boolean): Promise<string> {
  const key = `${kind} ${dark ? 1 : 0} ${source}`;
  let svg = kept.get(key);
  if (!svg) {
    svg = draughtsmen[kind].draw(source, dark);
    kept.set(key, svg);
    svg.catch((e: unknown) => e instanceof Late && kept.delete(key));
    if (kept.size > 60) kept.delete(kept.keys().next().value!);
  }
  return svg;
}
