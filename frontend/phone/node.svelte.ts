// What the gateway asks of this phone while the page is open: a picture, where
// it is. The person is asked first, here, and can say no at any time.
import type { Socket } from "../src/net/socket";
import type { Database } from "../src/storage/database";
import type { As } from "./line";
import { Refused } from "./refused";
import { notify } from "./shell";
import { t } from "./words";

/** Sense is what a person decides about. */
export type Sense = "camera" | "location";
export type Consent = "ask" | "always" | "never";

/** Ask is a request that waits for the person. */
export interface Ask {
  id: string;
  sense: Sense;
  facing: "front" | "back";
  until: number;
  answer(yes: boolean): void;
}

interface Request {
  id: string;
  nodeId: string;
  command: string;
  paramsJSON?: string | null;
  timeoutMs?: number;
}

export const nodeAs: As = {
  mode: "node",
  role: "node",
  scopes: [],
  caps: ["camera", "location", "device"],
  commands: ["camera.list", "camera.snap", "location.get", "device.info", "system.notify"],
};

const senses: Record<string, Sense> = { "camera.list": "camera", "camera.snap": "camera", "location.get": "location" };

export class Node {
  asks = $state.raw<Ask[]>([]);
  consent = $state.raw<Record<Sense, Consent>>({ camera: "ask", location: "ask" });
  /** the gateway can ask now */
  open = $state(true);

  constructor(
    private readonly keep: Database,
    private readonly line: Socket,
    private readonly me: { platform: string; family: string; name: string },
    private readonly tell: (text: string) => void,
  ) {}

  async load(): Promise<void> {
    const kept = await this.keep.get<Record<Sense, Consent>>("state", "consent");
    if (kept) this.consent = { ...this.consent, ...kept };
  }

  stop(): void {
    for (const a of this.asks) a.answer(false);
  }

  async decide(sense: Sense, how: Consent): Promise<void> {
    this.consent = { ...this.consent, [sense]: how };
    await this.keep.put("state", "consent", $state.snapshot(this.consent)).catch(() => undefined);
  }

  event(name: string, payload: unknown): void {
    if (name === "node.invoke.request") void this.serve(payload as Request);
    else if (name === "node.invoke.cancel") {
      const id = (payload as { invokeId?: string }).invokeId;
      this.asks.find((a) => a.id === id)?.answer(false);
    }
  }

  private async serve(r: Request): Promise<void> {
    let result: { ok: boolean; payloadJSON?: string; error?: { code: string; message: string } };
    try {
      const params = JSON.parse(r.paramsJSON || "{}") as Record<string, unknown>;
      result = { ok: true, payloadJSON: JSON.stringify(await this.run(r, params ?? {})) };
    } catch (e) {
      const refused = e instanceof Refused ? e : new Refused("UNAVAILABLE", e instanceof Error ? e.message : String(e));
      result = { ok: false, error: { code: refused.code, message: refused.message } };
    }
    await this.line.call("node.invoke.result", { id: r.id, nodeId: r.nodeId, ...result }).catch(() => undefined);
  }

  private async run(r: Request, params: Record<string, unknown>): Promise<unknown> {
    const sense = senses[r.command];
    const facing = params["facing"] === "front" ? "front" : "back";
    if (sense) await this.allowed(r, sense, facing);
    switch (r.command) {
      case "camera.list":
        return { devices: await (await import("./camera")).cameras() };
      case "camera.snap": {
        const picture = await (await import("./camera")).snap(facing, params);
        this.tell(t("node.snapped"));
        return picture;
      }
      case "location.get": {
        const here = await (await import("./place")).place(params);
        this.tell(t("node.located"));
        return here;
      }
      case "device.info":
        return {
          deviceName: this.me.name,
          modelIdentifier: this.me.family || "web",
          systemName: this.me.platform,
          appVersion: "0.1.0",
          locale: navigator.language,
        };
      case "system.notify": {
        const text = [params["title"], params["body"]]
          .filter((s) => typeof s === "string" && s !== "")
          .join(": ")
          .slice(0, 300);
        this.tell(text);
        await notify("Hearth", text);
        return { ok: true };
      }
    }
    throw new Refused("INVALID_REQUEST", `this phone does not know ${r.command}`);
  }

  /** allowed waits for the person where they were not asked before. */
  private async allowed(r: Request, sense: Sense, facing: "front" | "back"): Promise<void> {
    if (document.visibilityState !== "visible")
      throw new Refused("NODE_BACKGROUND_UNAVAILABLE", "the page is open on the phone, but not on its screen");
    const refusal = new Refused(
      sense === "camera" ? "CAMERA_DISABLED" : "LOCATION_DISABLED",
      `the person with the phone said no to its ${sense}`,
    );
    if (this.consent[sense] === "never") throw refusal;
    if (this.consent[sense] === "always") return;
    const wait = Math.max(1000, (r.timeoutMs ?? 30_000) - 2000);
    const yes = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => done(false), wait);
      const done = (v: boolean): void => {
        clearTimeout(timer);
        this.asks = this.asks.filter((a) => a.id !== r.id);
        resolve(v);
      };
      if (this.asks.length >= 3) return done(false);
      this.asks = [...this.asks, { id: r.id, sense, facing, until: Date.now() + wait, answer: done }];
    });
    if (!yes) throw refusal;
  }
}
