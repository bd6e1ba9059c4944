// At most 30 drawings a second, and fewer when a drawing takes long: showing
// an answer must never use more than a third of the main thread.
const least = 33;

export class Pace {
  private frame = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readyAt = 0;

  constructor(private readonly draw: () => void) {}

  soon(): void {
    if (this.frame !== 0 || this.timer !== undefined) return;
    const wait = this.readyAt - performance.now();
    if (wait <= 1) return this.ask();
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.ask();
    }, wait);
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    this.frame = 0;
    this.timer = undefined;
  }

  private ask(): void {
    // A hidden tab gets no frames; what arrives there is drawn when it is seen.
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      const start = performance.now();
      this.draw();
      const took = performance.now() - start;
      this.readyAt = start + Math.max(least - 4, took * 3);
    });
  }
}
