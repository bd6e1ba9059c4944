// What the page for phones is about: whether it is let in, the conversation, what
// waits for a yes, and what the gateway may ask of the phone.
import { Approvals } from "../src/features/approvals/approvals.svelte";
import { Schedules } from "../src/features/cron/cron.svelte";
import { Pause } from "../src/features/pause/pause.svelte";
import { t as shared } from "../src/i18n/t";
import { Client } from "../src/net/client.svelte";
import { loadIdentity, NoCrypto, type Identity } from "../src/net/identity";
import { CallError, type LinkState, type Socket } from "../src/net/socket";
import type { Auth, ChatEvent, HelloOK, ModelInfo } from "../src/net/wire";
import type { Chat, Past } from "../src/session/chat.svelte";
import { Chats } from "../src/session/chats.svelte";
import { Chosen } from "../src/session/chosen.svelte";
import type { Attached, Entry } from "../src/session/outbox";
import { Outgoing } from "../src/session/outgoing.svelte";
import { Pictures } from "../src/session/pictures";
import { Sessions } from "../src/session/sessions.svelte";
import { takeNews } from "../src/shell/route";
import { openDatabase, type Database } from "../src/storage/database";
import { keepDraft, keepPicked, prefs } from "../src/storage/local";
import { codeIn, takeCode } from "./code";
import { Line, thisPhone, type As } from "./line";
import { Node, nodeAs } from "./node.svelte";
import { notify, unsubscribe } from "./shell";
import { t } from "./words";

export const version = "0.1.0";

const mostPictures = 30;

/** Where the phone stands. */
export type Place = "starting" | "insecure" | "old" | "unpaired" | "pairing" | "expired" | "limited" | "removed" | "talk";

const talker: As = {
  mode: "ui",
  role: "operator",
  scopes: ["operator.read", "operator.write", "operator.approvals"],
  caps: ["tool-events", "hearth.deltas", "exec-approvals"],
};

export class Phone {
  at = $state<Place>("starting");
  link = $state.raw<LinkState>({ at: "connecting" });
  toast = $state.raw<{ n: number; text: string; bad: boolean } | null>(null);
  node = $state.raw<Node | null>(null);
  /** the list of chats is open; also when another chat is shown behind it */
  listed = $state(false);
  /** the models that may answer, once somebody wants to know */
  models = $state.raw<ModelInfo[]>([]);
  private asking: Promise<void> | undefined;
  chosen!: Chosen;
  readonly me = thisPhone();
  client!: Client;
  approvals!: Approvals;
  chats!: Chats;
  sessions!: Sessions;
  pause!: Pause;
  schedules!: Schedules;
  pictures!: Pictures;

  private socket!: Socket;
  /** the connection by which the gateway asks this phone for things; a code is used on it */
  private asked!: Socket;
  private keep!: Database;
  private outgoing!: Outgoing;
  private identity!: Identity;
  private code = "";
  private known = false;
  /** what the notification carried that opened the page; null when it was dealt with */
  private news: string | null = takeNews();

