// One connection to the gateway that this page came from: handshake, requests
// with answers, events in order, silence watched, and coming back by itself.
// It knows nothing about chats.
import { inWords, ready } from "../i18n/errors.svelte";
import { t } from "../i18n/t";
import { Backoff } from "./backoff";
import { signDevice, type Identity } from "./identity";
import type { Auth, Challenge, ConnectParams, ErrorShape, EventFrame, HelloOK, Methods, ResponseFrame, Scope } from "./wire";

export type LinkState =
  | { at: "connecting" }
  | { at: "open"; hello: HelloOK }
  | { at: "waiting"; until: number; restarting: boolean; quit: boolean }
  | { at: "refused"; code: string; message: string };

/** CallError is an answer that says no, or an answer that never came. */
export class CallError extends Error {
  override name = "CallError";
  constructor(
    readonly code: string,
    message: string,
    readonly retryable: boolean,
    readonly retryAfterMs = 0,
    readonly detail = "",
    /** what a person can do about it */
    readonly repair = "",
  ) {
    super(message);
  }
}

export interface SocketOptions {
  url: string;
  identity: Identity;
  version: string;
  platform: string;
  /** what to present now; null: there is nothing, do not even try */
  credentials(): Promise<Auth | null>;
  onState(s: LinkState): void;
  onEvent(name: string, payload: unknown): void;
  /** an event was missed on this connection */
  onGap(): void;
  open?: (url: string) => WebSocket;
  now?: () => number;
  random?: () => number;
}

interface Waiting {
  resolve(v: unknown): void;
  reject(e: Error): void;
  timer: ReturnType<typeof setTimeout>;
}

const scopes: Scope[] = ["operator.read", "operator.write", "operator.admin", "operator.approvals", "operator.pairing"];
const requestTimeout = 30_000;
const handshakeTimeout = 12_000;
// A refusal that another try cannot change.
const final = /^(AUTH_|DEVICE_|PAIRING_|PROTOCOL_MISMATCH|CLIENT_VERSION|CONTROL_UI_)/;

export class Socket {
  private ws: WebSocket | null = null;
  private readonly waiting = new Map<string, Waiting>();
  private readonly backoff: Backoff;
  private readonly now: () => number;
  private nextId = 1;
  private seq = 0;
  private heard = 0;
  private tick = 30_000;
  private restarting = false;
  private quit = false;
  private stopped = true;
  private state: LinkState = { at: "connecting" };
  private retry: ReturnType<typeof setTimeout> | undefined;
  private watch: ReturnType<typeof setInterval> | undefined;
  private greet: ReturnType<typeof setTimeout> | undefined;

  constructor(protected readonly o: SocketOptions) {
    this.backoff = new Backoff(o.random);
    this.now = o.now ?? Date.now;
  }

