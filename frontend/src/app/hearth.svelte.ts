// Puts the page together: one connection, a store for each subject, and what is
// read when the gateway has said hello. What a subject does stands in its folder.
import { Approvals, provideApprovals } from "../features/approvals/approvals.svelte";
import { Channels, provideChannels } from "../features/channels/channels.svelte";
import { views as chatViews } from "../features/chat";
import { Writing, provideWriting } from "../features/chat/writing.svelte";
import { Schedules, provideSchedules } from "../features/cron/cron.svelte";
import { provideReachable } from "../features/devices/reachable";
import { Problems, provideProblems } from "../features/doctor/problems.svelte";
import { Reach, provideReach } from "../features/lan/reach.svelte";
import { Models, provideModels } from "../features/models/models.svelte";
import { Onboarding, provideOnboarding } from "../features/onboarding/onboarding.svelte";
import { Pause, providePause } from "../features/pause/pause.svelte";
import { views as secretViews } from "../features/secrets";
import { Undo, provideUndo } from "../features/undo/undo.svelte";
import { Client, provideClient } from "../net/client.svelte";
import { loadIdentity, NoCrypto, type Identity } from "../net/identity";
import { Socket, type LinkState } from "../net/socket";
import type { HelloOK } from "../net/wire";
import { Chats, provideChats } from "../session/chats.svelte";
import { Deletions, provideDeletions } from "../session/deletions";
import type { Entry } from "../session/outbox";
import { Outgoing } from "../session/outgoing.svelte";
import { Pictures, providePictures } from "../session/pictures";
import { Sessions, provideSessions } from "../session/sessions.svelte";
import { provideKeyPlace } from "../shell/keyplace";
import { Panels, providePanels, type Panel, type PaneId } from "../shell/panels.svelte";
import { onward, pastInUrl, sessionIn, sessionInUrl, takeLaunch, takeNews } from "../shell/route";
import { SignIn } from "../shell/signin";
import { Toasts, provideToasts } from "../shell/toasts.svelte";
import { openDatabase, type Database } from "../storage/database";
import { prefs } from "../storage/local";
import { soon } from "./views";

export const version = "0.1.0";

const mostPictures = 60;

export class Hearth {
  /** this browser cannot take part at all, and why */
  broken = $state<"" | "crypto" | "storage">("");
  readonly toasts = new Toasts();
  readonly panels = new Panels();
  client!: Client;
  sessions!: Sessions;
  chats!: Chats;
  approvals!: Approvals;
  channels!: Channels;
  models!: Models;
  onboarding!: Onboarding;
  pause!: Pause;
  problems!: Problems;
  schedules!: Schedules;
  undo!: Undo;
  writing!: Writing;
  private deletions!: Deletions;
  private outgoing!: Outgoing;
  private pictures!: Pictures;
  private reach!: Reach;
  private signIn!: SignIn;
  private socket!: Socket;
  /** what the notification carried that opened the page; null when it was dealt with */
  private news: string | null = takeNews();
  /** the dialog that the page was opened for, which asks the gateway for what it shows */
  private first: Panel | null = null;