  async start(): Promise<void> {
    this.code = takeCode();
    this.keep = await openDatabase();
    try {
      this.identity = await loadIdentity(this.keep);
    } catch (e) {
      this.at = e instanceof NoCrypto && !globalThis.crypto?.subtle ? "insecure" : "old";
      return;
    }
    this.known = (await this.keep.get<string>("state", "phoneToken")) !== undefined;
    this.socket = this.line(talker, {
      credentials: () => this.token("phoneToken"),
      onState: (s) => this.linked(s),
      onEvent: (name, payload) => this.client.heard(name, payload),
      onGap: () => void this.chat?.read().catch(() => undefined),
    });
    this.asked = this.line(nodeAs, {
      credentials: async () => (this.code !== "" ? { bootstrapToken: this.code } : this.token("nodeToken")),
      onState: (s) => this.heard(s),
      onEvent: (name, payload) => this.node?.event(name, payload),
      onGap: () => undefined,
    });
    this.open();
    await Promise.all([this.outgoing.load(), this.chosen.load()]);
    addEventListener("online", () => this.hurry());
    addEventListener("pagehide", () => this.outgoing.stop());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.hurry());
    if (this.code === "" && !this.known) this.at = "unpaired";
    else if (this.code === "") this.comeBack();
    else this.pair();
  }

  /** open makes the stores that this page shares with the one on the computer. */
  private open(): void {
    const client = (this.client = new Client(this.socket, this.identity.id, (e) => this.complain(e)));
    client.on((name, payload) => this.event(name, payload));
    this.chosen = new Chosen(this.keep, () => shared("call.lost"));
    this.approvals = new Approvals(client);
    this.pause = new Pause(client);
    const sessions = (this.sessions = new Sessions(client));
    this.chats = new Chats({ client, sessions, unsent: (key) => this.outgoing.of(key), isGuide: () => false, hasQueue: () => false });
    this.schedules = new Schedules(client, () => void notify("Hearth", t("notify.reminder")));
    this.pictures = new Pictures(client, mostPictures);
    this.outgoing = new Outgoing({
      keep: this.keep,
      client,
      changed: () => this.unsentChanged(),
      accepted: (e) => this.chats.accepted(e),
    });
  }

  /** the conversation that is shown */
  get chat(): Chat | null {
    return this.chats?.chat ?? null;
  }

  private line(as: As, o: Pick<ConstructorParameters<typeof Line>[0], "credentials" | "onState" | "onEvent" | "onGap">): Line {
    const open = (url: string): WebSocket => {
      const ws = new WebSocket(url);
      // Said on the live socket: no need to ask again to know.
      ws.addEventListener("close", (e) => as === talker && e.code === 4001 && e.reason === "device removed" && void this.removed());
      return ws;
    };
    return new Line(
      { url: `wss://${location.host}/`, identity: this.identity, version, platform: this.me.platform, open, ...o },
      as,
      this.me,
    );
  }

  private async token(name: "phoneToken" | "nodeToken"): Promise<Auth | null> {
    const token = await this.keep.get<string>("state", name);
    return token ? { deviceToken: token } : null;
  }

  private pair(): void {
    this.at = "pairing";
    this.asked.again();
  }

  private comeBack(): void {
    this.at = "talk";
    // Also when the gateway is away: what is written then is kept.
    if (prefs.lastSession) this.chats.open(prefs.lastSession);
    this.socket.again();
    this.asked.again();
  }

  /** pairWith takes what was pasted; false when there is no code in it. */
  pairWith(text: string): boolean {
    const code = codeIn(text);
    if (code !== "") ((this.code = code), this.pair());
    return code !== "";
  }

  private linked(s: LinkState): void {
    this.link = this.client.link = s;
    this.outgoing.setOnline(s.at === "open");
    if (s.at === "open") void this.greeted(s.hello).catch((e) => this.complain(e));
    if (s.at === "refused" && this.known) void (s.code === "AUTH_RATE_LIMITED" ? (this.at = "limited") : this.removed());
  }

  /** heard follows the connection of the node, where a code becomes two tokens. */
  private heard(s: LinkState): void {
    if (this.code === "") {
      if (this.node) this.node.open = s.at === "open";
      if (s.at === "open") void this.beNode();
      return;
    }
    if (s.at === "open") void this.letIn(s.hello).catch((e) => this.complain(e));
    else if (s.at !== "refused") this.link = s;
    else {
      this.code = "";
      // A used-up link in a browser that was let in by it.
      if (this.known && s.code !== "AUTH_RATE_LIMITED") return this.comeBack();
      this.at = s.code === "AUTH_RATE_LIMITED" ? "limited" : "expired";
    }
  }

  private async letIn(hello: HelloOK): Promise<void> {
    const mine = hello.auth.deviceTokens?.find((d) => d.role === "operator")?.deviceToken;
    this.code = "";
    if (!mine) return void (this.at = "expired"); // a code for machines without a person
    await this.keep.put("state", "phoneToken", mine);
    if (hello.auth.deviceToken) await this.keep.put("state", "nodeToken", hello.auth.deviceToken);
    this.known = true;
    this.at = "talk";
    this.socket.again();
    await this.beNode();
  }

  /** removed: its owner took this phone's access away. Nothing of the talk stays here. */
  private async removed(): Promise<void> {
    await this.forget();
    this.at = "removed";
  }

  private async forget(): Promise<void> {
    this.known = false;
    this.socket.stop();
    this.asked.stop();
    this.node?.stop();
    this.node = null;
    this.chat?.detach();
    if (this.chat) (keepDraft(this.chat.key, ""), keepPicked(this.chat.key, ""));
    this.chats.chat = null;
    this.chosen.forget();
    prefs.lastSession = "";
    this.sessions.list = [];
    history.replaceState(null, "", "/phone/");
    void unsubscribe();
    for (const e of this.outgoing.unsent) await this.outgoing.discard(e.id);
    for (const name of ["phoneToken", "nodeToken"]) await this.keep.remove("state", name).catch(() => undefined);
  }

  /** leave is this phone's own wish. */
  async leave(): Promise<void> {
    await this.forget();
    this.at = "unpaired";
  }

  private async greeted(hello: HelloOK): Promise<void> {
    this.sessions.greeted(hello);
    if (!this.chat) this.chats.open(prefs.lastSession || this.sessions.mainKey);
    if (hello.auth.deviceToken) await this.keep.put("state", "phoneToken", hello.auth.deviceToken);
    const loads = [this.approvals.load(), this.pause.load(), this.schedules.load()];
    await Promise.all([this.chat!.attach(), this.sessions.load(), ...loads]);
    const news = this.news;
    if (news === null) return;
    this.news = null;
    const { begin } = await import("../src/features/push/worker");
    begin("/phone/", this.client, news, (at) => at.sessionKey && this.chats.open(at.sessionKey));
  }

  private async beNode(): Promise<void> {
    if (this.node) return;
    const node = new Node(this.keep, this.asked, this.me, (text) => this.say(text));
    this.node = node;
    await node.load();
  }

  /** read opens an earlier conversation; null goes back to the one of today. */
  read(past: Past | null): void {
    if (past && this.chat) this.chats.openPast(this.chat.key, past);
    else if (this.chat) this.chats.open(this.chat.key);
  }

  hurry(): void {
    if (this.at !== "talk") return;
    this.socket.hurry();
    this.asked.hurry();
  }

  private event(name: string, payload: unknown): void {
    if (name === "chat") {
      const e = payload as ChatEvent;
      if (e.state === "final" && e.sessionKey === this.chat?.key) void notify("Hearth", t("notify.answer"));
    } else if (name === "exec.approval.requested") void notify("Hearth", t("notify.asks"));
  }

  // ---- messages

  async write(key: string, text: string, files: Attached[]): Promise<void> {
    await this.outgoing.add(key, text, undefined, files);
  }

  private unsentChanged(): void {
    this.chats.unsentChanged(this.outgoing.unsent);
  }

  async again(e: Entry): Promise<void> {
    await this.outgoing.discard(e.id);
    await this.write(e.sessionKey, e.text, e.files ?? []);
  }

  async stop(): Promise<void> {
    if (this.chat) await this.client.act(this.client.call("chat.abort", { sessionKey: this.chat.key }));
  }

  /** wantModels asks which there are, once. */
  wantModels(): void {
    this.asking ??= this.client.call("models.list", {}).then(
      (r) => void (this.models = r.models),
      () => void (this.asking = undefined),
    );
  }

  /** looks says which chat somebody looks at here, so that nobody is told of what they see. */
  looks(): void {
    const key = document.visibilityState === "visible" ? (this.chat?.key ?? "") : "";
    if (this.link.at === "open") void this.client.call("hearth.view", { key }).catch(() => undefined);
  }

  // ---- small things

  say(text: string, bad = false): void {
    const n = (this.toast?.n ?? 0) + 1;
    this.toast = { n, text, bad };
    setTimeout(() => this.toast?.n === n && (this.toast = null), bad ? 7000 : 3500);
  }

  private complain(e: unknown): void {
    const offline = e instanceof CallError && (e.code === "OFFLINE" || e.code === "TIMEOUT");
    this.say(offline ? t("offline.toast") : e instanceof Error ? e.message : String(e), true);
  }
}