  start(): void {
    this.stopped = false;
    this.watch ??= setInterval(() => this.checkSilence(), 5_000);
    this.connect();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.retry);
    clearInterval(this.watch);
    this.watch = undefined;
    this.drop("the page is closing");
  }

  /** hurry tries again at once: the network or the tab came back. */
  hurry(): void {
    if (this.stopped) return;
    if (this.state.at === "waiting") {
      this.backoff.reset();
      this.connect();
    } else if (this.state.at === "open") this.checkSilence();
  }

  /** again is for a person who brings new credentials. */
  again(): void {
    this.drop("new credentials");
    this.backoff.reset();
    this.start();
  }

  call<M extends keyof Methods>(method: M, params: Methods[M]["params"], timeout = requestTimeout): Promise<Methods[M]["result"]> {
    if (this.state.at !== "open") return Promise.reject(new CallError("OFFLINE", t("call.offline"), true));
    return this.request(method, params, timeout);
  }

  private request<M extends keyof Methods>(method: M, params: Methods[M]["params"], timeout: number): Promise<Methods[M]["result"]> {
    const id = String(this.nextId++);
    return new Promise<Methods[M]["result"]>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        reject(new CallError("TIMEOUT", t("call.late"), true));
      }, timeout);
      this.waiting.set(id, { resolve: resolve as (v: unknown) => void, reject, timer });
      this.ws!.send(JSON.stringify({ type: "req", id, method, params }));
    });
  }

  private setState(s: LinkState): void {
    this.state = s;
    this.o.onState(s);
  }

  private connect(): void {
    clearTimeout(this.retry);
    this.drop("reconnecting");
    this.setState({ at: "connecting" });
    const ws = (this.o.open ?? ((u: string) => new WebSocket(u)))(this.o.url);
    this.ws = ws;
    this.seq = 0;
    this.greet = setTimeout(() => this.lost(ws), handshakeTimeout);
    ws.onmessage = (e) => {
      if (ws === this.ws && typeof e.data === "string") this.receive(ws, e.data);
    };
    ws.onclose = ws.onerror = () => this.lost(ws);
  }

  /** drop forgets the present connection without trying again. */
  private drop(why: string): void {
    const ws = this.ws;
    this.ws = null;
    clearTimeout(this.greet);
    if (ws) {
      ws.onmessage = ws.onclose = ws.onerror = null;
      ws.close(1000, why);
    }
    for (const w of this.waiting.values()) {
      clearTimeout(w.timer);
      w.reject(new CallError("OFFLINE", t("call.lost"), true));
    }
    this.waiting.clear();
  }

  private lost(ws: WebSocket): void {
    if (ws !== this.ws) return;
    this.drop("lost");
    if (this.stopped || this.state.at === "refused") return;
    const delay = this.backoff.next();
    this.retry = setTimeout(() => this.connect(), delay);
    this.setState({ at: "waiting", until: this.now() + delay, restarting: this.restarting, quit: this.quit });
  }

  private checkSilence(): void {
    if (this.state.at === "open" && this.ws && this.now() - this.heard > 2 * this.tick) this.lost(this.ws);
  }

  private receive(ws: WebSocket, data: string): void {
    this.heard = this.now();
    let any: EventFrame | ResponseFrame;
    try {
      any = JSON.parse(data) as EventFrame | ResponseFrame;
    } catch {
      return this.lost(ws);
    }
    if (any.type === "res") return this.answer(any as ResponseFrame);
    if (any.type !== "event") return;
    const frame = any as EventFrame;
    if (frame.event === "connect.challenge") return void this.handshake(ws, frame.payload as Challenge);
    if (frame.event === "shutdown") {
      this.restarting = typeof (frame.payload as { restartExpectedMs?: unknown } | undefined)?.restartExpectedMs === "number";
      this.quit = !this.restarting;
    }
    if (typeof frame.seq === "number") {
      const gap = this.seq !== 0 && frame.seq > this.seq + 1;
      this.seq = frame.seq;
      if (gap) this.o.onGap();
    }
    this.o.onEvent(frame.event, frame.payload);
  }

  private answer(frame: ResponseFrame): void {
    const w = this.waiting.get(frame.id);
    if (!w) return;
    this.waiting.delete(frame.id);
    clearTimeout(w.timer);
    if (frame.ok) w.resolve(frame.payload);
    else w.reject(callError(frame.error));
  }

  private async handshake(ws: WebSocket, challenge: Challenge): Promise<void> {
    try {
      const auth = await this.o.credentials();
      if (ws !== this.ws) return;
      if (!auth) return this.refuse("AUTH_MISSING", "");
      const params = await this.connectParams(auth, challenge);
      if (ws !== this.ws) return;
      const hello = await this.request("connect", params, handshakeTimeout);
      if (ws !== this.ws) return;
      clearTimeout(this.greet);
      this.tick = hello.policy.tickIntervalMs || 30_000;
      this.restarting = this.quit = false;
      this.backoff.reset();
      void ready(); // so that the first refusal is said in the language of the person
      this.setState({ at: "open", hello });
    } catch (e) {
      if (ws !== this.ws) return;
      const err = e instanceof CallError ? e : new CallError("UNKNOWN", String(e), true);
      if (final.test(err.detail) || err.code === "NOT_PAIRED") return this.refuse(err.detail || err.code, err.message);
      this.lost(ws);
    }
  }

  private refuse(code: string, message: string): void {
    this.setState({ at: "refused", code, message });
    this.drop("refused");
  }

  protected async connectParams(auth: Auth, challenge: Challenge): Promise<ConnectParams> {
    const { platform, identity, version } = this.o;
    const client = { id: "webchat-ui", mode: "webchat", version, platform };
    const device = await signDevice(identity, {
      clientId: client.id, clientMode: client.mode, role: "operator", scopes, signedAt: challenge.ts || this.now(),
      token: auth.token ?? auth.deviceToken ?? auth.bootstrapToken ?? "", nonce: challenge.nonce, platform, deviceFamily: "",
    });
    return {
      minProtocol: 4, maxProtocol: 4, client, role: "operator", scopes, caps: ["tool-events", "hearth.deltas"], device, auth,
      locale: navigator.language, userAgent: navigator.userAgent.slice(0, 200),
    };
  }
}

function callError(e: ErrorShape | undefined): CallError {
  const detail = typeof e?.details?.["code"] === "string" ? e.details["code"] : "";
  const repair = typeof e?.details?.["repair"] === "string" ? e.details["repair"] : "";
  const message = e?.message ? inWords(e.message) : t("call.refused");
  return new CallError(e?.code ?? "UNKNOWN", message, e?.retryable ?? false, e?.retryAfterMs ?? 0, detail, repair);
}