  async start(): Promise<void> {
    const { code, where } = takeLaunch();
    const keep = await openDatabase();
    let identity: Identity;
    try {
      identity = await loadIdentity(keep);
    } catch (e) {
      this.broken = e instanceof NoCrypto ? "crypto" : "storage";
      return;
    }
    this.signIn = new SignIn(keep, code);
    this.connect(identity);
    this.open(keep);
    await Promise.all([this.outgoing.load(), this.writing.chosen.load()]);
    this.begin(where);
    this.socket.start();
    addEventListener("popstate", () => this.wentBack());
    addEventListener("online", () => this.socket.hurry());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.socket.hurry());
    addEventListener("pagehide", () => (this.deletions.leave(), this.outgoing.stop()));
    addEventListener("pageshow", (e) => e.persisted && this.socket.hurry());
  }

  /** connect makes the connection; it is not there yet. */
  private connect(identity: Identity): void {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new Socket({
      url: `${scheme}//${location.host}/`, identity, version, platform: navigator.platform || "web",
      credentials: () => this.signIn.credentials(),
      onState: (s) => void this.linked(s),
      onEvent: (name, payload) => this.client.heard(name, payload),
      onGap: () => void this.refresh(),
    });
    this.client = new Client(this.socket, identity.id, (e) => this.toasts.complain(e));
    this.client.on((name, payload) => {
      if (name !== "shutdown" || (payload as { reason?: string }).reason !== "quit") return;
      // All of Hearth was quit: its native window goes too.
      (window as { hearthWindow?: { quit(): void } }).hearthWindow?.quit();
    });
  }

  /** open makes the store of each subject from what it needs. */
  private open(keep: Database): void {
    const client = this.client;
    const sessions = (this.sessions = new Sessions(client));
    const chats = (this.chats = new Chats({
      client, sessions,
      unsent: (key) => this.outgoing.of(key),
      isGuide: () => this.models.isGuide,
      hasQueue: () => chatViews.now !== null,
    }));
    this.outgoing = new Outgoing({
      keep, client,
      each: { hearthAwaitModel: true },
      changed: (list) => chats.unsentChanged(list),
      accepted: (e) => chats.accepted(e),
    });
    this.deletions = new Deletions({
      sessions,
      online: () => client.link.at === "open",
      unsent: (key) => this.outgoing.of(key).length > 0,
    });
    this.writing = new Writing({ keep, client, chats, sessions, outgoing: this.outgoing });
    this.approvals = new Approvals(client);
    this.channels = new Channels(client);
    this.onboarding = new Onboarding({ client, contacts: this.channels, chosen: () => void this.models.load().catch(() => undefined) });
    this.models = new Models({
      client, chats, sessions,
      fresh: () => this.onboarding.fresh,
      begun: (setup) => this.onboarding.take(setup),
    });
    this.pause = new Pause(client);
    this.pictures = new Pictures(client, mostPictures);
    this.problems = new Problems(client, () => void this.channels.refresh().catch(() => undefined));
    this.reach = new Reach(client);
    this.schedules = new Schedules(client);
    this.undo = new Undo(client);
  }

  /** provide hands the stores to the views; called while the first view is made. */
  provide(): void {
    if (this.broken) return;
    provideClient(this.client);
    provideToasts(this.toasts);
    provideKeyPlace(secretViews);
    providePanels(this.panels);
    provideSessions(this.sessions);
    provideChats(this.chats);
    provideDeletions(this.deletions);
    providePictures(this.pictures);
    provideWriting(this.writing);
    provideApprovals(this.approvals);
    provideChannels(this.channels);
    provideModels(this.models);
    provideOnboarding(this.onboarding);
    providePause(this.pause);
    provideProblems(this.problems);
    provideReach(this.reach);
    provideReachable(this.reach);
    provideSchedules(this.schedules);
    provideUndo(this.undo);
  }

  /** begin goes to where the link that opened the page leads, or where the person was. */
  private begin(where: string[]): void {
    const [place, part = ""] = where;
    if (place === "settings") this.first = { kind: place, pane: part as PaneId };
    else if (place === "undelivered") this.first = { kind: place };
    else if (place === "why") this.first = { kind: place, runId: part };
    else if (place === "offer") this.panels.open({ kind: place, text: part });
    const key = (place === "chat" && sessionIn(part)) || sessionInUrl() || prefs.lastSession;
    const past = pastInUrl();
    if (place === "new") this.chats.begin();
    else if (key && past) this.chats.openPast(key, { sessionId: past });
    else if (key) this.chats.open(key);
  }

  /** wentBack closes what is open over the page; the chat behind it stays. */
  private wentBack(): void {
    const { chat } = this.chats;
    if (!this.panels.back()) onward(chat?.key ?? "", chat?.past?.sessionId);
  }

  private async linked(s: LinkState): Promise<void> {
    if (s.at === "refused" && (await this.signIn.refused())) return this.socket.again();
    this.client.link = s;
    this.outgoing.setOnline(s.at === "open");
    if (s.at === "open") await this.greeted(s.hello).catch((e) => this.toasts.complain(e));
  }

  private async greeted(hello: HelloOK): Promise<void> {
    await this.signIn.greeted(hello);
    this.problems.greeted(hello);
    this.sessions.greeted(hello);
    const { sessions, chats, models } = this;
    if (!chats.chat) chats.open(sessions.mainKey);
    if (this.first) this.panels.open(this.first);
    this.first = null;
    await Promise.all([models.load(), sessions.load(), chats.chat?.attach()]);
    void this.deletions.settle();
    // The gateway may go away meanwhile; the next hello tries again.
    await Promise.all(soon.map((v) => v.load())).catch(() => undefined);
    void this.onboarding.load().catch(() => undefined);
    void this.install();
    await this.writing.load();
    await Promise.all([
      this.channels.load(), this.approvals.load(), this.pause.load(), this.schedules.load(), this.undo.load().catch(() => undefined),
    ]);
  }

  /** install has the browser keep the page, and hears of notifications. */
  private async install(): Promise<void> {
    const news = this.news;
    if (news === null) return;
    this.news = null;
    const { begin } = await import("../features/push/worker");
    begin("/", this.client, news, (at) => at.sessionKey && this.chats.open(at.sessionKey));
  }

  /** everything unsent, of all sessions */
  get unsent(): readonly Entry[] {
    return this.outgoing.unsent;
  }

  private async refresh(): Promise<void> {
    await Promise.all([this.sessions.load(), this.chats.chat?.read()]).catch(() => undefined);
  }

  /** connectWith takes a pasted launch link or code; false when it cannot be one. */
  connectWith(pasted: string): boolean {
    const can = this.signIn.take(pasted);
    if (can) this.socket.again();
    return can;
  }
}
