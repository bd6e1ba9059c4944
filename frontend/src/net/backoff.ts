// How long to wait before the next try: 0.8 s, growing by 1.7 up to 15 s, each
// shortened by up to a third at random so that clients do not come back at once.
export class Backoff {
  private tries = 0;
  constructor(private readonly random: () => number = Math.random) {}

  next(): number {
    const full = Math.min(15_000, 800 * 1.7 ** this.tries++);
    return Math.round(full * (1 - this.random() / 3));
  }

  reset(): void {
    this.tries = 0;
  }
}
