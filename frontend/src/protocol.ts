// Generated from gateway/protocol by "go run ./gateway/protocol/tsgen". Do not edit.
// A field is optional when Go leaves it out (omitempty, omitzero) and may be
// null when Go sends a null.

/** AgentsCreateParams: the id is made of the name. */
export interface AgentsCreateParams {
  name: string;
  /** default: beside the main one */
  workspace?: string;
  model?: string;
  emoji?: string;
  avatar?: string;
}

export interface AgentsCreateResult {
  ok: boolean;
  agentId: string;
  name: string;
  workspace: string;
  model?: string;
}

/** AgentsUpdateParams changes what is named. */
export interface AgentsUpdateParams {
  agentId: string;
  name?: string;
  workspace?: string;
  /** null: as the defaults say */
  model?: string | null;
  emoji?: string;
  avatar?: string;
}

export interface AgentsUpdateResult {
  ok: boolean;
  agentId: string;
}

/** AgentsDeleteParams: DeleteFiles is refused; folders are a person's to delete. */
export interface AgentsDeleteParams {
  agentId: string;
  deleteFiles?: boolean;
}

export interface AgentsDeleteResult {
  ok: boolean;
  agentId: string;
  removedBindings: number;
}

/**
 * AgentFile is a file of an agent's workspace. Content is only in answers about
 * one file.
 */
export interface AgentFile {
  name: string;
  path: string;
  missing: boolean;
  expectedAbsent?: boolean;
  size?: number;
  updatedAtMs?: number;
  hash?: string;
  content?: string;
  /** ours: why it cannot be read */
  hearthProblem?: string;
}

export interface AgentFilesParams {
  agentId: string;
}

export interface AgentFiles {
  agentId: string;
  workspace: string;
  files: AgentFile[];
}

export interface AgentFileParams {
  agentId: string;
  name: string;
}

export interface AgentFileResult {
  ok?: boolean;
  agentId: string;
  workspace: string;
  file: AgentFile;
}

/** AgentFileSetParams: with ExpectedHash, a file that changed since is refused. */
export interface AgentFileSetParams {
  agentId: string;
  name: string;
  content: string;
  expectedHash?: string;
}

// Decisions about a request as other gateways' clients name them.
export const DecisionAllowOnce = "allow-once";
export const DecisionAllowAlways = "allow-always";
export const DecisionDeny = "deny";

/** ApprovalRequest is what is asked for, as people are to be shown it. */
export interface ApprovalRequest {
  /** for other kinds than exec: the title */
  command: string;
  commandArgv?: string[];
  cwd: string | null;
  /** "gateway" */
  host: string;
  nodeId: string | null;
  agentId: string;
  sessionKey: string;
  sessionId?: string;
  runId?: string;
  toolCallId?: string;
  security: string;
  ask: string;
  allowedDecisions: string[];
  resolvedPath?: string;
  warningText?: string;
  /** What follows is ours. */
  hearthKind?: string;
  hearthTitle?: string;
  /**
   * HearthSays is the title in plain words, HearthFacts are the lines taken apart. Both
   * are for the languages of people; nothing stands there that the lines do not say.
   */
  hearthSays?: ApprovalSentence;
  hearthFacts?: ApprovalFact[];
  hearthWhy?: string;
  /** all of it, one fact a line, safe to show */
  hearthLines?: string[];
  hearthWarnings?: string[];
  /** once, session, here, program, folder, deny, never */
  hearthScopes?: string[];
  /** of scope folder, as people write it */
  hearthFolder?: string;
  /** who said the words that led here */
  hearthFrom?: string;
  /** how many requests this run has made */
  hearthAsked?: number;
  /** HearthUnconfined: it would run outside of the sandbox. HearthLines say so too. */
  hearthUnconfined?: boolean;
  /** HearthScripts are the files that decide what runs, as they were when it was asked. */
  hearthScripts?: ApprovalScript[];
}

/**
 * ApprovalSentence says in one sentence what is asked for. A client that has no
 * words for the code says the text.
 */
export interface ApprovalSentence {
  code: string;
  /** safe to show; "who" asks */
  params?: Record<string, string>;
  /** in English */
  text: string;
}

/** ApprovalFact is one fact of a request. */
export interface ApprovalFact {
  /** "" = the text speaks for itself */
  code?: string;
  /** the code's name in English */
  label?: string;
  /** safe to show */
  text: string;
  /** to be shown as it is, line by line */
  block?: boolean;
  /** Detail: it says how it is done, not what. Clients may fold it. */
  detail?: boolean;
}

/**
 * ApprovalScript is a file that decides what a command does. The yes is for the
 * content with this hash, and for no other.
 */
export interface ApprovalScript {
  path: string;
  /** SHA-256 of all of it, in hexadecimal */
  hash: string;
  /** of all of it, in bytes */
  size: number;
  /** lines of all of it */
  rows: number;
  /** safe to show, while the request waits; "" = see why */
  text: string;
  /** there is more of it than text */
  cut: boolean;
  /** there is no text */
  why: string;
}

/** Approval is a pending request. */
export interface Approval {
  id: string;
  request: ApprovalRequest;
  createdAtMs: number;
  expiresAtMs: number;
  /** "exec" */
  approvalKind?: string;
  /** State and what follows is ours, for requests that are over. */
  hearthState?: string;
  decision?: string;
  hearthScope?: string;
  resolvedBy?: string;
  hearthReason?: string;
}

/** ApprovalResolved is the event that ends one. */
export interface ApprovalResolved {
  id: string;
  /** "deny" also when it expired */
  decision: string;
  resolvedBy?: string;
  ts: number;
  request: ApprovalRequest;
  hearthScope?: string;
  hearthState: string;
  hearthReason?: string;
}

/** ApprovalIDParams name a request. */
export interface ApprovalIDParams {
  id: string;
}

/** ApprovalRequestParams ask on behalf of a client. */
export interface ApprovalRequestParams {
  /** not taken over: ours cannot be guessed */
  id?: string;
  command?: string;
  commandArgv?: string[];
  cwd?: string;
  env?: Record<string, string>;
  host?: string;
  agentId?: string;
  sessionKey?: string;
  timeoutMs?: number;
  twoPhase?: boolean;
}

/** ApprovalRequestResult: accepted at once (two phases), or with the decision. */
export interface ApprovalRequestResult {
  /** "accepted" */
  status?: string;
  id: string;
  /** null: nobody decided */
  decision: string | null;
  createdAtMs: number;
  expiresAtMs: number;
}

/** ApprovalResolveParams decide. HearthScope is ours and goes before Decision. */
export interface ApprovalResolveParams {
  id: string;
  decision: string;
  hearthScope?: string;
}

/** ApprovalRule is a decision that holds for longer than once. */
export interface ApprovalRule {
  id: string;
  /** session, here, program, folder, never */
  scope: string;
  kind: string;
  title: string;
  agentId: string;
  sessionKey?: string;
  dir?: string;
  program?: string;
  /** AnyArguments: the program may be started with any arguments in Dir. */
  anyArguments?: boolean;
  /** Unconfined: outside of the sandbox. */
  unconfined?: boolean;
  by: string;
  createdAtMs: number;
  expiresAtMs: number;
}

/** ApprovalRules lists them, the newest first. */
export interface ApprovalRules {
  rules: ApprovalRule[];
}

/**
 * ExecApprovals is the file of other gateways, made from the settings and the
 * rules. Agents hold the rules as an allowlist, to be read.
 */
export interface ExecApprovals {
  path: string;
  exists: boolean;
  hash: string;
  file: ExecApprovalsFile;
  resolvedDefaults: ExecDefaults;
}

/** ExecApprovalsFile is its content. */
export interface ExecApprovalsFile {
  version: number;
  defaults: ExecDefaults;
  agents: Record<string, ExecApprovalsAgent>;
}

/** ExecDefaults are how commands are decided. */
export interface ExecDefaults {
  security?: string;
  ask?: string;
  askFallback?: string;
  autoAllowSkills?: boolean;
}

/** ExecApprovalsAgent are the rules of one agent. */
export interface ExecApprovalsAgent {
  security?: string;
  ask?: string;
  askFallback?: string;
  autoAllowSkills?: boolean;
  allowlist?: ExecAllowlistItem[];
}

/** ExecAllowlistItem is one rule. */
export interface ExecAllowlistItem {
  id?: string;
  pattern: string;
  lastUsedAt?: number;
}

/**
 * ExecApprovalsSetParams change the settings of commands and remove rules that
 * are missing. Rules are made by decisions, not written.
 */
export interface ExecApprovalsSetParams {
  file: ExecApprovalsFile;
  baseHash?: string;
}

/**
 * AnyApproval is a request as methods for any kind of it show one. Each of ours
 * is shown as a command, whatever it is about.
 */
export interface AnyApproval {
  id: string;
  /** of the page, with the request */
  urlPath: string;
  createdAtMs: number;
  expiresAtMs: number;
  presentation: ApprovalPresentation;
  /** pending, allowed, denied, expired, cancelled */
  status: string;
  /** What follows stands there when it is over. */
  resolvedAtMs?: number;
  source?: ApprovalSource;
  resolver?: ApprovalDecider;
  decision?: string;
  /** user, no-route, timeout, run-aborted */
  reason?: string;
}

/** ApprovalPresentation is what people are shown. */
export interface ApprovalPresentation {
  /** "exec" */
  kind: string;
  commandText: string;
  warningText?: string;
  host?: string;
  agentId?: string;
  allowedDecisions: string[];
}

/** ApprovalSource is where a request came from. */
export interface ApprovalSource {
  agentId?: string;
  sessionKey?: string;
}

/** ApprovalDecider is who decided. */
export interface ApprovalDecider {
  /** runtime, system */
  kind: string;
  id?: string;
}

/** AnyApprovalResult holds one. */
export interface AnyApprovalResult {
  approval: AnyApproval;
}

/** AnyApprovalResolveParams decide. Kind must be that of the presentation. */
export interface AnyApprovalResolveParams {
  id: string;
  kind: string;
  decision: string;
  /** GrantExpiresInDays is for grants of schedules; rules have a time of their own. */
  grantExpiresInDays?: number;
}

/** AnyApprovalResolved tells how it ended; Applied is false when it had before. */
export interface AnyApprovalResolved {
  applied: boolean;
  approval: AnyApproval;
}

/** AnyApprovalHistoryParams ask for requests that are over, the newest first. */
export interface AnyApprovalHistoryParams {
  cursor?: string;
  /** at most 100 */
  limit?: number;
  kind?: string;
}

/** AnyApprovalHistory is a page of them. */
export interface AnyApprovalHistory {
  items: AnyApproval[];
  nextCursor?: string;
}

/** ModelsAuthStatus says which accounts there are at model services. */
export interface ModelsAuthStatus {
  ts: number;
  providers: ModelsAuthProvider[];
  providerCapabilities: ModelsAuthAbility[];
}

/**
 * ModelsAuthProvider is one service. Status is ok (a login), static (a key),
 * expired or missing.
 */
export interface ModelsAuthProvider {
  provider: string;
  authProvider: string;
  displayName: string;
  status: string;
  profiles: ModelsAuthProfile[];
  apiKey?: ModelsAuthKey;
  /** auth.order */
  order?: string[];
}

/** ModelsAuthKey is a key that is no stored account. */
export interface ModelsAuthKey {
  /** config, env */
  source: string;
}

/** ModelsAuthProfile is one account; it holds no secret. */
export interface ModelsAuthProfile {
  profileId: string;
  /** api_key, token, oauth */
  type: string;
  status: string;
  email?: string;
  /** stored, config, env */
  source?: string;
  /** ours: where its key may go */
  hosts?: string[];
  expiresAt?: number;
  usageStats?: unknown;
}

/** ModelsAuthAbility is how one can be known to a service. */
export interface ModelsAuthAbility {
  provider: string;
  apiKeySupported: boolean;
  quickApiKeySetup: boolean;
  loginOptions?: ModelsAuthOption[];
}

/** ModelsAuthOption is a way to log in. */
export interface ModelsAuthOption {
  id: string;
  brandId: string;
  label: string;
  hint: string;
  groupLabel: string;
  /** device-code, oauth */
  kind: string;
}

/** ModelsAuthLogoutParams removes accounts of a service, all when none is named. */
export interface ModelsAuthLogoutParams {
  provider: string;
  profileIds?: string[];
  /** "api_key": only keys */
  credentialType?: string;
}

/** ModelsAuthLogoutResult names what was removed. */
export interface ModelsAuthLogoutResult {
  provider: string;
  removedProfiles: string[];
}

/**
 * ModelsAuthOrderParams sets auth.order of a service; no accounts: they take
 * turns.
 */
export interface ModelsAuthOrderParams {
  provider: string;
  profileIds?: string[];
}

/** ModelsAuthSetKeyParams stores a key. */
export interface ModelsAuthSetKeyParams {
  /** empty: the key tells by how it begins */
  provider: string;
  apiKey: string;
  /** ours: of the account, "default" when empty */
  name?: string;
  /** ours: a bearer token, not a key */
  token?: boolean;
}

/** ModelsAuthSetKeyResult names the account. */
export interface ModelsAuthSetKeyResult {
  provider: string;
  profileId: string;
  warning?: string;
  /** ours: keychain, vault or plain */
  stored?: string;
  /** Imported is ours: all accounts, where one call made several. */
  imported?: string[];
}

/** ModelsAuthLoginParams is ours: it begins a login. */
export interface ModelsAuthLoginParams {
  provider: string;
}

/** ModelsAuthLogin is ours: what the person has to do. */
export interface ModelsAuthLogin {
  loginId: string;
  /** device-code, oauth */
  kind: string;
  url: string;
  userCode?: string;
  expiresAt: number;
}

/** ModelsAuthWaitParams is ours: LoginID of a login that is under way. */
export interface ModelsAuthWaitParams {
  loginId: string;
  /** 25 s when nothing is said, 60 s at most */
  timeoutMs?: number;
}

/** ModelsAuthWait is ours: how the login stands. */
export interface ModelsAuthWait {
  /** pending, done, failed */
  state: string;
  profileId?: string;
  error?: string;
}

/** ForeignLogins is ours: logins of other programs on the gateway's computer. */
export interface ForeignLogins {
  logins: ForeignLogin[];
}

/** ForeignLogin is one program. */
export interface ForeignLogin {
  id: string;
  name: string;
  path: string;
  provider: string;
  present: boolean;
  caution?: string;
}

/** ModelsAuthImportParams is ours: ID of a ForeignLogin. */
export interface ModelsAuthImportParams {
  id: string;
}

/** ModelsAuthAllowParams is ours: one more host for the key of an account. */
export interface ModelsAuthAllowParams {
  profileId: string;
  host: string;
}

/** AccountRest is what UsageStats says of times in which an account is not asked. */
export interface AccountRest {
  cooldownUntil: number;
  cooldownReason: string;
  cooldownModel: string;
  disabledUntil: number;
  disabledReason: string;
}

/** BackupStatus is how backups are. Times are milliseconds, 0 for never. */
export interface BackupStatus {
  /** "" = no place was chosen yet */
  folder?: string;
  /** who can open them (age1…) */
  recipients: string[];
  /** the place has a key under a passphrase */
  passphrase: boolean;
  /** they hold identity and keys */
  secrets: boolean;
  /** 0 = only when asked for */
  everyMs: number;
  lastAt?: number;
  nextAt?: number;
  running: boolean;
  /** of the last try */
  error?: string;
}

/**
 * BackupSetupParams choose the place. With a passphrase the place gets a key, or the
 * passphrase opens the one it has; with Recipient somebody's own age key opens the
 * backups.
 */
export interface BackupSetupParams {
  folder: string;
  passphrase?: string;
  recipient?: string;
  secrets?: boolean;
}

/** BackupCreateParams: Full makes one that stands by itself. */
export interface BackupCreateParams {
  full?: boolean;
}

/** BackupEntry is a backup in the place. */
export interface BackupEntry {
  name: string;
  at: number;
  full: boolean;
  /** the full one that it builds upon */
  base?: string;
  /** of its file */
  bytes: number;
}

/** BackupList is the newest first. */
export interface BackupList {
  folder: string;
  backups: BackupEntry[];
}

/** BackupMade is a backup that was made. */
export interface BackupMade {
  name: string;
  at: number;
  full: boolean;
  /** the full one that it builds upon */
  base?: string;
  /** of its file */
  bytes: number;
  files: number;
  /** bytes of all files */
  source: number;
  /** could not be read */
  left?: string[];
  /** became shorter while they were read */
  torn?: string[];
  /** what is not well although it was made */
  note?: string;
}

/** BackupPruned are those that were removed. */
export interface BackupPruned {
  removed: BackupEntry[];
}

/** BranchesParams name a session. */
export interface BranchesParams {
  sessionKey: string;
  agentId?: string;
}

/**
 * BranchesList is the branches of a session's transcript, the one that was written
 * last first.
 */
export interface BranchesList {
  branches: SessionBranch[];
}

/** SessionBranch is one way through a transcript, from its beginning to a leaf. */
export interface SessionBranch {
  leafEntryId: string;
  /** the last message of a person on it */
  headline: string;
  messageCount: number;
  /** as RFC 3339 */
  updatedAt?: string;
  active: boolean;
}

/**
 * BranchSwitchParams name the branch to use: its leaf, or any entry of it; of the
 * branches through that entry the one that was written last is used.
 */
export interface BranchSwitchParams {
  sessionKey: string;
  agentId?: string;
  leafEntryId: string;
}

/** EntryParams name an entry of the branch in use. */
export interface EntryParams {
  sessionKey: string;
  agentId?: string;
  entryId: string;
}

/** RewindResult: EditorText is the message that was gone back on, if it was one. */
export interface RewindResult {
  editorText?: string;
}

/** ForkResult: SessionKey is the new chat. */
export interface ForkResult {
  sessionKey: string;
  editorText?: string;
  /** Session is ours: the new chat as lists show it. */
  hearthSession?: SessionRow;
}

/**
 * ChatAgainParams answer a message again: the one that EntryID is, or that it
 * answers. IdempotencyKey becomes the run id. The result is that of chat.send.
 */
export interface ChatAgainParams {
  sessionKey: string;
  agentId?: string;
  entryId: string;
  /** other words; absent: the same message */
  message?: string;
  /** "provider/model", for this answer only */
  model?: string;
  idempotencyKey: string;
}

/** ChannelsStatus is the answer to channels.status. */
export interface ChannelsStatus {
  ts: number;
  channelOrder: string[];
  channelLabels: Record<string, string>;
  channels: Record<string, unknown>;
  channelAccounts: Record<string, ChannelAccountStatus[]>;
  channelDefaultAccountId: Record<string, string>;
}

export interface ChannelAccountStatus {
  accountId: string;
  enabled: boolean;
  configured: boolean;
  linked: boolean;
  running: boolean;
  connected: boolean;
  lastError?: string;
  /** of the bot, on the network */
  name?: string;
  /** LastInboundAt is when a message was accepted last since the start, in ms. */
  lastInboundAt?: number;
  dmPolicy?: string;
  allowFrom?: string[];
  /**
   * The rest is ours. State is starting, receiving, waiting (it will be tried
   * again), conflict, failed or stopped; Groups are those that the settings name.
   */
  hearthState?: string;
  hearthGroupPolicy?: string;
  hearthGroups?: string[];
}

/** ChannelKinds is ours: the networks that an account can be set up on, and how. */
export interface ChannelKinds {
  kinds: ChannelKind[];
}

/** ChannelKind is one network. */
export interface ChannelKind {
  id: string;
  label: string;
  /** what a person does there before, each a sentence */
  steps: string[];
  /** how they write to the account then */
  first?: string;
  /** Manifest is a file that the network makes an application of. */
  manifest?: ChannelManifest;
  settings: ChannelSetting[];
}

/** ChannelManifest is a file for a person to hand to a network. */
export interface ChannelManifest {
  name: string;
  text: string;
}

/** ChannelSetting is what an account is asked for. */
export interface ChannelSetting {
  key: string;
  /** secret, address, public-address, words, list, switch, port */
  form: string;
  about: string;
  /** what holds without it */
  unset?: string;
  needed?: boolean;
  /** of those that say so one is needed */
  oneOf?: boolean;
  /** a switch is on without it */
  on?: boolean;
}

/**
 * ChannelAddParams set an account up: Values are what a person typed, by the keys of
 * its network's settings. Secrets go to where keys are kept.
 */
export interface ChannelAddParams {
  channel: string;
  /** "" = default */
  accountId?: string;
  values: Record<string, string>;
}

/**
 * ChannelAdded says what became of it. With Wrong nothing was kept: what is wrong
 * with which value.
 */
export interface ChannelAdded {
  ok: boolean;
  /** Fresh: nothing of the account stood in the settings before. */
  fresh?: boolean;
  wrong?: Record<string, string>;
  notes?: string[];
}

/** ChannelAccountParams name an account. */
export interface ChannelAccountParams {
  channel: string;
  /** "" = default */
  accountId?: string;
}

/**
 * ChannelRemoveParams take an account out of the settings. With KeepRules only what
 * it is connected with goes; who may write to it stays.
 */
export interface ChannelRemoveParams {
  channel: string;
  accountId?: string;
  keepRules?: boolean;
}

/**
 * ChannelStarted is the answer to channels.start, and ChannelStopped that to
 * channels.stop. Either lasts: it is written into the settings.
 */
export interface ChannelStarted {
  channel: string;
  accountId: string;
  started: boolean;
}

export interface ChannelStopped {
  channel: string;
  accountId: string;
  stopped: boolean;
}

/**
 * WebLoginStartParams asks what a person does to log an account in. Without a channel
 * it is the one that asks for somebody; Force and Verbose are taken and change nothing.
 */
export interface WebLoginStartParams {
  channel?: string;
  accountId?: string;
  timeoutMs?: number;
  force?: boolean;
  verbose?: boolean;
  /**
   * Answer, ours, is that to an ask of the kind confirm: "yes" when another device shows
   * the same as Compared, "no" when it does not; or to one of the kind decide.
   */
  answer?: string;
  compared?: string;
}

/**
 * WebLoginWaitParams waits until the account is connected, or asks for something else
 * than the picture that the client shows.
 */
export interface WebLoginWaitParams {
  channel?: string;
  accountId?: string;
  sessionKey?: string;
  timeoutMs?: number;
  currentQrDataUrl?: string;
}

/** WebLogin is how far a login is. */
export interface WebLogin {
  connected: boolean;
  message: string;
  qrDataUrl?: string;
  /** ours */
  ask?: LoginAsk;
}

/**
 * LoginAsk is what a person has to do: scan a QR code, type a code, open an address,
 * read a text, compare one and answer, or decide (WebLoginStartParams.Answer).
 */
export interface LoginAsk {
  kind: string;
  value: string;
  expiresAtMs: number;
}

/** ContactsList is ours: who may write from messaging networks, and who asks to. */
export interface ContactsList {
  contacts: Contact[];
  requests: ContactRequest[];
  /** by the settings */
  listed: ListedSender[];
}

/**
 * ListedSender is somebody whom the settings let write (allowFrom) or make the
 * owner (commands.ownerAllowFrom).
 */
export interface ListedSender {
  channel: string;
  account: string;
  id: string;
  owner: boolean;
}

export interface Contact {
  channel: string;
  account: string;
  id: string;
  name?: string;
  handle?: string;
  owner: boolean;
  /** reads and writes in the owner's conversation; else in one of their own */
  shared: boolean;
  approvedAt: number;
}

export interface ContactRequest {
  channel: string;
  account: string;
  id: string;
  name?: string;
  handle?: string;
  code: string;
  askedAt: number;
  expiresAt: number;
}

/**
 * ContactResolveParams: Decision is approve or reject. Whoever is approved gets
 * a conversation of their own; Shared opens the owner's to them, and Owner says
 * that this is the owner, with their commands and their conversation.
 */
export interface ContactResolveParams {
  channel: string;
  code: string;
  decision: string;
  owner?: boolean;
  shared?: boolean;
}

/**
 * ContactSetParams changes what somebody who may write has. Without an Account
 * it is about every account to which the id may write.
 */
export interface ContactSetParams {
  channel: string;
  account?: string;
  id: string;
  owner?: boolean;
  shared?: boolean;
}

export interface ContactRemoveParams {
  channel: string;
  account: string;
  id: string;
}

/** DeliveriesList is ours: answers that have not reached their network. */
export interface DeliveriesList {
  deliveries: DeliveryInfo[];
  /**
   * Incomplete arrived, with words in the place of a file, or beside what was shown
   * of them while they were written: Reason says why.
   */
  incomplete: DeliveryInfo[];
  /** messages from networks that could not be handled */
  aside: AsideMessage[];
}

/**
 * AsideMessage is a message from a network that could not be handled and was
 * put aside until somebody says whether to try it again or to drop it.
 */
export interface AsideMessage {
  id: string;
  channel: string;
  account: string;
  conversation: string;
  senderId: string;
  reason: string;
  /** its beginning */
  text: string;
  at: number;
}

export interface DeliveryInfo {
  id: string;
  channel: string;
  account: string;
  conversation: string;
  sessionKey?: string;
  runId?: string;
  /** waiting, sending, failed, uncertain; of incomplete ones delivered */
  state: string;
  reason?: string;
  text?: string;
  /** messages that were confirmed */
  sent: number;
  /** messages in all */
  parts: number;
  createdAt: number;
  nextAt?: number;
  /**
   * Draft: it is only the beginning of an answer, shown while that was written. The
   * answer is a delivery of its own, so a draft is not sent again.
   */
  draft?: boolean;
  /** Stale: what was shown of the answer while it was written stands there still. */
  stale?: boolean;
}

/**
 * DeliveryResolveParams: Decision is resend (it may then arrive twice) or
 * arrived (somebody saw it; all there is for a draft); for a message that was put aside retry or drop.
 */
export interface DeliveryResolveParams {
  id: string;
  decision: string;
}

/** ChatSendParams submits a person's message. IdempotencyKey becomes the run id. */
export interface ChatSendParams {
  sessionKey: string;
  agentId?: string;
  message: string;
  idempotencyKey: string;
  thinking?: string;
  timeoutMs?: number;
  /** steer, followup, collect, interrupt; "" = the session's */
  queueMode?: string;
  /**
   * AwaitModel is ours: while no model was chosen to answer, the message waits
   * for one. Without it whatever is there answers, the built-in guide if need be.
   */
  hearthAwaitModel?: boolean;
  /**
   * SessionID is the transcript that the message is for: if the session has
   * another one, it is refused. ExpectedSessionID also refuses to make one.
   */
  sessionId?: string;
  expectedSessionId?: string;
  /** OpenClaw's settings of a session; ours have none, so that only null agrees. */
  expectedPermissionMode?: unknown;
  expectedToolOverrides?: unknown;
  /**
   * Deliver sends the answer to a messaging network too: to DeliverTo, which is ours
   * and has to be where the session's answers go still, or without it there.
   */
  deliver?: boolean;
  hearthDeliverTo?: DeliveryContext;
  /** Attachments are pictures and other files, at most MaxAttachments. */
  attachments?: Attachment[];
}

// MaxAttachments is how many files a message may have, and MaxAttachmentBytes how
// large each of those may be that are no pictures.
export const MaxAttachments = 8;
export const MaxAttachmentBytes = 26214400;

/** Attachment is one file of a message: its bytes, or an upload that brought them. */
export interface Attachment {
  /** image or file; "": what its bytes are */
  type?: string;
  mimeType?: string;
  fileName?: string;
  /** base64, or a data: address */
  content?: string;
  /** Upload is ours: the id of one that is whole (MethodUploadPut), in place of Content. */
  hearthUpload?: string;
}

/** AttachedFile is a file of a message that is no picture, and what became of it. */
export interface AttachedFile {
  name: string;
  mimeType?: string;
  size: number;
  /**
   * Kind is pdf, word, sheet, slides, html, epub, text, archive, audio, video, picture
   * or unknown; Unit is what it is made of: page, sheet, slide, chapter, file, or "".
   */
  kind: string;
  unit?: string;
  /** of those */
  total?: number;
  /** what else is known of it, in English */
  notes?: string[];
  /**
   * Given is how many of those the model was given, and Whole that it was given all of
   * the text. Neither is set before the message is sent.
   */
  given?: number;
  whole?: boolean;
  /** bytes of text that were found */
  text?: number;
  /** Path is where the file is kept in the workspace of the assistant. */
  path?: string;
  /**
   * Problem says why it has no text (encrypted, broken, bomb, no-text, too-much, foreign,
   * empty), and Why the same in English. It can be sent all the same.
   */
  problem?: string;
  why?: string;
}

// MaxUploadPart is how many bytes one UploadPutParams may bring.
export const MaxUploadPart = 4194304;

/**
 * UploadPutParams bring a part of a file. The first has no Upload, and says what the
 * file is; the next ones go on at Offset, which is what was received so far.
 */
export interface UploadPutParams {
  upload?: string;
  fileName?: string;
  mimeType?: string;
  /** of the whole file, in bytes */
  size?: number;
  offset?: number;
  /** base64 */
  content: string;
}

/** UploadPutResult: File is there once all of it was received and read. */
export interface UploadPutResult {
  upload: string;
  received: number;
  file?: AttachedFile;
}

/** UploadDropParams name an upload that is not to be sent. */
export interface UploadDropParams {
  upload: string;
}

/**
 * PromptTemplate is a prompt that a person keeps; Fields are the words in double braces
 * that are asked for.
 */
export interface PromptTemplate {
  name: string;
  about?: string;
  text: string;
  fields: string[];
}

/** PromptsList are all of them, by name. */
export interface PromptsList {
  prompts: PromptTemplate[];
}

// MaxArtifact is how many bytes an artifact may have.
export const MaxArtifact = 2097152;

/** ArtifactSaveParams bring what a model made in a conversation, as its person keeps it. */
export interface ArtifactSaveParams {
  sessionKey: string;
  fileName: string;
  content: string;
}

/** ArtifactSaved says where it lies, and where in the workspace that is. */
export interface ArtifactSaved {
  path: string;
  name: string;
}

/** MediaGetParams name a picture by a block's mediaId. */
export interface MediaGetParams {
  id: string;
}

/** Media is a picture. */
export interface Media {
  id: string;
  mimeType: string;
  width: number;
  height: number;
  /** base64 */
  content: string;
}

/**
 * ChatSendResult: Status is "started" the first time, "in_flight" while the
 * run of the same key lives, "ok" once it ended.
 */
export interface ChatSendResult {
  runId: string;
  status: string;
  /** Files is ours: what became of the files that are no pictures. */
  hearthFiles?: AttachedFile[];
}

export const SendStarted = "started";
export const SendInFlight = "in_flight";
export const SendOK = "ok";

export interface ChatHistoryParams {
  sessionKey: string;
  agentId?: string;
  /** 1…1000, default 200 */
  limit?: number;
  /** default and most MaxHistoryBytes */
  maxBytes?: number;
  /** cuts each text block */
  maxChars?: number;
  inputRunIds?: string[];
  /**
   * SessionID asks for one transcript of the session: the one in use, or one
   * that a reset put aside. "" is the one in use.
   */
  sessionId?: string;
  /** Before is ours: only messages with a smaller __openclaw.seq (paging back). */
  hearthBefore?: number;
}

/** ChatMetadataParams names a conversation or an assistant; neither is needed. */
export interface ChatMetadataParams {
  sessionKey?: string;
  agentId?: string;
}

/** ChatMetadata is what can be picked and typed in a conversation. */
export interface ChatMetadata {
  models: ModelInfo[];
  commands: CommandInfo[];
}

/**
 * ChatHistory is the newest page in conversation order. InFlightRun holds what
 * has been streamed so far, so a client that reconnects sees exactly what the
 * server has: subscribe first, then read.
 */
export interface ChatHistory {
  sessionKey: string;
  sessionId: string;
  messages: Message[];
  thinkingLevel?: string;
  totalMessages: number;
  hasMore: boolean;
  inputReceipts?: InputReceipt[];
  inFlightRun?: InFlightRun;
  /**
   * SessionInfo is the session as sessions.list shows it; nil for a transcript that
   * a reset put aside.
   */
  sessionInfo?: SessionRow;
  /** Branch is ours: as in SessionRow. */
  hearthBranch?: string;
  /** Earlier is ours: the conversation that stood here before this one began. */
  hearthEarlier?: Earlier;
}

export interface InputReceipt {
  runId: string;
  /** "consumed" */
  state: string;
  consumedByEventId?: string;
}

/**
 * InFlightRun is the live answer of a session: Text is what the transcript does
 * not hold yet, End is how far the whole answer has come in UTF-8 bytes,
 * comparable with ChatEvent.Offset and End.
 */
export interface InFlightRun {
  runId: string;
  text: string;
  end: number;
}

export interface ChatAbortParams {
  sessionKey: string;
  agentId?: string;
  /** empty: every run of the session, queued ones first */
  runId?: string;
}

export interface ChatAbortResult {
  ok: boolean;
  aborted: boolean;
  runIds: string[];
}

export interface ChatInjectParams {
  sessionKey: string;
  agentId?: string;
  message: string;
  label?: string;
}

export interface ChatInjectResult {
  ok: boolean;
  messageId: string;
}

// Chat event states.
export const ChatStatus = "status";
export const ChatDelta = "delta";
export const ChatFinal = "final";
export const ChatAborted = "aborted";
export const ChatError = "error";

/**
 * ChatEvent is the payload of event "chat". There is exactly one terminal
 * state (final, aborted, error) per run, and it carries the whole text.
 */
export interface ChatEvent {
  runId: string;
  sessionKey: string;
  agentId?: string;
  /** per run */
  seq: number;
  state: string;
  /** status: queued, starting_model, running_tool */
  phase?: string;
  /** delta: the new words */
  deltaText?: string;
  /** delta: cumulative (not with CapSlimDeltas); terminal: whole */
  message?: Message;
  stopReason?: string;
  usage?: Usage;
  /** plain words: what, why, what next */
  errorMessage?: string;
  /** refusal, timeout, rate_limit, context_length, unknown */
  errorKind?: string;
  /** Repair is ours: what can be done about the failure. */
  hearthRepair?: Repair;
  /**
   * Offset and End are ours, with CapSlimDeltas: DeltaText is bytes
   * [Offset, End) of the run's text in UTF-8.
   */
  offset?: number;
  end?: number;
}

/** AgentEvent is the payload of event "agent": run internals. */
export interface AgentEvent {
  runId: string;
  /** lifecycle, assistant, tool */
  stream: string;
  data: Record<string, unknown>;
  sessionKey?: string;
  sessionId?: string;
  agentId?: string;
  seq: number;
  ts: number;
}

/** AgentParams runs one turn; the method answers twice. */
export interface AgentParams {
  message: string;
  idempotencyKey: string;
  agentId?: string;
  sessionKey?: string;
  model?: string;
  thinking?: string;
  /** seconds */
  timeout?: number;
  /** ExpectedExistingSessionID is the transcript that the session must have. */
  expectedExistingSessionId?: string;
}

export interface AgentAccepted {
  runId: string;
  sessionKey: string;
  agentId: string;
  /** "accepted" */
  status: string;
  acceptedAt: number;
}

/** AgentResult is the second answer. */
export interface AgentResult {
  runId: string;
  /** ok, error */
  status: string;
  summary: string;
  result: AgentPayload;
}

export interface AgentPayload {
  payloads: AgentText[];
  meta: AgentMeta;
}

export interface AgentText {
  text: string;
  mediaUrl: string | null;
}

export interface AgentMeta {
  durationMs: number;
  agentMeta: AgentModelMeta;
}

export interface AgentModelMeta {
  sessionId: string;
  provider: string;
  model: string;
  usage?: Usage;
}

export interface AgentWaitParams {
  runId: string;
  /** default 30 s, most 10 min */
  timeoutMs?: number;
}

export interface AgentWaitResult {
  runId: string;
  /** ok, error, timeout */
  status: string;
  startedAt?: number;
  endedAt?: number;
  error?: string;
}

/**
 * CodeRunParams are ours: run one program with the tools of an agent, as code
 * mode runs a model's. With a RunID, what the program says comes as events that
 * carry it.
 */
export interface CodeRunParams {
  code: string;
  /** "javascript" (the default) or "typescript" */
  language?: string;
  sessionKey?: string;
  agentId?: string;
  runId?: string;
}

/** CodeRunResult is what became of it. */
export interface CodeRunResult {
  /** completed or failed */
  status: string;
  value?: unknown;
  error?: string;
  code?: string;
  line?: number;
  column?: number;
  output?: CodeOutput[];
  telemetry?: unknown;
  tookMs: number;
}

/** CodeOutput is one text() or json() of a program. */
export interface CodeOutput {
  type: string;
  text?: string;
  value?: unknown;
}

/** CodeOutputEvent is the event hearth.code.output; Seq counts from 0. */
export interface CodeOutputEvent {
  runId: string;
  seq: number;
  output: CodeOutput;
}

/**
 * ConfigSchema is what the settings may hold: JSON Schema, and beside it what a
 * form needs, by path ("*" for names that people choose, "[]" for entries of a
 * list).
 */
export interface ConfigSchema {
  schema: unknown;
  uiHints: Record<string, ConfigHint>;
  version: string;
  generatedAt: string;
}

/** ConfigHint is what is told about one key. */
export interface ConfigHint {
  label?: string;
  help?: string;
  /** the pane of the page's settings */
  group?: string;
  order?: number;
  advanced?: boolean;
  sensitive?: boolean;
  placeholder?: string;
  /** ours: the feature that it belongs to */
  hearthFeature?: string;
  /** ours: it names a model */
  hearthModel?: boolean;
  /** ours: the two values of a choice that is a switch */
  hearthOn?: string;
  hearthOff?: string;
  /** ours: the path without which none of the choices holds */
  hearthWhole?: string;
}

// When a change of a key is put to use.
export const ReloadHot = "hot";
export const ReloadRestart = "restart";

/** ConfigLookupParams names one place of the settings. */
export interface ConfigLookupParams {
  path: string;
}

/** ConfigLookup is what is known of one place, and what is directly below it. */
export interface ConfigLookup {
  path: string;
  schema: unknown;
  reloadKind?: string;
  hint?: ConfigHint;
  hintPath?: string;
  children: ConfigChild[];
}

/** ConfigChild is a key below such a place. */
export interface ConfigChild {
  key: string;
  path: string;
  type?: unknown;
  required: boolean;
  hasChildren: boolean;
  reloadKind?: string;
  hint?: ConfigHint;
  hintPath?: string;
}

/** Challenge is the first event on a socket. */
export interface Challenge {
  nonce: string;
  ts: number;
}

/** ConnectParams is the first request of a client. */
export interface ConnectParams {
  minProtocol: number;
  maxProtocol: number;
  client: ClientInfo;
  role?: Role;
  scopes?: Scope[];
  caps?: string[];
  /** Commands, Permissions and PathEnv are what a node says that it can do. */
  commands?: string[];
  permissions?: Record<string, boolean>;
  pathEnv?: string;
  device?: DeviceAuth;
  auth?: Auth;
  locale?: string;
  userAgent?: string;
}

/** ClientInfo says what a client is; it is a claim, never an authority. */
export interface ClientInfo {
  id: string;
  mode: string;
  version: string;
  platform: string;
  displayName?: string;
  deviceFamily?: string;
  modelIdentifier?: string;
  instanceId?: string;
  timeZone?: string;
}

/** DeviceAuth proves possession of a device key for one challenge. */
export interface DeviceAuth {
  id: string;
  publicKey: string;
  signature: string;
  signedAt: number;
  nonce: string;
}

/** Auth holds the credentials that a client presents; they are alternatives. */
export interface Auth {
  token?: string;
  password?: string;
  deviceToken?: string;
  bootstrapToken?: string;
}

/**
 * HelloOK is the answer to connect. Apple clients decode it strictly: every
 * field without omitempty is required and integers must be integers.
 */
export interface HelloOK {
  /** "hello-ok" */
  type: string;
  protocol: number;
  server: ServerInfo;
  features: Features;
  snapshot: Snapshot;
  auth: HelloAuth;
  policy: HelloPolicy;
}

/**
 * ServerInfo names this gateway process. BootID changes with every start, so a
 * client knows that nothing it remembers of the socket is left.
 */
export interface ServerInfo {
  version: string;
  connId: string;
  bootId?: string;
  controlUiBuildSource?: string;
}

/** Features lists only what is implemented. */
export interface Features {
  methods: string[];
  events: string[];
  capabilities: string[];
}

/** Snapshot is the state at hello. */
export interface Snapshot {
  presence: PresenceEntry[];
  health: Health;
  stateVersion: StateVersion;
  uptimeMs: number;
  configPath?: string;
  stateDir?: string;
  authMode?: string;
  sessionDefaults?: SessionDefaults;
}

/** SessionDefaults decides which session a client opens. */
export interface SessionDefaults {
  defaultAgentId: string;
  mainKey: string;
  mainSessionKey: string;
  scope?: string;
  modelConfigured: boolean;
}

/** HelloAuth is what this connection may do. */
export interface HelloAuth {
  role: Role;
  scopes: Scope[];
  method?: string;
  deviceToken?: string;
  issuedAtMs?: number;
  /** DeviceTokens are those of further roles that a setup code gave. */
  deviceTokens?: RoleToken[];
  /**
   * Pins is ours, for devices of other machines: the gateway's key and, while it is
   * being changed, the next one.
   */
  hearthPins?: string[];
}

/** RoleToken is the token of a device for one role. */
export interface RoleToken {
  deviceToken: string;
  role: Role;
  scopes: Scope[];
  issuedAtMs: number;
}

/** HelloPolicy tells the limits. */
export interface HelloPolicy {
  maxPayload: number;
  maxBufferedBytes: number;
  tickIntervalMs: number;
}

/** PresenceEntry is one connected party; the gateway itself comes first. */
export interface PresenceEntry {
  host?: string;
  ip?: string;
  version?: string;
  platform?: string;
  deviceFamily?: string;
  mode?: string;
  reason?: string;
  text?: string;
  deviceId?: string;
  instanceId?: string;
  clientId?: string;
  roles?: Role[];
  scopes?: Scope[];
  ts: number;
  /** HearthView is ours: the chat that somebody looks at there. */
  hearthView?: string;
}

// Kinds of schedules.
export const CronAt = "at";
export const CronEvery = "every";
export const CronExpr = "cron";
export const CronOnExit = "on-exit";
export const CronStream = "stream";
/** ours: when something that is watched has changed */
export const CronWatch = "watch";

// Kinds of payloads: what a job does when it is due.
export const CronSystemEvent = "systemEvent";
export const CronAgentTurn = "agentTurn";
export const CronCommand = "command";
export const CronScript = "script";
/** the gateway's own job */
export const CronHeartbeat = "heartbeat";

// Where a job's words go; "session:<key>" is the fourth.
export const CronMain = "main";
export const CronIsolated = "isolated";
export const CronCurrent = "current";
export const CronSessionPrefix = "session:";

// When a job's words are acted upon.
export const CronWakeNow = "now";
export const CronWakeNext = "next-heartbeat";

// Where the result of a job goes.
export const CronDeliverNone = "none";
export const CronDeliverAnnounce = "announce";
export const CronDeliverWebhook = "webhook";

// How a run ended.
export const CronOK = "ok";
export const CronError = "error";
export const CronSkipped = "skipped";

// What became of the delivery of a result. Delivered is the network's own
// receipt and nothing else.
export const CronDelivered = "delivered";
export const CronNotDelivered = "not-delivered";
export const CronUnknown = "unknown";
export const CronNotRequested = "not-requested";

// Why a job was disabled by itself.
export const CronTooManyFailures = "consecutive-failures";
export const CronScheduleErrors = "schedule-errors";

/** CronSchedule says when. Which fields count depends on Kind. */
export interface CronSchedule {
  kind: string;
  /** at: ISO time */
  at?: string;
  /** every */
  everyMs?: number;
  /** every: from when it is counted */
  anchorMs?: number;
  /** cron: five or six fields */
  expr?: string;
  /** cron: "" = the person's zone */
  tz?: string;
  /** cron: within how much of the slot it begins; 0 = exactly */
  staggerMs?: number;
  /** on-exit: a line; stream: a list */
  command?: unknown;
  /** on-exit, stream */
  cwd?: string;
  /** stream: line, match */
  mode?: string;
  /** stream: what a line has to contain */
  match?: string;
  /** stream */
  batchMs?: number;
  maxBatchBytes?: number;
  /** watch */
  watch?: CronWatched;
}

// Kinds of what is watched.
export const WatchFile = "file";
export const WatchPage = "page";
export const WatchFeed = "feed";
export const WatchCalendar = "calendar";
export const WatchMail = "mail";
export const WatchOutput = "output";

/** CronWatched is what is watched. Which fields count depends on Source. */
export interface CronWatched {
  source: string;
  /** file: of a file or folder; calendar: of an .ics file */
  path?: string;
  /** page, feed, calendar; mail: imaps://host */
  url?: string;
  /** page: which part, as in CSS */
  selector?: string;
  /** file: names like "*.pdf" */
  match?: string;
  /** file: folders in it too */
  deep?: boolean;
  /** mail: "" = INBOX */
  folder?: string;
  /** mail: only from these addresses */
  from?: string[];
  /** calendar, mail */
  user?: string;
  /** calendar, mail: where the password is, such as keychain:mail */
  secret?: string;
  /** output */
  argv?: string[];
  /** calendar: also so long before an event begins */
  aheadMs?: number;
  /** how often it is looked at; 0: by its kind */
  everyMs?: number;
  /**
   * Near allows an address of this computer or its network, which a person has to
   * say.
   */
  near?: boolean;
}

/** CronPacing bounds when the next check is, where a job says so itself. */
export interface CronPacing {
  min?: string;
  max?: string;
}

/** CronTrigger is a script that says whether the payload runs at all. */
export interface CronTrigger {
  script: string;
  once?: boolean;
}

/** CronPayload is what is done. Which fields count depends on Kind. */
export interface CronPayload {
  kind: string;
  /** systemEvent */
  text?: string;
  /** agentTurn */
  message?: string;
  /** agentTurn: provider/model */
  model?: string;
  /** agentTurn: in the place of the configured ones; empty: none */
  fallbacks?: string[];
  thinking?: string;
  timeoutSeconds?: number;
  allowUnsafeExternalContent?: boolean;
  lightContext?: boolean;
  /** empty: no tools */
  toolsAllow?: string[];
  toolsAllowIsDefault?: boolean;
  /** command */
  argv?: string[];
  cwd?: string;
  env?: Record<string, string>;
  input?: string;
  noOutputTimeoutSeconds?: number;
  outputMaxBytes?: number;
  /** script: a program of code mode */
  script?: string;
  toolBudget?: number;
}

/** CronThread is a thread's id, which some clients send as a number. */
export type CronThread = string;

/** CronDestination is where failures or completions are told. */
export interface CronDestination {
  /** announce, webhook */
  mode?: string;
  channel?: string;
  to?: string;
  accountId?: string;
}

/** CronDelivery says where the result goes. */
export interface CronDelivery {
  mode: string;
  /** "last" or a network */
  channel?: string;
  /** somebody there, or an address of webhooks */
  to?: string;
  accountId?: string;
  threadId?: CronThread;
  bestEffort?: boolean;
  failureDestination?: CronDestination;
  completionDestination?: CronDestination;
}

/** CronFailureAlert says when failures are told. In a job it may be false: never. */
export interface CronFailureAlert {
  after?: number;
  cooldownMs?: number;
  includeSkipped?: boolean;
  mode?: string;
  channel?: string;
  to?: string;
  accountId?: string;
}

/** CronOwner is who made a job. */
export interface CronOwner {
  agentId?: string;
  sessionKey?: string;
  accountId?: string;
}

/**
 * CronCatchUp says what becomes of slots that were missed: once, skip or all, for
 * those that are not older than Within ("6h").
 */
export interface CronCatchUp {
  mode: string;
  within?: string;
}

/** CronWatching is how a watcher is. */
export interface CronWatching {
  lookedAtMs?: number;
  nextLookAtMs?: number;
  /** why the last look failed */
  problem?: string;
}

/**
 * CronOwn are the parts of a job that are ours. What stands below the line is
 * told, not set.
 */
export interface CronOwn {
  /** Hearth's own job: its settings make it */
  system?: boolean;
  catchUp?: CronCatchUp;
  /** of a run */
  maxCostUsd?: number;
  /** of all runs of a day */
  maxCostUsdPerDay?: number;
  maxRunsPerDay?: number;
  /** Important asks again until somebody has seen it. */
  important?: boolean;
  /** after how long; 0 = ten minutes */
  againMs?: number;
  reminder?: boolean;
  /** Words is the schedule as a person says it, Zone whose times these are. */
  words?: string;
  zone?: string;
  warning?: string;
  /** the next few times */
  next?: number[];
  /** Watching is how a watcher is. */
  watching?: CronWatching;
}

/** CronAutoDisabled says why a job was disabled by itself. */
export interface CronAutoDisabled {
  reason: string;
  atMs: number;
  consecutiveErrors: number;
}

/** CronDiagnostic is a remark about a run. */
export interface CronDiagnostic {
  ts: number;
  /** cron-preflight, cron-setup, model-preflight, agent-run, tool, exec, delivery */
  source: string;
  /** info, warn, error */
  severity: string;
  message: string;
  exitCode?: number;
}

/** CronDiagnostics are the remarks about a run. */
export interface CronDiagnostics {
  summary?: string;
  entries: CronDiagnostic[];
}

/** CronJobState is what the gateway knows of a job. */
export interface CronJobState {
  nextRunAtMs?: number;
  scheduleActivatedAtMs?: number;
  runningAtMs?: number;
  lastRunAtMs?: number;
  lastRunStatus?: string;
  /** the same, as older clients read it */
  lastStatus?: string;
  lastError?: string;
  lastErrorReason?: string;
  lastDiagnostics?: CronDiagnostics;
  lastDiagnosticSummary?: string;
  lastDurationMs?: number;
  consecutiveErrors?: number;
  consecutiveSkipped?: number;
  autoDisabled?: CronAutoDisabled;
  lastDelivered?: boolean;
  lastDeliveryStatus?: string;
  lastDeliveryError?: string;
  deliverySuppressionReason?: string;
  lastFailureNotificationDeliveryStatus?: string;
  lastFailureAlertAtMs?: number;
  lastTriggerEvalAtMs?: number;
  triggerEvalCount?: number;
  lastTriggerFireAtMs?: number;
  triggerState?: unknown;
  streamStatus?: string;
  streamError?: string;
  streamConsecutiveFailures?: number;
  streamRestartExhausted?: boolean;
  streamLastStartedAtMs?: number;
  streamLastExitAtMs?: number;
}

/** CronSpec is what a person or a program says about a job. */
export interface CronSpec {
  name: string;
  declarationKey?: string;
  displayName?: string;
  owner?: CronOwner;
  agentId?: string;
  sessionKey?: string;
  description?: string;
  /** nil = true; always there in answers */
  enabled?: boolean;
  deleteAfterRun?: boolean;
  schedule: CronSchedule;
  pacing?: CronPacing;
  trigger?: CronTrigger;
  sessionTarget: string;
  wakeMode: string;
  payload: CronPayload;
  delivery?: CronDelivery;
  /** false or a CronFailureAlert */
  failureAlert?: unknown;
  hearth?: CronOwn;
}

/** CronJob is a job as clients see it. */
export interface CronJob {
  id: string;
  name: string;
  declarationKey?: string;
  displayName?: string;
  owner?: CronOwner;
  agentId?: string;
  sessionKey?: string;
  description?: string;
  /** nil = true; always there in answers */
  enabled?: boolean;
  deleteAfterRun?: boolean;
  schedule: CronSchedule;
  pacing?: CronPacing;
  trigger?: CronTrigger;
  sessionTarget: string;
  wakeMode: string;
  payload: CronPayload;
  delivery?: CronDelivery;
  /** false or a CronFailureAlert */
  failureAlert?: unknown;
  hearth?: CronOwn;
  createdAtMs: number;
  updatedAtMs: number;
  configRevision?: string;
  state: CronJobState;
  effectiveAgentId?: string;
  /** These repeat what stands in State. */
  nextRunAtMs?: number;
  lastRunAtMs?: number;
  lastRunStatus?: string;
  lastRunError?: string;
  lastDelivered?: boolean;
  lastDeliveryStatus?: string;
  lastDeliveryError?: string;
}

/** CronIDParams name a job, under either of two names. */
export interface CronIDParams {
  id?: string;
  jobId?: string;
}

/** CronListParams filter and page the list of jobs. */
export interface CronListParams {
  sessionKey?: string;
  includeDisabled?: boolean;
  /** 1 to 200; nil = 50 */
  limit?: number;
  offset?: number;
  query?: string;
  /** all, enabled, disabled */
  enabled?: string;
  /** all, at, every, cron, on-exit, stream */
  scheduleKind?: string;
  /** all, ok, error, skipped, unknown */
  lastRunStatus?: string;
  /** all, conditional, unconditional */
  trigger?: string;
  /** nextRunAtMs, updatedAtMs, name */
  sortBy?: string;
  /** asc, desc */
  sortDir?: string;
  agentId?: string;
  compact?: boolean;
  includeDeliveryPreviews?: boolean;
}

/** CronDeliveryPreview says where the result of a job would go now. */
export interface CronDeliveryPreview {
  label: string;
  detail: string;
}

/** CronList is one page of jobs. */
export interface CronList {
  jobs: CronJob[];
  total: number;
  offset: number;
  limit: number;
  hasMore: boolean;
  nextOffset: number | null;
  snapshotRevision: string;
  deliveryPreviews?: Record<string, CronDeliveryPreview>;
}

/** CronStatus is how schedules are. */
export interface CronStatus {
  enabled: boolean;
  triggersEnabled: boolean;
  storePath: string;
  jobs: number;
  nextWakeAtMs: number | null;
  /** Waiting says why nothing is run just now; "" = nothing keeps it. */
  waiting?: string;
}

/**
 * CronAddParams is a new job. With a declarationKey that exists, that job becomes
 * what is said here.
 */
export interface CronAddParams {
  name: string;
  declarationKey?: string;
  displayName?: string;
  owner?: CronOwner;
  agentId?: string;
  sessionKey?: string;
  description?: string;
  /** nil = true; always there in answers */
  enabled?: boolean;
  deleteAfterRun?: boolean;
  schedule: CronSchedule;
  pacing?: CronPacing;
  trigger?: CronTrigger;
  sessionTarget: string;
  wakeMode: string;
  payload: CronPayload;
  delivery?: CronDelivery;
  /** false or a CronFailureAlert */
  failureAlert?: unknown;
  hearth?: CronOwn;
}

/** CronAdded is the new job; for a declaration it says what became of it. */
export interface CronAdded {
  id: string;
  name: string;
  declarationKey?: string;
  displayName?: string;
  owner?: CronOwner;
  agentId?: string;
  sessionKey?: string;
  description?: string;
  /** nil = true; always there in answers */
  enabled?: boolean;
  deleteAfterRun?: boolean;
  schedule: CronSchedule;
  pacing?: CronPacing;
  trigger?: CronTrigger;
  sessionTarget: string;
  wakeMode: string;
  payload: CronPayload;
  delivery?: CronDelivery;
  /** false or a CronFailureAlert */
  failureAlert?: unknown;
  hearth?: CronOwn;
  createdAtMs: number;
  updatedAtMs: number;
  configRevision?: string;
  state: CronJobState;
  effectiveAgentId?: string;
  /** These repeat what stands in State. */
  nextRunAtMs?: number;
  lastRunAtMs?: number;
  lastRunStatus?: string;
  lastRunError?: string;
  lastDelivered?: boolean;
  lastDeliveryStatus?: string;
  lastDeliveryError?: string;
  created?: boolean;
  updated?: boolean;
  job?: CronJob;
  deliveryPreview?: CronDeliveryPreview;
}

/**
 * CronUpdateParams change a job. Patch is a part of a job: what it does not name
 * stays, null takes away, schedule is replaced as a whole, and so is a payload of
 * another kind.
 */
export interface CronUpdateParams {
  id?: string;
  jobId?: string;
  patch: unknown;
  expectedConfigRevision?: string;
}

/** CronRemoved says whether there was such a job. */
export interface CronRemoved {
  ok: boolean;
  removed: boolean;
}

/** CronRunParams run a job now. Mode: force (the default), due, if-enabled. */
export interface CronRunParams {
  id?: string;
  jobId?: string;
  mode?: string;
  expectedProcessInstanceId?: string;
}

/** CronRunStarted says whether a run was begun, and why not. */
export interface CronRunStarted {
  ok: boolean;
  enqueued?: boolean;
  /** false when it was not begun */
  ran?: boolean;
  runId?: string;
  /** not-due, already-running, disabled, invalid-spec, stopped */
  reason?: string;
  processInstanceId?: string;
}

/** CronRunsParams filter and page the log of runs. */
export interface CronRunsParams {
  id?: string;
  jobId?: string;
  agentId?: string;
  /** job, all */
  scope?: string;
  runId?: string;
  /** 1 to 200; nil = 50 */
  limit?: number;
  offset?: number;
  statuses?: string[];
  /** all, ok, error, skipped */
  status?: string;
  deliveryStatuses?: string[];
  deliveryStatus?: string;
  query?: string;
  sortDir?: string;
}

/** CronUsage are the tokens of a run. */
export interface CronUsage {
  input_tokens?: number;
  output_tokens?: number;
  total_tokens?: number;
  cache_read_tokens?: number;
  cache_write_tokens?: number;
}

/** CronTarget is where a result was meant to go. */
export interface CronTarget {
  channel?: string;
  to?: string;
  accountId?: string;
  threadId?: CronThread;
  /** explicit, last */
  source?: string;
}

/** CronDeliveryTrace says where a result was meant to go and whether it arrived. */
export interface CronDeliveryTrace {
  intended?: CronTarget;
  delivered?: boolean;
}

/** CronAlertDelivery says what became of telling a failure. */
export interface CronAlertDelivery {
  delivered?: boolean;
  status: string;
  error?: string;
}

/** CronRunOwn are the parts of a run that are ours. */
export interface CronRunOwn {
  /** the planned instant; 0 = started by hand */
  slotMs?: number;
  /** what its model calls cost */
  costUsd?: number;
  /** made up for a slot that was missed */
  late?: boolean;
  /** slots that this run stands for beside its own */
  missed?: number;
  deliveryId?: string;
  /** claimed, running, delivering, done */
  state?: string;
  important?: boolean;
  seenAtMs?: number;
}

/** CronRun is one row of the log of runs. */
export interface CronRun {
  ts: number;
  jobId: string;
  jobName?: string;
  /** finished */
  action: string;
  runId?: string;
  status?: string;
  /** succeeded, failed, unknown */
  completionStatus?: string;
  error?: string;
  errorReason?: string;
  summary?: string;
  diagnostics?: CronDiagnostics;
  delivered?: boolean;
  deliveryStatus?: string;
  deliveryError?: string;
  deliverySuppressionReason?: string;
  failureNotificationDelivery?: CronAlertDelivery;
  delivery?: CronDeliveryTrace;
  sessionId?: string;
  sessionKey?: string;
  runAtMs?: number;
  durationMs?: number;
  nextRunAtMs?: number;
  triggerFired?: boolean;
  model?: string;
  provider?: string;
  usage?: CronUsage;
  hearth?: CronRunOwn;
}

/** CronRuns is one page of the log, newest first unless asked otherwise. */
export interface CronRuns {
  entries: CronRun[];
  total: number;
  offset: number;
  limit: number;
  hasMore: boolean;
  nextOffset: number | null;
}

/** CronScratch is what a job keeps from run to run. */
export interface CronScratch {
  content: string;
  revision: number;
  updatedAtMs: number;
}

/**
 * CronScratchSetParams: Content nil takes it away. ExpectedRevision 0 means that
 * there is none yet; absent, it is not compared.
 */
export interface CronScratchSetParams {
  id?: string;
  jobId?: string;
  content: string | null;
  expectedRevision?: number;
}

/**
 * CronScratchState answers both methods of scratch; OK and Reason only the one
 * that sets.
 */
export interface CronScratchState {
  ok?: boolean;
  /** revision-conflict */
  reason?: string;
  scratch: CronScratch | null;
  currentRevision: number;
  maxBytes?: number;
}

/** CronEvent says that a job was added, updated, removed, started or finished. */
export interface CronEvent {
  jobId: string;
  action: string;
  job?: CronJob;
  runId?: string;
  sessionKey?: string;
  sessionId?: string;
  runAtMs?: number;
  durationMs?: number;
  status?: string;
  completionStatus?: string;
  error?: string;
  summary?: string;
  delivered?: boolean;
  deliveryStatus?: string;
  deliveryError?: string;
  nextRunAtMs?: number;
  model?: string;
  provider?: string;
  usage?: CronUsage;
  delivery?: CronDeliveryTrace;
  hearth?: CronRunOwn;
}

/** WakeParams put words into a session and, with mode now, have them looked at. */
export interface WakeParams {
  /** now, next-heartbeat */
  mode: string;
  text: string;
  sessionKey?: string;
  agentId?: string;
}

/** SetHeartbeatsParams switch heartbeats until the next start. */
export interface SetHeartbeatsParams {
  enabled: boolean | null;
}

/** SetHeartbeatsResult repeats what holds now. */
export interface SetHeartbeatsResult {
  ok: boolean;
  enabled: boolean;
}

/**
 * HeartbeatEvent is what became of a heartbeat; last-heartbeat answers null
 * before the first.
 */
export interface HeartbeatEvent {
  ts: number;
  /** sent, ok-empty, ok-token, skipped, failed */
  status: string;
  to?: string;
  accountId?: string;
  preview?: string;
  durationMs?: number;
  reason?: string;
  channel?: string;
  silent?: boolean;
}

/**
 * CronPreviewParams ask what a schedule means, before it is one. Text is a
 * schedule in words ("20m", "every weekday at 9", "0 9 * * 1-5"); it or Schedule
 * is given.
 */
export interface CronPreviewParams {
  text?: string;
  schedule?: CronSchedule;
  /** of Text; "" = the person's */
  tz?: string;
  count?: number;
}

/** CronPreview says when it would run. Error is why it is none, for a person. */
export interface CronPreview {
  schedule?: CronSchedule;
  words?: string;
  zone?: string;
  next: number[];
  warning?: string;
  error?: string;
}

/** CronCalendarParams ask for the slots of a span of at most 62 days. */
export interface CronCalendarParams {
  fromMs: number;
  toMs: number;
}

/** CronSlot is one planned run. */
export interface CronSlot {
  jobId: string;
  name: string;
  atMs: number;
}

/**
 * CronCalendar are planned runs, in order. Jobs that are due more often than
 * hourly stand in Often instead.
 */
export interface CronCalendar {
  slots: CronSlot[];
  /** with the first slot of each */
  often: CronSlot[];
  truncated?: boolean;
  zone: string;
}

/** CronMissedJob is what became of the missed slots of a job. */
export interface CronMissedJob {
  jobId: string;
  name: string;
  /** slots */
  missed: number;
  /** late, skipped, asking */
  outcome: string;
  /** the last of them */
  slotMs: number;
  runId?: string;
}

/**
 * CronMissed is the card "while I slept". Cause: slept, off, clock. Ask: nothing
 * is run before somebody says so with hearth.cron.missed.resolve.
 */
export interface CronMissed {
  /** "" = nothing was missed */
  id?: string;
  fromMs?: number;
  toMs?: number;
  cause?: string;
  ask?: boolean;
  jobs: CronMissedJob[];
  words?: string;
}

/**
 * CronMissedParams puts the card away; where it asked, Run says whether the
 * missed slots are made up for.
 */
export interface CronMissedParams {
  id: string;
  run?: boolean;
}

/** CronSnoozeParams remind again later: of a run, or of a job's next one. */
export interface CronSnoozeParams {
  id?: string;
  jobId?: string;
  runId?: string;
  /** 0 = ten */
  minutes?: number;
}

/** CronSeenParams say that somebody has seen what a run told. */
export interface CronSeenParams {
  runId: string;
}

/**
 * CronActParams say what becomes of a job, as a person says it with /cron in a
 * chat, or gives it another time.
 */
export interface CronActParams {
  id?: string;
  jobId?: string;
  /** run, pause, resume, delete, plan */
  do: string;
  /** plan: the time in words */
  when?: string;
}

/** CronActed is what became of it. Begun: a run was; Job is nil when it is gone. */
export interface CronActed {
  ok: boolean;
  begun?: boolean;
  job?: CronJob;
}

/**
 * CronWatchTestParams say what is looked at: what a job watches, or something that
 * may become one.
 */
export interface CronWatchTestParams {
  id?: string;
  watch?: CronWatched;
}

/** CronWatchTest is what was seen. */
export interface CronWatchTest {
  ok: boolean;
  problem?: string;
  count: number;
  /** the last of them */
  items: CronWatchItem[];
}

/** CronWatchItem is something that is there; its words are from outside. */
export interface CronWatchItem {
  title: string;
  text?: string;
  link?: string;
}

/**
 * CronProposal is something that the assistant said it would do, and that becomes
 * a job when the person says yes.
 */
export interface CronProposal {
  id: string;
  agentId?: string;
  sessionKey: string;
  /** reminder, task */
  kind: string;
  text: string;
  schedule: CronSchedule;
  /** the schedule, as a person says it */
  words: string;
  zone?: string;
  /** its first time */
  atMs: number;
  createdAtMs: number;
}

/** CronProposals are those that nobody has answered yet, the oldest first. */
export interface CronProposals {
  proposals: CronProposal[];
}

/**
 * CronProposalParams answer a proposal. With When, in a person's words, it is
 * another time.
 */
export interface CronProposalParams {
  id: string;
  yes: boolean;
  when?: string;
}

/** CronProposalAnswered says what came of it. */
export interface CronProposalAnswered {
  ok: boolean;
  job?: CronJob;
}

// Version is the only protocol number that both client generations use.
export const Version = 4;

// Limits of the wire, in bytes or milliseconds. They are part of the contract:
// clients are told the first three in hello-ok.
/** one message after hello */
export const MaxPayload = 26214400;
/** told to clients; our own limit for a slow one is lower */
export const MaxBuffered = 52428800;
export const TickIntervalMs = 30000;
/** one message before hello */
export const MaxPreAuth = 65536;
/** nesting of any JSON from outside */
export const MaxDepth = 64;
/** one chat.history answer */
export const MaxHistoryBytes = 6291456;
export const SignatureSkewMs = 120000;
export const MaxIdempotencyID = 256;
export const MaxSessionKey = 512;
/** a person's message */
export const MaxMessageText = 1048576;

/** Code is the closed set of top-level error codes (protocol.md §3.1). */
export type Code = "INVALID_REQUEST" | "FORBIDDEN" | "NOT_PAIRED" | "UNAVAILABLE" | "NOT_LINKED" | "AGENT_TIMEOUT";

export const CodeInvalidRequest = "INVALID_REQUEST";
export const CodeForbidden = "FORBIDDEN";
export const CodeNotPaired = "NOT_PAIRED";
export const CodeUnavailable = "UNAVAILABLE";
export const CodeNotLinked = "NOT_LINKED";
export const CodeAgentTimeout = "AGENT_TIMEOUT";

/**
 * Error is what a client sees. Message is for people: what happened, why, and
 * what to do next. Details.code (when present) is for programs.
 */
export interface Error {
  code: Code;
  message: string;
  details?: Record<string, unknown>;
  retryable?: boolean;
  retryAfterMs?: number;
}

// Event names.
export const EventConnectChallenge = "connect.challenge";
export const EventTick = "tick";
export const EventHealth = "health";
export const EventPresence = "presence";
export const EventShutdown = "shutdown";
export const EventChat = "chat";
export const EventAgent = "agent";
export const EventSessionsChanged = "sessions.changed";
export const EventSessionMessage = "session.message";
export const EventSessionTool = "session.tool";
export const EventConfigChanged = "config.changed";
export const EventSkillsChanged = "skills.changed";
export const EventExecApprovalRequested = "exec.approval.requested";
export const EventExecApprovalResolved = "exec.approval.resolved";
export const EventPairRequested = "device.pair.requested";
export const EventPairResolved = "device.pair.resolved";
export const EventNodePairRequested = "node.pair.requested";
export const EventNodePairResolved = "node.pair.resolved";
export const EventNodePresence = "node.presence";
export const EventNodeHostStats = "node.hostStats";
/** These two go to one node only. */
export const EventNodeInvokeRequest = "node.invoke.request";
export const EventNodeInvokeCancel = "node.invoke.cancel";
/** EventPause is ours: the switch of hearth.pause.set has changed. */
export const EventPause = "hearth.pause";
/** EventModelsPull is ours: how far a download is. */
export const EventModelsPull = "hearth.models.pull";
/** EventSetup is ours: the first steps have changed. */
export const EventSetup = "hearth.setup";
/** EventCodeOutput is ours: what a program of hearth.code.run says. */
export const EventCodeOutput = "hearth.code.output";
/** Schedules, and what became of a heartbeat. */
export const EventCron = "cron";
export const EventHeartbeat = "heartbeat";
/** Background work, in OpenClaw's shape and in ours. */
export const EventTask = "task";
export const EventTaskView = "hearth.task";
/** EventCronProposals is ours: what the assistant would do, if somebody says yes. */
export const EventCronProposals = "hearth.cron.proposals";

// Client capabilities that change what we send.
/** agent events of stream "tool" */
export const CapToolEvents = "tool-events";
/**
 * CapSlimDeltas is ours: chat deltas carry deltaText, offset and end, but not
 * the cumulative message.
 */
export const CapSlimDeltas = "hearth.deltas";
/**
 * CapThoughts is ours: agent events of stream "thinking", of the sessions that
 * are watched.
 */
export const CapThoughts = "hearth.thoughts";

// Gateway capability without which the 9.6 CLI's `models list` stops.
export const GatewayCapModelCatalog = "published-model-catalog";

/**
 * Setup is a person's first steps with Hearth: the result of hearth.setup.get
 * and hearth.setup.answer, and the event hearth.setup.
 */
export interface Setup {
  /** no step is open */
  complete: boolean;
  steps: SetupStep[];
  /** Waiting is how many messages will be answered as soon as a model is ready. */
  waiting: number;
  /** Choices is what this computer has that could answer, best first. */
  choices: SetupChoice[];
  /** Downloads is what could be fetched, the one to take first. */
  downloads: SetupDownload[];
  /** Ollama would download it: running, or where to get it. */
  ollama: boolean;
  /** why it cannot be used yet, when it runs */
  ollamaHint?: string;
  /** bytes; absent: not known */
  ram?: number;
  signIns: SetupSignIn[];
  /** other assistants that are set up here */
  programs: SetupProgram[];
  doing?: SetupDoing;
  /**
   * Problem is why the last try failed, and what to do; Retry can be used to try
   * it again.
   */
  problem?: string;
  retry?: string;
  /** that was chosen */
  model?: SetupResult;
  /** AtLogin: whether Hearth starts at login; absent where nobody can say. */
  atLogin?: boolean;
}

/** SetupStep is one step: model, name, phone, telegram, leave. */
export interface SetupStep {
  id: string;
  /** open, done, skipped, again (to choose anew; nothing waits for it) */
  state: string;
  /** of the settings, where it can be changed later */
  pane: string;
}

/** SetupChoice is something that could answer. */
export interface SetupChoice {
  id: string;
  /** local, login, key */
  kind: string;
  /** of the model or program, for people */
  name: string;
  service: string;
  model?: string;
  caution?: string;
}

/** SetupDownload is a model that Ollama has. */
export interface SetupDownload {
  model: string;
  name: string;
  bytes: number;
  /** on an ordinary line of 50 Mbit/s */
  seconds: number;
}

/** SetupSignIn is a service where one can log in. */
export interface SetupSignIn {
  id: string;
  name: string;
}

/** SetupProgram is another assistant whose settings are on this computer. */
export interface SetupProgram {
  name: string;
  path: string;
}

/**
 * SetupDoing is what goes on: test, download, or window (how much of a long text
 * reaches the model, after the first answer).
 */
export interface SetupDoing {
  what: string;
  name: string;
  model?: string;
  done?: number;
  total?: number;
  /** that are left, where that is known */
  seconds?: number;
}

/** SetupResult is how the test of the chosen model went. */
export interface SetupResult {
  model: string;
  line?: string;
  notes: string[];
  /** it cannot use tools */
  chatOnly?: boolean;
}

/** SetupGetParams: Look looks at this computer again first, for less than a second. */
export interface SetupGetParams {
  look?: boolean;
}

/**
 * SetupAnswerParams answer one step. Do is done or skip for every step, again to
 * open it anew, and:
 *
 * 	model   use (Choice), key (Key, Service), download (Model), cancel; skip: the
 * 	        built-in guide answers until a model is there
 * 	name    save (Name, Style)
 * 	leave   atLogin (On)
 */
export interface SetupAnswerParams {
  step: string;
  do: string;
  choice?: string;
  key?: string;
  service?: string;
  model?: string;
  name?: string;
  style?: string;
  on?: boolean;
}

// Frame types.
export const TypeRequest = "req";
export const TypeResponse = "res";
export const TypeEvent = "event";

/** Request asks for one method. Unknown fields are ignored. */
export interface Request {
  type: string;
  id: string;
  method: string;
  params?: unknown;
}

/**
 * Response answers a request: a payload when OK, an Error otherwise. It must
 * never carry another top-level field: clients of 2026.5.22 drop such frames.
 */
export interface Response {
  type: string;
  id: string;
  ok: boolean;
  payload?: unknown;
  error?: Error;
}

/**
 * Event is pushed by the gateway. Seq counts broadcast events of one
 * connection from 1 and is absent on targeted ones.
 */
export interface Event {
  type: string;
  event: string;
  payload?: unknown;
  seq?: number;
  stateVersion?: StateVersion;
}

/** StateVersion counts changes of the two snapshots that clients keep. */
export interface StateVersion {
  presence: number;
  health: number;
}

/** HooksStatusParams: AgentID "" is the default one. */
export interface HooksStatusParams {
  agentId?: string;
}

/** HooksStatus lists the hooks that are told what happens inside. */
export interface HooksStatus {
  workspaceDir: string;
  managedHooksDir: string;
  hooks: HookInfo[];
}

export interface HookInfo {
  name: string;
  description: string;
  /** openclaw-bundled, openclaw-managed, openclaw-workspace */
  source: string;
  filePath: string;
  baseDir: string;
  handlerPath: string;
  hookKey: string;
  emoji?: string;
  homepage?: string;
  events: string[];
  unknownEvents: string[];
  always: boolean;
  enabledByConfig: boolean;
  requirementsSatisfied: boolean;
  loadable: boolean;
  blockedReason?: string;
  managedByPlugin: boolean;
  requirements: SkillNeeds;
  missing: SkillNeeds;
  configChecks: SkillConfigCheck[];
  install: SkillInstaller[];
  hearth: HookOwn;
}

/** HookOwn is ours: how a hook is run, and what became of it since the start. */
export interface HookOwn {
  /** builtin, program, script */
  form?: string;
  /** of its files as they are */
  sha256?: string;
  /** that is what was enabled */
  seen: boolean;
  files: string[];
  runs: number;
  lastRunAtMs?: number;
  lastDurationMs?: number;
  lastError?: string;
  /** events that were too many */
  dropped?: number;
  /** NeverTold says which of its events never happen here, and why. */
  neverTold?: string;
}

/** HookEnableParams switch a hook on or off. SHA256 is what somebody has looked at. */
export interface HookEnableParams {
  name: string;
  agentId?: string;
  enabled: boolean;
  sha256?: string;
}

/**
 * ImportParams say what is imported: From is the program, "" when what lies at
 * Path tells; Path is on the gateway's computer, "" for where the program has it.
 */
export interface ImportParams {
  from?: string;
  path?: string;
}

/**
 * ImportSource is a program that Hearth can import from. Path is where it was
 * found on this computer.
 */
export interface ImportSource {
  id: string;
  name: string;
  /** in words */
  takes: string;
  path?: string;
}

/** ImportSources are all of them. */
export interface ImportSources {
  sources: ImportSource[];
}

/**
 * ImportRow counts what there is of one kind: chat, memory, file, skill, job,
 * server, key, person, setting, other.
 */
export interface ImportRow {
  kind: string;
  found: number;
  new: number;
  /** here already, and more came */
  grown: number;
  /** here already */
  here: number;
  /** not taken */
  left: number;
  messages?: number;
  newMessages?: number;
  /** the new ones; of very many, some */
  names?: string[];
  /** those that are here already */
  hereNames?: string[];
}

/** ImportLeft is what is not taken for one reason. */
export interface ImportLeft {
  kind: string;
  /** of very many, some */
  names: string[];
  many: number;
  why: string;
}

/** ImportReport is what an import would do, or did. */
export interface ImportReport {
  from: string;
  program: string;
  path: string;
  /** nothing was written */
  dry: boolean;
  taskId?: string;
  rows: ImportRow[];
  left: ImportLeft[];
  notes?: string[];
  /** why it ended early */
  error?: string;
}

/** ImportStarted names the task of an import. */
export interface ImportStarted {
  taskId: string;
}

/** ImportReportParams ask for the report of an import that was started. */
export interface ImportReportParams {
  taskId: string;
}

/** MCPServers lists the MCP servers of the settings. */
export interface MCPServers {
  servers: MCPServer[];
}

/** MCPServer is how a server is. */
export interface MCPServer {
  id: string;
  /** starting, ready, waiting, failed, off */
  state: string;
  problem?: string;
  /** what it calls itself */
  name?: string;
  version?: string;
  tools: MCPTool[];
  /** tools that are not offered, and why */
  skipped?: string[];
  /**
   * Reads and Writes are what a program may use beside its own folder, as the
   * settings and its command line name it; only of one in a sandbox.
   */
  reads?: string[];
  writes?: string[];
  /** Noise is about lines of a program that were no messages. */
  noise?: string;
  restarts?: number;
  since: number;
  /** Hearth has a login at it */
  loggedIn?: boolean;
  /** it wants one */
  login?: boolean;
  /** it is a service, not a program */
  service?: boolean;
}

/** MCPTool is a tool of a server. */
export interface MCPTool {
  /** for models and rules */
  name: string;
  /** the server's own */
  own: string;
  description?: string;
  /** it is not what was allowed */
  changed?: boolean;
}

/** MCPServerParams name a server. */
export interface MCPServerParams {
  id: string;
}

/** MCPLogin is a login that has begun: the page to open. */
export interface MCPLogin {
  loginId: string;
  url: string;
  expiresAt: number;
}

/** MCPLoginWaitParams wait for a login, or give it up. */
export interface MCPLoginWaitParams {
  loginId: string;
  timeoutMs?: number;
  cancel?: boolean;
}

/** MCPLoginState is how a login stands. */
export interface MCPLoginState {
  /** pending, done, failed */
  state: string;
  error?: string;
}

/** MCPResources are what a server has to read. */
export interface MCPResources {
  resources: MCPResource[];
  /** not all of them are listed */
  more?: boolean;
}

/** MCPResource is one of them. */
export interface MCPResource {
  uri: string;
  name?: string;
  description?: string;
  mimeType?: string;
}

/** MCPReadParams name a resource. */
export interface MCPReadParams {
  id: string;
  uri: string;
}

/** MCPText is words of a server. */
export interface MCPText {
  text: string;
}

/** MCPPrompts are texts that a server has ready. */
export interface MCPPrompts {
  prompts: MCPPrompt[];
}

/** MCPPrompt is one of them. */
export interface MCPPrompt {
  name: string;
  description?: string;
  arguments: MCPArgument[];
}

/** MCPArgument is a word that a prompt is filled in with. */
export interface MCPArgument {
  name: string;
  about?: string;
  required?: boolean;
}

/** MCPPromptParams fill a prompt in. */
export interface MCPPromptParams {
  id: string;
  name: string;
  arguments?: Record<string, string>;
}

/** MemoryListParams: all are optional. */
export interface MemoryListParams {
  agentId?: string;
  all?: boolean;
  person?: string;
}

export interface MemoryFiles {
  workspace: string;
  files: MemoryFile[];
}

export interface MemoryFile {
  path: string;
  /** people/NAME or groups/NAME; "" = the owner's */
  person?: string;
  size: number;
  updatedAt: number;
  chunks: number;
  /** why it cannot be found */
  skipped?: string;
}

/** MemorySearchParams: Limit 0 and MinScore 0 mean as the settings say. */
export interface MemorySearchParams {
  query: string;
  agentId?: string;
  limit?: number;
  minScore?: number;
  all?: boolean;
  person?: string;
}

export interface MemoryFound {
  agentId: string;
  /** of vectors, "none" */
  provider: string;
  /** fts-only, hybrid */
  searchMode: string;
  results: MemoryHit[];
  /** why there may be more */
  partial?: string;
}

export interface MemoryHit {
  path: string;
  startLine: number;
  endLine: number;
  score: number;
  snippet: string;
  citation: string;
}

export interface MemoryGetParams {
  path: string;
  agentId?: string;
}

/** MemoryContent is a whole file; Hash goes back with a change. */
export interface MemoryContent {
  path: string;
  text: string;
  /** "" = there is no such file yet */
  hash: string;
}

/** MemorySetParams replaces a file, when Hash is that of what it holds. */
export interface MemorySetParams {
  path: string;
  text: string;
  hash?: string;
  agentId?: string;
}

/**
 * MemoryForgetParams: a file, lines of it (then Text is what stands there), or
 * all notes of a Source: a conversation, a run, or channel:id.
 */
export interface MemoryForgetParams {
  path?: string;
  startLine?: number;
  endLine?: number;
  text?: string;
  source?: string;
  agentId?: string;
}

/**
 * MemoryChange says what was changed. UndoID takes it back (hearth.undo.apply);
 * "" when nothing was changed.
 */
export interface MemoryChange {
  undoId?: string;
  paths: string[];
  /** of a source */
  notes?: number;
}

export interface MemoryStatusParams {
  agentId?: string;
}

/** MemoryIndexParams: the index is brought up to date, with Rebuild made anew. */
export interface MemoryIndexParams {
  agentId?: string;
  rebuild?: boolean;
}

export interface MemoryStatus {
  agentId: string;
  enabled: boolean;
  workspace: string;
  files: number;
  bytes: number;
  chunks: number;
  vectors: number;
  skipped: MemorySkipped[];
  /** the file that is read now */
  indexing?: string;
  problem?: string;
  embedding: MemoryEmbedding;
}

export interface MemorySkipped {
  path: string;
  reason: string;
}

export interface MemoryEmbedding {
  /** "" = none, only words are compared */
  model?: string;
  problem?: string;
}

/** Message is one transcript entry as clients see it and as the store keeps it. */
export interface Message {
  /** user, assistant, toolResult, system */
  role: string;
  content: Block[];
  /** ms */
  timestamp: number;
  idempotencyKey?: string;
  provider?: string;
  model?: string;
  stopReason?: string;
  usage?: Usage;
  toolCallId?: string;
  toolName?: string;
  isError?: boolean;
  /**
   * ParentToolCallID is set on the result of a call that a program made in code
   * mode: the call that ran the program. Models are not sent it.
   */
  parentToolCallId?: string;
  /** Details of a tool's result are for surfaces: a diff, an exit code. */
  details?: unknown;
  /**
   * DurationMs is ours: how long a tool ran, without the time that it waited for
   * a person's yes.
   */
  hearthDurationMs?: number;
  /**
   * ForAgent is ours: what the model reads in place of the content, when the two
   * differ (an envelope around a channel's message, a greeting after /new).
   */
  hearthForAgent?: string;
  /** ExcludeFromContext marks what models never see: commands and their replies. */
  excludeFromContext?: boolean;
  /**
   * Origin is ours: where a person's message came from; nil: the gateway's own
   * clients. Models are not sent it.
   */
  hearthOrigin?: MessageOrigin;
  /**
   * AnswersTo is ours: where the answer goes, when that is not where the message
   * came from; its sender is who is answered.
   */
  hearthAnswersTo?: MessageOrigin;
  /** Provenance is set on words that no person wrote here. */
  provenance?: Provenance;
  errorMessage?: string;
  __openclaw?: MessageMeta;
  hearth?: MessageReceipt;
  /**
   * Versions is ours, on what begins a turn: the messages in whose place it stands,
   * and that stand in its place on other branches. It is not stored.
   */
  hearthVersions?: MessageVersions;
}

/**
 * MessageVersions are the versions of a message, in the order in which they were
 * written.
 */
export interface MessageVersions {
  /** which one this is, from 1 */
  at: number;
  /** ids, for sessions.branches.switch */
  entries: string[];
  /** they have the same words: only the answers differ */
  same: boolean;
}

/** MessageOrigin says from which messaging network a message came, and from whom. */
export interface MessageOrigin {
  channel: string;
  accountId?: string;
  /** as they call themselves */
  sender?: string;
  senderId?: string;
  owner?: boolean;
  /** what it is called; "" in direct chats */
  group?: string;
}

// ChannelHook is the channel of what other programs sent by hooks.
export const ChannelHook = "hook";

/** Provenance says where words come from that stand in a person's place. */
export interface Provenance {
  /** ProvenanceSession */
  kind: string;
  sourceSessionKey?: string;
  sourceTool?: string;
}

// ProvenanceSession is the kind of words that another session sent.
export const ProvenanceSession = "inter_session";

// Message roles.
export const MessageUser = "user";
export const MessageAssistant = "assistant";
export const MessageToolResult = "toolResult";
export const MessageSystem = "system";

/** Block is one part of a message; Type tells which fields are set. */
export interface Block {
  /** text, thinking, toolCall, image, file */
  type: string;
  text?: string;
  thinking?: string;
  /**
   * ThinkingSignature is what the model service wants back with its reasoning;
   * it stays in the transcript and is not sent to clients.
   */
  thinkingSignature?: string;
  id?: string;
  name?: string;
  arguments?: unknown;
  /** of a toolCall of a program: the call that ran the program */
  parentId?: string;
  /** and what the program called, as its catalogue names it */
  toolId?: string;
  /** of an image */
  mimeType?: string;
  fileName?: string;
  /** what the gateway keeps it under */
  mediaId?: string;
  width?: number;
  height?: number;
  /**
   * File is ours: what became of a file of the message. Its block's Text is what the
   * model is told of it; it stays in the transcript and is not sent to clients.
   */
  hearthFile?: AttachedFile;
}

// Block types.
export const BlockText = "text";
export const BlockThinking = "thinking";
export const BlockToolCall = "toolCall";
export const BlockImage = "image";
export const BlockFile = "file";

/** Usage is model.Usage with the sum that clients show. */
export interface Usage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  totalTokens: number;
}

/**
 * MessageMeta places a message: ID is unique and stable, Seq rises within a
 * session in conversation order.
 */
export interface MessageMeta {
  id: string;
  seq: number;
  runId?: string;
  idempotencyKey?: string;
  /** Awaits is ours: a note that the next answer or heartbeat is to deal with. */
  hearthAwaits?: boolean;
}

/** ReceiptState is the visible state of a person's message. */
export type ReceiptState = "accepted" | "answering" | "answered" | "failed" | "aborted" | "dropped" | "interrupted";

/** durable, waits for its turn */
export const ReceiptAccepted = "accepted";
/** its run is active */
export const ReceiptAnswering = "answering";
/** the final answer is durable */
export const ReceiptAnswered = "answered";
/** ended with an error that is shown */
export const ReceiptFailed = "failed";
/** stopped by the person */
export const ReceiptAborted = "aborted";
/** gave way in a full queue */
export const ReceiptDropped = "dropped";
/** Hearth stopped while answering; partial text is kept */
export const ReceiptInterrupted = "interrupted";

/**
 * MessageReceipt is ours: on user messages the state of their run, on
 * assistant messages whether they are whole.
 */
export interface MessageReceipt {
  state?: ReceiptState;
  /** plain words, when State is failed */
  error?: string;
  /** what can be done about it */
  repair?: Repair;
  /** BuiltIn marks words of the guide model, which every surface labels. */
  builtIn?: boolean;
}

/**
 * MessageSendParams are those of send. Of what only some networks have, MessageDone says
 * what was not heeded.
 */
export interface MessageSendParams {
  to: string;
  /** Markdown */
  message?: string;
  /**
   * MediaURL and MediaURLs are https addresses, or files of the workspace; Buffer is a
   * file in base64 or as a data: address.
   */
  mediaUrl?: string;
  mediaUrls?: string[];
  buffer?: string;
  filename?: string;
  contentType?: string;
  asVoice?: boolean;
  gifPlayback?: boolean;
  /** "" = the only one */
  channel?: string;
  /** "" = default, or the only one */
  accountId?: string;
  /** whose workspace; "" = the default's */
  agentId?: string;
  replyToId?: string;
  threadId?: string;
  forceDocument?: boolean;
  silent?: boolean;
  /** "HTML" is refused */
  parseMode?: string;
  /** SessionKey is a conversation in which it is noted too. */
  sessionKey?: string;
  idempotencyKey: string;
}

/** MessagePollParams are those of poll. */
export interface MessagePollParams {
  to: string;
  question: string;
  options: string[];
  /** more than 1: several answers */
  maxSelections?: number;
  durationSeconds?: number;
  durationHours?: number;
  silent?: boolean;
  isAnonymous?: boolean;
  threadId?: string;
  channel?: string;
  accountId?: string;
  idempotencyKey: string;
}

/**
 * MessageActionParams are those of message.action: Params are the action's own, by the
 * names of the tool message and of OpenClaw's command line.
 */
export interface MessageActionParams {
  channel: string;
  action: string;
  params: Record<string, unknown>;
  reply?: MessageReply;
  accountId?: string;
  sessionKey?: string;
  agentId?: string;
  idempotencyKey: string;
}

/** MessageReply is which message is answered. */
export interface MessageReply {
  replyToId: string;
  /** explicit or implicit */
  source?: string;
  /** first or all, of an implicit one */
  mode?: string;
}

/** MessageDone is what came of send, poll and message.action, when it was done. */
export interface MessageDone {
  ok: boolean;
  /** the idempotencyKey */
  runId: string;
  channel: string;
  accountId: string;
  chatId: string;
  /** MessageID is the last message of it, and MessageIDs are all. */
  messageId?: string;
  messageIds?: string[];
  /** What an action did: the emoji that was put on a message, or that ours was taken away. */
  added?: string;
  removed?: boolean;
  edited?: boolean;
  deleted?: boolean;
  pinned?: boolean;
  unpinned?: boolean;
  /** nothing was done */
  dryRun?: boolean;
  /**
   * Messages are what was read or found, the newest last; Results has those that were
   * found once more, where OpenClaw's command line looks for them.
   */
  messages?: PastMessage[];
  results?: PastResults;
  /**
   * The rest is ours. Ignored are parameters that the network, or Hearth, has no such
   * thing for; Note says what else a person should know.
   */
  ignored?: string[];
  note?: string;
}

/** PastResults are messages that were found. */
export interface PastResults {
  /** each by itself */
  messages: PastMessage[][];
}

/** PastMessage is a message that was said before. What stands in it others wrote. */
export interface PastMessage {
  messageId: string;
  /** for people */
  user?: string;
  senderId?: string;
  text: string;
  /** RFC 3339 */
  timestamp: string;
}

/** ChannelLoggedOut is the answer to channels.logout. */
export interface ChannelLoggedOut {
  channel: string;
  accountId: string;
  /**
   * Cleared: something that was kept of the login is gone; LoggedOut: the account cannot
   * be used with what is kept any more.
   */
  cleared: boolean;
  loggedOut: boolean;
  /**
   * EnvToken: a credential of it stands in the environment, where nobody but its person
   * can take it out.
   */
  envToken?: boolean;
  /** ours: what was done, and what may be left to do */
  message: string;
}

/** ChannelPairingListParams are those of channels.pairing.list. */
export interface ChannelPairingListParams {
  channel?: string;
  accountId?: string;
}

/**
 * ChannelPairingList are the strangers who wrote to accounts with dmPolicy pairing and
 * wait to be let in.
 */
export interface ChannelPairingList {
  accounts: ChannelPairingAccount[];
  requests: ChannelPairingRequest[];
  commandOwnerConfigured: boolean;
  limits: ChannelPairingLimits;
}

export interface ChannelPairingLimits {
  pendingPerAccount: number;
  ttlMs: number;
}

export interface ChannelPairingAccount {
  channel: string;
  channelLabel: string;
  accountId: string;
  accountLabel?: string;
  notifySupported: boolean;
}

/** ChannelPairingRequest is one of them. The code that they were told does not stand in it. */
export interface ChannelPairingRequest {
  requestId: string;
  channel: string;
  channelLabel: string;
  accountId: string;
  accountLabel?: string;
  senderId: string;
  /** what such an id is called */
  senderLabel: string;
  metadata?: Record<string, string>;
  createdAt: string;
  lastSeenAt: string;
  expiresAt: string;
  notifySupported: boolean;
}

/**
 * ChannelPairingApproveParams lets one in. Notify tells them; BootstrapCommandOwner, which
 * needs operator.admin too, makes them the owner where there is none.
 */
export interface ChannelPairingApproveParams {
  channel: string;
  accountId: string;
  requestId: string;
  notify?: boolean;
  bootstrapCommandOwner?: boolean;
}

export interface ChannelPairingApproved {
  requestId: string;
  senderId: string;
  /** Notification is not-requested, sent, unsupported or failed. */
  notification: string;
  /** CommandOwnerBootstrap is not-requested, configured or already-configured. */
  commandOwnerBootstrap: string;
}

/** ChannelPairingDismissParams takes a request away; who made it may ask again. */
export interface ChannelPairingDismissParams {
  channel: string;
  accountId: string;
  requestId: string;
}

export interface ChannelPairingDismissed {
  requestId: string;
  senderId: string;
}

// Method names. A handler can only be registered for a name in Methods.
export const MethodConnect = "connect";
export const MethodHealth = "health";
export const MethodStatus = "status";
export const MethodSystemPresence = "system-presence";
export const MethodLogsTail = "logs.tail";
export const MethodConfigGet = "config.get";
export const MethodConfigSet = "config.set";
export const MethodConfigPatch = "config.patch";
export const MethodConfigSchema = "config.schema";
export const MethodConfigSchemaLookup = "config.schema.lookup";
export const MethodAgentsList = "agents.list";
export const MethodAgentIdentityGet = "agent.identity.get";
export const MethodAgentsCreate = "agents.create";
export const MethodAgentsUpdate = "agents.update";
export const MethodAgentsDelete = "agents.delete";
export const MethodAgentsFilesList = "agents.files.list";
export const MethodAgentsFilesGet = "agents.files.get";
export const MethodAgentsFilesSet = "agents.files.set";
export const MethodModelsList = "models.list";
export const MethodModelsAuthStatus = "models.authStatus";
export const MethodModelsAuthLogout = "models.authLogout";
export const MethodModelsAuthOrderSet = "models.authOrderSet";
export const MethodModelsAuthSetAPIKey = "models.authSetApiKey";
/** These are ours: logins, those of other programs, and where a key may go. */
export const MethodModelsAuthLogin = "hearth.models.auth.login";
export const MethodModelsAuthWait = "hearth.models.auth.wait";
export const MethodModelsAuthCancel = "hearth.models.auth.cancel";
export const MethodModelsAuthForeign = "hearth.models.auth.foreign";
export const MethodModelsAuthImport = "hearth.models.auth.import";
export const MethodModelsAuthAllow = "hearth.models.auth.allow";
/** Ours as well: does a model answer, a download, and how Hearth is. */
export const MethodModelsTest = "hearth.models.test";
export const MethodModelsPull = "hearth.models.pull";
/** MethodModelsLook asks a server that a person names which models it has. */
export const MethodModelsLook = "hearth.models.look";
/** MethodModelsServices names the known services and what each needs. */
export const MethodModelsServices = "hearth.models.services";
export const MethodDoctor = "hearth.doctor";
export const MethodDoctorRepair = "hearth.doctor.repair";
export const MethodStoreStatus = "hearth.store.status";
export const MethodStoreCheck = "hearth.store.check";
export const MethodStoreCompact = "hearth.store.compact";
/** The first steps. */
export const MethodSetupGet = "hearth.setup.get";
export const MethodSetupAnswer = "hearth.setup.answer";
export const MethodUsageCost = "usage.cost";
export const MethodUsageStatus = "usage.status";
/** MethodUsageAllow is ours: other limits, or one answer beyond them. */
export const MethodUsageAllow = "hearth.usage.allow";
export const MethodChatSend = "chat.send";
export const MethodChatHistory = "chat.history";
/**
 * MethodChatStartup is chat.history under the name that OpenClaw's page of
 * 2026.9.6 opens a conversation with; without it that page sends nothing.
 */
export const MethodChatStartup = "chat.startup";
export const MethodChatMetadata = "chat.metadata";
export const MethodChatAbort = "chat.abort";
export const MethodChatInject = "chat.inject";
export const MethodAgent = "agent";
export const MethodAgentWait = "agent.wait";
export const MethodSessionsList = "sessions.list";
export const MethodSessionsGet = "sessions.get";
export const MethodSessionsCreate = "sessions.create";
export const MethodSessionsPatch = "sessions.patch";
export const MethodSessionsReset = "sessions.reset";
export const MethodSessionsDelete = "sessions.delete";
export const MethodSessionsSubscribe = "sessions.subscribe";
export const MethodSessionsUnsubscribe = "sessions.unsubscribe";
export const MethodSessionsMessagesSubscribe = "sessions.messages.subscribe";
export const MethodSessionsMessagesUnsubscribe = "sessions.messages.unsubscribe";
export const MethodSessionsDescribe = "sessions.describe";
export const MethodSessionsResolve = "sessions.resolve";
export const MethodSessionsPreview = "sessions.preview";
export const MethodSessionsCompact = "sessions.compact";
export const MethodSessionsUsage = "sessions.usage";
export const MethodSessionsAbort = "sessions.abort";
/** Branches of a transcript. */
export const MethodBranchesList = "sessions.branches.list";
export const MethodBranchesSwitch = "sessions.branches.switch";
export const MethodSessionsRewind = "sessions.rewind";
export const MethodSessionsFork = "sessions.fork";
/**
 * MethodChatAgain is ours: answers a message again, with other words or another
 * model.
 */
export const MethodChatAgain = "hearth.chat.again";
export const MethodCommandsList = "commands.list";
/** MethodSessionsSearch is ours: words in all messages. */
export const MethodSessionsSearch = "sessions.search";
export const MethodChannelsStatus = "channels.status";
/** A person logs an account in: what they scan, type or open there, and the end of it. */
export const MethodWebLoginStart = "web.login.start";
export const MethodWebLoginWait = "web.login.wait";
export const MethodChannelsStart = "channels.start";
export const MethodChannelsStop = "channels.stop";
export const MethodSend = "send";
export const MethodPoll = "poll";
export const MethodMessageAction = "message.action";
export const MethodChannelsLogout = "channels.logout";
export const MethodChannelsPairingList = "channels.pairing.list";
export const MethodChannelsPairingApprove = "channels.pairing.approve";
export const MethodChannelsPairingDismiss = "channels.pairing.dismiss";
/** These are ours: setting an account up, and taking it out. */
export const MethodChannelsKinds = "hearth.channels.kinds";
export const MethodChannelsAdd = "hearth.channels.add";
export const MethodChannelsRemove = "hearth.channels.remove";
/**
 * The methods of contacts and deliveries are ours: who may write from
 * messaging networks, and answers that have not arrived there.
 * The methods of secrets are ours, but for secrets.reload. There is none that
 * reads one.
 */
export const MethodSecretsList = "hearth.secrets.list";
export const MethodSecretsSet = "hearth.secrets.set";
export const MethodSecretsRemove = "hearth.secrets.remove";
export const MethodSecretsStatus = "hearth.secrets.status";
export const MethodSecretsUnlock = "hearth.secrets.unlock";
export const MethodSecretsMigrate = "hearth.secrets.migrate";
export const MethodSecretsReload = "secrets.reload";
export const MethodContactsList = "hearth.contacts.list";
export const MethodContactsResolve = "hearth.contacts.resolve";
export const MethodContactsRemove = "hearth.contacts.remove";
export const MethodContactsSet = "hearth.contacts.set";
export const MethodDeliveriesList = "hearth.deliveries.list";
export const MethodDeliveriesResolve = "hearth.deliveries.resolve";
export const MethodToolsCatalog = "tools.catalog";
export const MethodToolsEffective = "tools.effective";
export const MethodToolsInvoke = "tools.invoke";
/** MethodCodeRun is ours: run a program with the tools inside. */
export const MethodCodeRun = "hearth.code.run";
export const MethodExecApprovalRequest = "exec.approval.request";
export const MethodExecApprovalWait = "exec.approval.waitDecision";
export const MethodExecApprovalResolve = "exec.approval.resolve";
export const MethodExecApprovalList = "exec.approval.list";
export const MethodExecApprovalGet = "exec.approval.get";
/** These are for any kind of request. Ours all look like commands there. */
export const MethodApprovalGet = "approval.get";
export const MethodApprovalResolve = "approval.resolve";
export const MethodApprovalHistory = "approval.history";
/** always empty */
export const MethodPluginApprovalList = "plugin.approval.list";
/** always empty */
export const MethodOpenClawApprovalList = "openclaw.approval.list";
export const MethodExecApprovalsGet = "exec.approvals.get";
export const MethodExecApprovalsSet = "exec.approvals.set";
export const MethodApprovalsRules = "hearth.approvals.rules";
export const MethodApprovalsRemoveRule = "hearth.approvals.removeRule";
export const MethodPauseGet = "hearth.pause.get";
export const MethodPauseSet = "hearth.pause.set";
export const MethodAuditList = "hearth.audit.list";
export const MethodAuditVerify = "hearth.audit.verify";
/** The methods of undo are ours: turns that changed files, and taking them back. */
export const MethodMemoryList = "hearth.memory.list";
export const MethodMemorySearch = "hearth.memory.search";
export const MethodMemoryGet = "hearth.memory.get";
export const MethodMemorySet = "hearth.memory.set";
export const MethodMemoryForget = "hearth.memory.forget";
export const MethodMemoryStatus = "hearth.memory.status";
export const MethodMemoryIndex = "hearth.memory.index";
export const MethodMemorySearchFlat = "memory.search";
export const MethodBackupStatus = "hearth.backup.status";
export const MethodBackupSetup = "hearth.backup.setup";
export const MethodBackupCreate = "hearth.backup.create";
export const MethodBackupList = "hearth.backup.list";
export const MethodBackupPrune = "hearth.backup.prune";
export const MethodMoveStatus = "hearth.move.status";
export const MethodMoveOffer = "hearth.move.offer";
export const MethodMoveBegin = "hearth.move.begin";
export const MethodMovePiece = "hearth.move.piece";
export const MethodMoveRelease = "hearth.move.release";
export const MethodMoveArrived = "hearth.move.arrived";
export const MethodMoveLeave = "hearth.move.leave";
export const MethodMoveExport = "hearth.move.export";
export const MethodMoveWake = "hearth.move.wake";
export const MethodUpdateStatus = "update.status";
export const MethodUpdateRun = "update.run";
export const MethodUpdateCheck = "hearth.update.check";
export const MethodUpdateBack = "hearth.update.back";
export const MethodImportSources = "hearth.imports.sources";
export const MethodImportPlan = "hearth.imports.plan";
export const MethodImportStart = "hearth.imports.start";
export const MethodImportReport = "hearth.imports.report";
export const MethodUndoList = "hearth.undo.list";
export const MethodUndoPreview = "hearth.undo.preview";
export const MethodUndoApply = "hearth.undo.apply";
export const MethodSkillsStatus = "skills.status";
export const MethodSkillsBins = "skills.bins";
export const MethodSkillsInstall = "skills.install";
export const MethodSkillsUpdate = "skills.update";
/**
 * The methods of one skill are ours: what installing or confirming it would
 * mean, doing exactly that, and taking it away.
 */
export const MethodSkillPlan = "hearth.skills.plan";
export const MethodSkillAccept = "hearth.skills.accept";
export const MethodSkillRemove = "hearth.skills.remove";
/** The methods of reach are ours: from where the gateway can be reached. */
export const MethodReachStatus = "hearth.reach.status";
/** begins to change the gateway's key */
export const MethodReachRotate = "hearth.reach.rotate";
/** Devices, and the code that pairs one. */
export const MethodPairSetupCode = "device.pair.setupCode";
export const MethodPairList = "device.pair.list";
export const MethodPairRemove = "device.pair.remove";
export const MethodPairApprove = "device.pair.approve";
export const MethodPairReject = "device.pair.reject";
export const MethodPairRename = "device.pair.rename";
export const MethodTokenRotate = "device.token.rotate";
export const MethodTokenRevoke = "device.token.revoke";
/**
 * Devices that do things for the assistant: what people call, and what the
 * devices themselves call.
 */
export const MethodNodeList = "node.list";
export const MethodNodeDescribe = "node.describe";
export const MethodNodeRename = "node.rename";
export const MethodNodeInvoke = "node.invoke";
export const MethodNodePairList = "node.pair.list";
export const MethodNodePairApprove = "node.pair.approve";
export const MethodNodePairReject = "node.pair.reject";
export const MethodNodePairRemove = "node.pair.remove";
export const MethodNodePendingEnqueue = "node.pending.enqueue";
export const MethodNodeInvokeResult = "node.invoke.result";
export const MethodNodeInvokeProgress = "node.invoke.progress";
export const MethodNodeEvent = "node.event";
export const MethodNodePendingPull = "node.pending.pull";
export const MethodNodePendingAck = "node.pending.ack";
export const MethodNodePendingDrain = "node.pending.drain";
export const MethodNodeSkillsUpdate = "node.skills.update";
export const MethodNodeToolsUpdate = "node.pluginTools.update";
export const MethodNodeRunnersUpdate = "node.runnerInventory.update";
/** MethodWhy is ours: how a message was dealt with. */
export const MethodWhy = "hearth.why";
export const MethodMCPList = "hearth.mcp.list";
export const MethodMCPTest = "hearth.mcp.test";
export const MethodMCPLogin = "hearth.mcp.login";
export const MethodMCPLoginWait = "hearth.mcp.login.wait";
export const MethodMCPLogout = "hearth.mcp.logout";
export const MethodMCPResources = "hearth.mcp.resources";
export const MethodMCPRead = "hearth.mcp.read";
export const MethodMCPPrompts = "hearth.mcp.prompts";
export const MethodMCPPrompt = "hearth.mcp.prompt";
/** The methods of tokens are ours: programs that come in over HTTP. */
export const MethodTokensList = "hearth.tokens.list";
export const MethodTokensCreate = "hearth.tokens.create";
export const MethodTokensRevoke = "hearth.tokens.revoke";
/** MethodQueueEdit is ours: other words for a message that still waits. */
export const MethodQueueEdit = "hearth.queue.edit";
/**
 * MethodEarlier and MethodContinue are ours: conversations that a reset put
 * aside, and making one a chat of its own again.
 */
export const MethodEarlier = "hearth.sessions.earlier";
export const MethodContinue = "hearth.sessions.continue";
/**
 * MethodLaunchLink is ours: it mints a single-use link that lets a browser
 * on this machine pair itself.
 */
export const MethodLaunchLink = "hearth.launch";
/** MethodView says which chat somebody looks at. */
export const MethodView = "hearth.view";
/** MethodMediaGet is ours: a picture of a conversation. */
export const MethodMediaGet = "hearth.media.get";
/**
 * MethodUploadPut and MethodUploadDrop are ours: files for a message that is not
 * sent yet, in parts.
 */
export const MethodUploadPut = "hearth.upload.put";
export const MethodUploadDrop = "hearth.upload.drop";
/** MethodPromptsList is ours: the prompts that a person keeps. */
export const MethodPromptsList = "hearth.prompts.list";
/** MethodArtifactSave is ours: keeps what a model made in the assistant's workspace. */
export const MethodArtifactSave = "hearth.artifact.save";
/** Schedules: what OpenClaw's programs call, and heartbeats. */
export const MethodCronList = "cron.list";
export const MethodCronStatus = "cron.status";
export const MethodCronGet = "cron.get";
export const MethodCronAdd = "cron.add";
export const MethodCronUpdate = "cron.update";
export const MethodCronRemove = "cron.remove";
export const MethodCronRun = "cron.run";
export const MethodCronRuns = "cron.runs";
export const MethodCronScratchGet = "cron.scratch.get";
export const MethodCronScratchSet = "cron.scratch.set";
export const MethodWake = "wake";
export const MethodSetHeartbeats = "set-heartbeats";
export const MethodLastHeartbeat = "last-heartbeat";
/**
 * Hooks that are told what happens inside; MethodHookEnable is ours and switches
 * one on with the files that somebody has looked at, or off.
 */
export const MethodHooksStatus = "hooks.status";
export const MethodHookEnable = "hearth.hooks.enable";
/**
 * These are ours: what a schedule means, the coming slots, what was missed,
 * reminding again, and that a reminder was seen.
 */
export const MethodCronPreview = "hearth.cron.preview";
export const MethodCronCalendar = "hearth.cron.calendar";
export const MethodCronMissed = "hearth.cron.missed";
export const MethodCronMissedResolve = "hearth.cron.missed.resolve";
export const MethodCronSnooze = "hearth.cron.snooze";
export const MethodCronSeen = "hearth.cron.seen";
/** MethodCronAct is what a person may do with a job in a chat. */
export const MethodCronAct = "hearth.cron.act";
/** MethodCronWatchTest is ours: looking once at what a job watches or would. */
export const MethodCronWatchTest = "hearth.cron.watch.test";
/** What the assistant said it would do, and the person's yes or no to it. */
export const MethodCronProposals = "hearth.cron.proposals";
export const MethodCronProposalAnswer = "hearth.cron.proposals.answer";
/** Tasks: background work, as OpenClaw's programs ask for it. */
export const MethodTasksList = "tasks.list";
export const MethodTasksGet = "tasks.get";
export const MethodTasksCancel = "tasks.cancel";
export const MethodTasksRetry = "tasks.retry";
export const MethodTasksDismiss = "tasks.dismiss";
export const MethodTasksHistory = "tasks.history";
/** MethodTaskViews is ours: tasks.list with how far each is and what can be done. */
export const MethodTaskViews = "hearth.tasks.list";
/**
 * Web Push, as OpenClaw's page asks for it; MethodPushOpen is ours and says where
 * the news of a notification is.
 */
export const MethodPushKey = "push.web.vapidPublicKey";
export const MethodPushSubscribe = "push.web.subscribe";
export const MethodPushUnsubscribe = "push.web.unsubscribe";
export const MethodPushTest = "push.web.test";
export const MethodPushPreferencesGet = "push.web.preferences.get";
export const MethodPushPreferencesSet = "push.web.preferences.set";
export const MethodPushOpen = "hearth.push.open";
/** MethodTranscriptExport is ours: one page of raw transcript entries. */
export const MethodTranscriptExport = "hearth.sessions.export";

/** ModelVerified is what a test has found out about a model. */
export interface ModelVerified {
  /** ContextWindow was seen to hold; 0: not tried. */
  contextWindow?: number;
  /** Less: the server holds less than was said of the model. */
  less?: boolean;
  /** work, fail; absent: not tried */
  tools?: string;
  at: number;
}

/**
 * ModelsTestParams is ours: ask a model a few short questions. No model means
 * the default one; Provider alone its first model.
 */
export interface ModelsTestParams {
  model?: string;
  provider?: string;
  /** with this account only */
  profileId?: string;
  /**
   * Context also tries how much of a long text reaches the model: up to a
   * minute, for models that cost nothing.
   */
  context?: boolean;
}

/** ModelsTestResult is how the test went. */
export interface ModelsTestResult {
  model: string;
  ok: boolean;
  /** of the first answer */
  tookMs?: number;
  claimed?: number;
  trained?: number;
  verified?: ModelVerified;
  /** in a line for people */
  line: string;
  /** what follows from it */
  notes: string[];
  /** why it does not answer, and what to do */
  error?: string;
  /** auth, billing, connect, timeout and so on */
  errorKind?: string;
}

/** ModelServices is ours: the services that are known by name. */
export interface ModelServices {
  services: ModelService[];
}

/** ModelService is one of them. */
export interface ModelService {
  id: string;
  name: string;
  /** where a person gets a key, without https:// */
  keyPage?: string;
  /** it runs on one's own machines */
  local?: boolean;
  /** Address is where it is asked, with a {NAME} for each of Needs. */
  address: string;
  /** what only its person knows */
  needs: string[];
  /** Deployment: its models have the names that their person gave them there. */
  deployment?: boolean;
}

/**
 * ModelsLookParams is ours: the address of a server of models as a person types it,
 * and its key. Nothing is kept.
 */
export interface ModelsLookParams {
  address: string;
  key?: string;
}

/**
 * ModelsLook is what was found there; an address of no use is an error whose code
 * says why.
 */
export interface ModelsLook {
  /** for models.providers.<name>.baseUrl */
  address: string;
  /** for models.providers.<name>.api */
  api: string;
  /** the known service that it seems to be */
  kind?: string;
  /** a name for it that is free */
  name: string;
  models: ServedModel[];
}

/** ServedModel is a model of such a server. */
export interface ServedModel {
  id: string;
  name: string;
  contextWindow?: number;
  input?: string[];
}

/**
 * ModelsPullParams is ours: download a model of an Ollama server. Cancel ends a
 * download that is under way; what came is kept.
 */
export interface ModelsPullParams {
  model: string;
  provider?: string;
  cancel?: boolean;
}

/** ModelsPullProgress is the event hearth.models.pull. */
export interface ModelsPullProgress {
  model: string;
  /** loading, done, failed */
  state: string;
  status?: string;
  /** bytes of all parts known so far */
  total?: number;
  completed?: number;
  error?: string;
}

// Severities of a HealthCheck.
export const CheckOK = "ok";
export const CheckWarn = "warn";
export const CheckFail = "fail";

/** HealthCheck is one line of what the doctor says. */
export interface HealthCheck {
  /** gateway, models, secrets, settings, folder, sandbox, audit */
  area: string;
  state: string;
  what: string;
  /** what to do */
  advice?: string;
  /** Fixable: `hearth doctor --fix` mends it; Fixed: it just did. */
  fixable?: boolean;
  fixed?: boolean;
  /**
   * Repair names what hearth.doctor.repair does about it, where the gateway itself
   * can mend it.
   */
  repair?: string;
}

/**
 * StoreStatus is how the database is: its size, when all of it was read last since
 * the start, how the last compaction ended, and how far the work is that is under way.
 */
export interface StoreStatus {
  bytes: number;
  /** of them: not in use; `hearth store compact` gives it back */
  free: number;
  copiedAtMs?: number;
  checkedAtMs?: number;
  records?: number;
  /** that the check found */
  problem?: string;
  /** of the check or compaction that is under way */
  taskId?: string;
  taskKind?: string;
  /** bytes */
  done?: number;
  total?: number;
  compactedAtMs?: number;
  /** bytes */
  givenBack?: number;
  /** why the last compaction did not come to its end */
  compactProblem?: string;
}

/** DoctorRepairParams name a repair that a check offered. */
export interface DoctorRepairParams {
  repair: string;
}

/** DoctorRepaired says what was done. */
export interface DoctorRepaired {
  said: string;
}

/** DoctorParams is ours: Live asks the default model. */
export interface DoctorParams {
  live?: boolean;
}

/** Doctor is how Hearth is. */
export interface Doctor {
  /** nothing failed */
  ok: boolean;
  checks: HealthCheck[];
}

/**
 * MoveStatus is whether this Hearth is being moved to another machine, or was.
 * Phases: "awake"; "offered": another machine may ask for everything; "leaving": it
 * sleeps and is being packed or brought; "left": it sleeps for good.
 */
export interface MoveStatus {
  phase: string;
  id?: string;
  atMs?: number;
  /** of the other machine */
  name?: string;
  /** it went into a file */
  file?: string;
  packed?: boolean;
  /** of what the other machine brings */
  bytes?: number;
  /** how much of it that has; while packing, how much is packed */
  have?: number;
  /** what packing takes, about */
  total?: number;
  /** of what the other machine brings */
  sha256?: string;
  /** bytes of all files in it */
  source?: number;
  files?: number;
  /** Arrived: the other machine said that it is awake. */
  arrived?: boolean;
  /** of an offer */
  untilMs?: number;
  /** of packing */
  error?: string;
}

/**
 * MoveOfferParams let another machine ask for everything, for half an hour: one that
 * is paired from now on, or Device. Withdraw takes the offer back.
 */
export interface MoveOfferParams {
  device?: string;
  withdraw?: boolean;
}

/** MoveBegun is the move that began; this machine falls asleep. */
export interface MoveBegun {
  id: string;
}

/** MovePieceParams name a part of what is to be brought. */
export interface MovePieceParams {
  id: string;
  at: number;
}

/** MovePiece is that part, as base64. */
export interface MovePiece {
  data: string;
}

/** MoveReleaseParams: the other machine has all of it. */
export interface MoveReleaseParams {
  id: string;
  sha256: string;
}

/** MoveReleased is the key of it. */
export interface MoveReleased {
  key: string;
}

/** MoveArrivedParams: the other machine is awake. */
export interface MoveArrivedParams {
  id: string;
}

/** MoveExportParams name the file, and the passphrase that is to open it. */
export interface MoveExportParams {
  path: string;
  passphrase: string;
}

/** MoveExported is the file. */
export interface MoveExported {
  path: string;
  bytes: number;
  files: number;
  source: number;
}

/** MoveWakeParams: Sure says that no other machine runs as this one. */
export interface MoveWakeParams {
  sure?: boolean;
}

/** Node is a device that does things for the assistant: a row of node.list. */
export interface Node {
  nodeId: string;
  displayName?: string;
  platform: string;
  version: string;
  clientId: string;
  clientMode: string;
  deviceFamily?: string;
  modelIdentifier?: string;
  remoteIp?: string;
  caps: string[];
  /** those that may be called now */
  commands: string[];
  permissions?: Record<string, boolean>;
  paired: boolean;
  connected: boolean;
  /** approved, pending-approval */
  approvalState: string;
  connectedAtMs?: number;
  lastSeenAtMs?: number;
  lastSeenReason?: string;
  approvedAtMs?: number;
  /** What it asks for beyond what it may. */
  pendingRequestId?: string;
  pendingDeclaredCaps?: string[];
  pendingDeclaredCommands?: string[];
  hostStats?: unknown;
  /** Refused is ours: commands that it offers and that may not be called, and why. */
  hearthRefused?: Record<string, string>;
}

/** NodeList is the result of node.list. */
export interface NodeList {
  ts: number;
  nodes: Node[];
}

/** NodeDescription is the result of node.describe. */
export interface NodeDescription {
  ts: number;
  nodeId: string;
  displayName?: string;
  platform: string;
  version: string;
  clientId: string;
  clientMode: string;
  deviceFamily?: string;
  modelIdentifier?: string;
  remoteIp?: string;
  caps: string[];
  /** those that may be called now */
  commands: string[];
  permissions?: Record<string, boolean>;
  paired: boolean;
  connected: boolean;
  /** approved, pending-approval */
  approvalState: string;
  connectedAtMs?: number;
  lastSeenAtMs?: number;
  lastSeenReason?: string;
  approvedAtMs?: number;
  /** What it asks for beyond what it may. */
  pendingRequestId?: string;
  pendingDeclaredCaps?: string[];
  pendingDeclaredCommands?: string[];
  hostStats?: unknown;
  /** Refused is ours: commands that it offers and that may not be called, and why. */
  hearthRefused?: Record<string, string>;
}

/** NodeIDParams name a node. */
export interface NodeIDParams {
  nodeId: string;
}

/** NodeRenameParams give it a name for people. */
export interface NodeRenameParams {
  nodeId: string;
  displayName: string;
}

/** NodeRenamed is the result of that. */
export interface NodeRenamed {
  nodeId: string;
  displayName: string;
}

/** NodeRequest asks a person to let a node do what it says it can. */
export interface NodeRequest {
  requestId: string;
  nodeId: string;
  clientId: string;
  clientMode: string;
  displayName?: string;
  platform: string;
  version: string;
  deviceFamily?: string;
  modelIdentifier?: string;
  remoteIp?: string;
  caps: string[];
  commands: string[];
  permissions?: Record<string, boolean>;
  requiredApproveScopes: Scope[];
  silent: boolean;
  ts: number;
  /** New is ours: the commands beyond those that were approved before. */
  hearthNew?: string[];
}

/** PairedNode is a node that was approved. */
export interface PairedNode {
  nodeId: string;
  clientId: string;
  clientMode: string;
  displayName?: string;
  platform: string;
  version: string;
  deviceFamily?: string;
  modelIdentifier?: string;
  caps: string[];
  commands: string[];
  permissions?: Record<string, boolean>;
  createdAtMs: number;
  approvedAtMs: number;
  lastConnectedAtMs?: number;
  lastDisconnectedAtMs?: number;
  lastSeenAtMs?: number;
  lastSeenReason?: string;
  lastHostStats?: unknown;
}

/** NodePairs is the result of node.pair.list. */
export interface NodePairs {
  pending: NodeRequest[];
  paired: PairedNode[];
}

/** NodeRequestParams name a request. */
export interface NodeRequestParams {
  requestId: string;
}

/** NodeApproved is the result of node.pair.approve. */
export interface NodeApproved {
  requestId: string;
  node: PairedNode;
}

/** NodeRejected is the result of node.pair.reject. */
export interface NodeRejected {
  requestId: string;
  nodeId: string;
}

/** NodeRemoved is the result of node.pair.remove. */
export interface NodeRemoved {
  nodeId: string;
  removed: boolean;
}

/** NodePairResolved is the event that ends a request. */
export interface NodePairResolved {
  requestId: string;
  nodeId: string;
  /** approved, rejected */
  decision: string;
  ts: number;
}

/** NodePresence is the event that a node came, went, or changed. */
export interface NodePresence {
  nodeId: string;
  connected: boolean;
  /** connect, disconnect, approved, removed, renamed, alive */
  reason: string;
  ts: number;
}

/** NodeHostStats is the event with what a node's machine has left. */
export interface NodeHostStats {
  nodeId: string;
  hostStats: unknown;
  ts: number;
}

/** NodeInvokeParams call a command of a node. */
export interface NodeInvokeParams {
  nodeId: string;
  command: string;
  params?: unknown;
  timeoutMs?: number;
  idempotencyKey: string;
  sessionKey?: string;
}

/** NodeInvokeResult is what came of it. */
export interface NodeInvokeResult {
  ok: boolean;
  nodeId: string;
  command: string;
  payload: unknown;
  /** PayloadJSON is the payload as the node wrote it, null when it sent a value. */
  payloadJSON: string | null;
}

/** NodeInvokeRequest is the event by which a node is asked. */
export interface NodeInvokeRequest {
  id: string;
  nodeId: string;
  command: string;
  paramsJSON: string | null;
  timeoutMs: number;
  idempotencyKey: string;
}

/** NodeInvokeCancel is the event that nobody waits for an answer any more. */
export interface NodeInvokeCancel {
  invokeId: string;
  nodeId: string;
}

/** NodeResultParams are a node's answer. */
export interface NodeResultParams {
  id: string;
  nodeId: string;
  ok: boolean;
  payload?: unknown;
  payloadJSON?: string;
  error?: NodeError;
}

/** NodeError is why a node did not do it. */
export interface NodeError {
  code?: string;
  message?: string;
}

/** NodeProgressParams are a part of what a command prints. */
export interface NodeProgressParams {
  invokeId: string;
  nodeId: string;
  seq: number;
  chunk: string;
}

/** NodeAck answers what a node tells. Ignored: nobody waits for it. */
export interface NodeAck {
  ok: boolean;
  ignored?: boolean;
}

/** NodeEventParams are news of a node. */
export interface NodeEventParams {
  event: string;
  payload?: unknown;
  payloadJSON?: string;
}

/** NodeEventResult says what became of them. */
export interface NodeEventResult {
  ok: boolean;
  event: string;
  handled: boolean;
  reason?: string;
}

/** NodePull are the calls that wait for a node to wake up. */
export interface NodePull {
  nodeId: string;
  actions: NodePulledRow[];
}

/** NodePulledRow is one of them. */
export interface NodePulledRow {
  id: string;
  command: string;
  paramsJSON: string | null;
  enqueuedAtMs: number;
}

/** NodePullAckParams say which of them were taken. */
export interface NodePullAckParams {
  ids: string[];
}

/** NodePullAck is the result. */
export interface NodePullAck {
  nodeId: string;
  ackedIds: string[];
  remainingCount: number;
}

/** NodeEnqueueParams leave a wish for a node that sleeps. */
export interface NodeEnqueueParams {
  nodeId: string;
  /** status.request, location.request */
  type: string;
  /** normal, high */
  priority?: string;
  expiresInMs?: number;
  wake?: boolean;
}

/** NodePendingItem is one wish. */
export interface NodePendingItem {
  id: string;
  type: string;
  priority: string;
  createdAtMs: number;
  expiresAtMs: number;
  payload?: Record<string, unknown>;
}

/** NodeEnqueued is the result of node.pending.enqueue. */
export interface NodeEnqueued {
  nodeId: string;
  revision: number;
  queued: NodePendingItem;
  wakeTriggered: boolean;
}

/** NodeDrainParams take wishes. */
export interface NodeDrainParams {
  maxItems?: number;
}

/** NodeDrained is the result. */
export interface NodeDrained {
  nodeId: string;
  revision: number;
  items: NodePendingItem[];
  hasMore: boolean;
}

/**
 * NodeSkillsParams and NodeToolsParams are what other node hosts publish. They
 * are taken note of and not offered to the model.
 */
export interface NodeSkillsParams {
  skills: unknown[];
}

/** NodeSkills is the result: none are used. */
export interface NodeSkills {
  nodeId: string;
  skills: string[];
}

/** NodeToolsParams are like NodeSkillsParams. */
export interface NodeToolsParams {
  tools: unknown[];
}

/** NodeTools is the result: none are used. */
export interface NodeTools {
  nodeId: string;
  tools: string[];
}

/** NodeRunners is the result of node.runnerInventory.update. */
export interface NodeRunners {
  nodeId: string;
}

// Limits of the fields of a request frame.
export const MaxRequestID = 256;
export const MaxMethodName = 128;

/** Pause is the switch that stops Hearth from acting. */
export interface Pause {
  /** off, tools, network, everything */
  level: string;
  untilMs?: number;
  sinceMs?: number;
  by?: string;
  reason?: string;
}

/** PauseSetParams switch it; DurationMs 0 is until somebody resumes. */
export interface PauseSetParams {
  level: string;
  durationMs?: number;
  reason?: string;
}

/** AuditListParams choose entries, the newest first. */
export interface AuditListParams {
  limit?: number;
  /** only entries with a smaller number */
  before?: number;
  /** auth, approval, exec, tool, config, install, send, pause, audit */
  kind?: string;
}

/** AuditEntry is one line of the audit log. */
export interface AuditEntry {
  seq: number;
  atMs: number;
  kind: string;
  what: string;
  who?: string;
  session?: string;
  runId?: string;
  facts?: Record<string, string>;
  hash: string;
}

/** AuditList is a page of it. */
export interface AuditList {
  entries: AuditEntry[];
}

/** AuditReport is whether the log is as it was written. */
export interface AuditReport {
  ok: boolean;
  entries: number;
  first?: number;
  last?: number;
  head?: string;
  problem?: string;
}

/** PushKey is the key by which push services know this gateway (VAPID). */
export interface PushKey {
  /** base64url of the point, uncompressed */
  vapidPublicKey: string;
}

/** PushKeys are a browser's: what is sent to it is encrypted for them. */
export interface PushKeys {
  p256dh: string;
  auth: string;
}

/** PushSubscribeParams are a browser's PushSubscription. */
export interface PushSubscribeParams {
  endpoint: string;
  keys: PushKeys;
}

/** PushSubscribed names a subscription. */
export interface PushSubscribed {
  subscriptionId: string;
}

/** PushEndpointParams name a subscription of the caller's device. */
export interface PushEndpointParams {
  endpoint: string;
}

/** PushUnsubscribed says whether there was one. */
export interface PushUnsubscribed {
  removed: boolean;
}

/** PushTestParams are words for a trial, which is sent to the caller's device. */
export interface PushTestParams {
  title?: string;
  body?: string;
}

/** PushTested is what the push services said to a trial. */
export interface PushTested {
  results: PushTrial[];
}

/** PushTrial is what became of one of them. */
export interface PushTrial {
  subscriptionId: string;
  ok: boolean;
  statusCode?: number;
  /** in plain words */
  error?: string;
}

/** PushCategories are what a device is told of. Reminder is ours. */
export interface PushCategories {
  approvalRequested: boolean;
  agentFinished: boolean;
  agentQuestion: boolean;
  humanMentioned: boolean;
  scheduledTaskFailed: boolean;
  backgroundTaskFailed: boolean;
  hearthReminder: boolean;
}

/**
 * PushQuietHours are those in which a device is left alone. The end may be before
 * the start: over midnight.
 */
export interface PushQuietHours {
  enabled: boolean;
  /** of the day */
  startMinute: number;
  endMinute: number;
  timeZone: string;
}

/**
 * PushPreferences are what holds for a device. DetailLevel says what leaves the
 * machine: private (that there is news), identified (of what kind, and which chat)
 * or detailed (the words).
 */
export interface PushPreferences {
  categories: PushCategories;
  detailLevel: string;
  quietHours: PushQuietHours;
  /** empty: all */
  agentIds: string[];
}

/** PushChosen are the categories that a person decided about. */
export interface PushChosen {
  approvalRequested?: boolean;
  agentFinished?: boolean;
  agentQuestion?: boolean;
  humanMentioned?: boolean;
  scheduledTaskFailed?: boolean;
  backgroundTaskFailed?: boolean;
  hearthReminder?: boolean;
}

/**
 * PushDevicePreferences are what a person chose for a device; what is missing is as
 * for everybody.
 */
export interface PushDevicePreferences {
  enabled: boolean;
  label: string;
  categories?: PushChosen;
  detailLevel?: string;
  quietHours?: PushQuietHours;
  agentIds?: string[];
}

/** PushPreferencesSetParams change them; Scope is "device". */
export interface PushPreferencesSetParams {
  endpoint: string;
  scope: string;
  preferences: PushDevicePreferences;
}

/** PushPreferencesResult is what was chosen and what follows from it. */
export interface PushPreferencesResult {
  /** false: there are no profiles of people */
  durableIdentity: boolean;
  user: PushPreferences;
  device: PushDevicePreferences;
  effective: PushEffective;
}

/** PushEffective is what holds for a device. */
export interface PushEffective {
  categories: PushCategories;
  detailLevel: string;
  quietHours: PushQuietHours;
  /** empty: all */
  agentIds: string[];
  enabled: boolean;
  label: string;
}

/** PushOpenParams hold what a notification carried. */
export interface PushOpenParams {
  ref: string;
}

/**
 * PushPlace is where the news of a notification is. Found is false for one that is
 * too old.
 */
export interface PushPlace {
  found: boolean;
  /** answer, approval, reminder, failure, test */
  kind?: string;
  sessionKey?: string;
  approvalId?: string;
}

/**
 * ReachStatus is from where the gateway can be reached, the result of
 * hearth.reach.status.
 */
export interface ReachStatus {
  /** loopback, lan, tailnet, custom */
  mode: string;
  port: number;
  /** open to other machines now, with the port */
  addresses: string[];
  problem?: string;
  /** Who the gateway is to other machines; empty while it never was open to any. */
  id?: string;
  /** on the local network */
  host?: string;
  /** of its key: the current one and, during a change, the next */
  pins?: string[];
  fingerprint?: string;
  /** Announcement is nil while the gateway does not announce itself. */
  announcement?: ReachAnnouncement;
  /** Tailscale is nil on a machine without it. */
  tailscale?: ReachTailscale;
}

/**
 * ReachTailscale is the way by `tailscale serve`, which gives browsers a
 * certificate that they trust.
 */
export interface ReachTailscale {
  /** of this machine in its tailnet */
  name: string;
  /** of the page for phones; empty while it is not served */
  url?: string;
  /** Public: the name is open to the whole internet, where Hearth is not served. */
  public?: boolean;
}

/** ReachAnnouncement is how the gateway can be found by Bonjour. */
export interface ReachAnnouncement {
  /** announced, no-network, refused, quiet, stopped */
  phase: string;
  name: string;
  interfaces?: string[];
  detail?: string;
}

/**
 * ReachRotation is the result of hearth.reach.rotate: the key of now, the one
 * that follows it, and when.
 */
export interface ReachRotation {
  pin: string;
  nextPin: string;
  fromMs: number;
}

/**
 * Repair is what a person can do about something that does not work: clients put a
 * button beside the words. A client that does not know one shows none.
 */
export type Repair = "add-key" | "sign-in" | "unlock" | "choose-model" | "allowance" | "resume" | "doctor" | "retry";

/** no service has a key that works */
export const RepairKey = "add-key";
/** an account's login is over */
export const RepairSignIn = "sign-in";
/** the keys are locked away */
export const RepairUnlock = "unlock";
/** another model may do it */
export const RepairModel = "choose-model";
/** the limit that the person set is reached */
export const RepairAllowance = "allowance";
/** Hearth is paused */
export const RepairResume = "resume";
/** look at what is wrong */
export const RepairDoctor = "doctor";
/** the same again may work */
export const RepairRetry = "retry";

// Limits of any JSON from outside, checked by one pass before anything is
// decoded: a hostile value costs a scan, never an allocation of its shape.
/** object members in one message, all levels together */
export const MaxKeys = 10000;
export const MaxElements = 100000;
export const MaxNumberLen = 64;

/** Role is what a connection is for. */
export type Role = "operator" | "node";

export const RoleOperator = "operator";
export const RoleNode = "node";

/** Scope is a right of an operator connection. */
export type Scope = "operator.read" | "operator.write" | "operator.admin" | "operator.approvals" | "operator.pairing" | "operator.questions" | "operator.talk" | "operator.talk.secrets" | "";

export const ScopeRead = "operator.read";
export const ScopeWrite = "operator.write";
export const ScopeAdmin = "operator.admin";
export const ScopeApprovals = "operator.approvals";
export const ScopePairing = "operator.pairing";
export const ScopeQuestions = "operator.questions";
export const ScopeTalk = "operator.talk";
export const ScopeTalkSecrets = "operator.talk.secrets";
/** ScopeNone marks methods that any authenticated connection may call. */
export const ScopeNone = "";

/**
 * SessionsSearchParams looks for words in all messages: every word must be in
 * the message, the last one may be the beginning of a word.
 */
export interface SessionsSearchParams {
  query: string;
  /** default 20, most 200 */
  limit?: number;
  /** only this session */
  key?: string;
  agentId?: string;
}

/** SessionsSearch is the newest messages that hold the words. */
export interface SessionsSearch {
  query: string;
  results: SearchHit[];
  hasMore: boolean;
  /** Indexing says that older messages are still being taken up. */
  indexing?: boolean;
}

/**
 * SearchHit is one message. Ranges are the words in the snippet: begin and end
 * in UTF-16 units. A hit of a transcript that was reset has another SessionID
 * than its session has now.
 */
export interface SearchHit {
  sessionKey: string;
  sessionId: string;
  title?: string;
  messageId: string;
  seq: number;
  role: string;
  timestamp: number;
  snippet: string;
  /** how often the words are in it, the first few times; the order is by time */
  score: number;
  ranges: number[][];
}

/** SecretsList names what is kept. */
export interface SecretsList {
  secrets: SecretEntry[];
  /** Elsewhere says in sentences what is kept in places that are not in use. */
  elsewhere?: string[];
}

/** SecretEntry is what is told of a secret. */
export interface SecretEntry {
  name: string;
  updatedAt: number;
  /** settings that refer to it */
  usedBy: string[];
}

/** SecretSetParams keeps a value under a name. */
export interface SecretSetParams {
  name: string;
  value: string;
}

/** SecretNameParams names a secret. */
export interface SecretNameParams {
  name: string;
}

/**
 * SecretsStatus is where secrets are kept and how that place is. Message is for
 * people: empty when all is well.
 */
export interface SecretsStatus {
  /** secrets.backend */
  backend: string;
  /** keychain, vault, plain; absent: nowhere */
  place?: string;
  state: string;
  ready: boolean;
  message?: string;
  /** settings that hold a key itself */
  inTheOpen: string[];
  /** InLists are further ones, which secrets.migrate cannot move: parts of a list. */
  inLists?: string[];
  /** keys that the settings refer to and that could not be had */
  problems: string[];
}

/**
 * SecretsUnlockParams: Create makes the vault when there is none. A keychain
 * asks by itself and needs no passphrase.
 */
export interface SecretsUnlockParams {
  passphrase?: string;
  create?: boolean;
}

/** SecretsMigrated says which settings now refer to a key that they held. */
export interface SecretsMigrated {
  moved: string[];
  /** as in SecretsStatus */
  inLists?: string[];
  /**
   * Gathered are the names of secrets that were moved out of a place which is not
   * in use.
   */
  gathered?: string[];
}

/** SecretsReload is the answer of secrets.reload. */
export interface SecretsReload {
  ok: boolean;
  warningCount: number;
}

/** SessionRow is one session in lists and events. */
export interface SessionRow {
  key: string;
  /** direct, group, global, unknown */
  kind: string;
  sessionId: string;
  agentId: string;
  updatedAt: number;
  createdAt?: number;
  label?: string;
  displayName?: string;
  derivedTitle?: string;
  lastMessagePreview?: string;
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  /**
   * ContextTokens is the window of the model that answered last, as clients of
   * OpenClaw take it. ContextUsed is ours: how much of it the conversation takes.
   */
  contextTokens?: number;
  hearthContextUsed?: number;
  modelProvider?: string;
  model?: string;
  /** ModelOverride is ours: true when the person chose this model for this session. */
  hearthModelOverride?: boolean;
  /** What stands in the place of the default, and who decided so: user or auto. */
  providerOverride?: string;
  modelOverride?: string;
  modelOverrideSource?: string;
  authProfileOverride?: string;
  authProfileOverrideSource?: string;
  authProfileOverrideCompactionCount?: number;
  /** Fallback is ours: another model than the selected one answers. */
  hearthFallback?: SessionFallback;
  thinkingLevel?: string;
  verboseLevel?: string;
  reasoningLevel?: string;
  /** allow, deny */
  sendPolicy?: string;
  compactionCount?: number;
  /** running, done */
  status?: string;
  hasActiveRun: boolean;
  activeRunId?: string;
  activeRunIds: string[];
  /** that ended last, while none is active */
  lastRunId?: string;
  /** when this was so, ms; a later one is the truer */
  snapshotAt?: number;
  queuedRuns?: number;
  abortedLastRun?: boolean;
  messageCount: number;
  chatType?: string;
  channel?: string;
  /**
   * Of groups: what the group is called, or else, where it is a named room of the network,
   * how that is called (GroupChannel says the same, as newer clients read it) and the server,
   * workspace or team that it is in.
   */
  subject?: string;
  room?: string;
  groupChannel?: string;
  space?: string;
  origin?: SessionOrigin;
  /**
   * Where answers that are delivered go: where a message came from last, or where
   * the owner goes on. Dock is ours: they do, until they say otherwise.
   */
  lastChannel?: string;
  lastTo?: string;
  lastAccountId?: string;
  deliveryContext?: DeliveryContext;
  hearthDock?: SessionOrigin;
  pinned?: boolean;
  archived?: boolean;
  archivedAt?: number;
  /** that an editor works in */
  hearthFolder?: string;
  /** Category is the folder of the list of chats that it is in, "" for none. */
  category?: string;
  /** Branch is ours: another one means that the transcript reads differently now. */
  hearthBranch?: string;
}

/** SessionFallback says which model answers in the place of the selected one. */
export interface SessionFallback {
  /** "provider/model" */
  selected: string;
  active: string;
  reason: string;
}

/** DeliveryContext is a conversation on a messaging network. */
export interface DeliveryContext {
  channel?: string;
  to?: string;
  accountId?: string;
  threadId?: string;
}

/** SessionOrigin explains where a session's messages come from. */
export interface SessionOrigin {
  label?: string;
  provider?: string;
  from?: string;
  to?: string;
  accountId?: string;
  threadId?: string;
}

export interface SessionsListParams {
  /** default 100, most 1000 */
  limit?: number;
  offset?: number;
  agentId?: string;
  search?: string;
  activeMinutes?: number;
  includeDerivedTitles?: boolean;
  includeLastMessage?: boolean;
}

export interface SessionsList {
  ts: number;
  path: string;
  count: number;
  totalCount: number;
  limitApplied: number;
  nextOffset: number | null;
  hasMore: boolean;
  owners: string[];
  defaults: SessionModelDefaults;
  sessions: SessionRow[];
}

export interface SessionModelDefaults {
  modelProvider: string;
  model: string;
  contextTokens: number;
}

export interface SessionKeyParams {
  key: string;
  agentId?: string;
  limit?: number;
}

export interface SessionsGetResult {
  session: SessionRow | null;
  messages: Message[];
}

export interface SessionsCreateParams {
  key?: string;
  agentId?: string;
  label?: string;
  model?: string;
  /** Message, when set, is sent as the first turn under IdempotencyKey. */
  message?: string;
  idempotencyKey?: string;
}

export interface SessionEntry {
  sessionId: string;
  updatedAt: number;
  createdAt?: number;
  label?: string;
  /** ArchivedAt is when it was archived; absent when it is not. */
  archivedAt?: number;
}

export interface SessionsCreateResult {
  ok: boolean;
  key: string;
  sessionId: string;
  entry: SessionEntry;
  runStarted: boolean;
  runId?: string;
}

/**
 * SessionsPatchParams changes a session; a JSON null clears a field, an absent
 * one is left alone.
 */
export interface SessionsPatchParams {
  key: string;
  agentId?: string;
  label?: string | null;
  /** "provider/model" */
  model?: string | null;
  thinkingLevel?: string | null;
  /** on, off, full */
  verboseLevel?: string | null;
  /** on, off, stream */
  reasoningLevel?: string | null;
  /** allow, deny; null = by the rules */
  sendPolicy?: string | null;
  pinned?: boolean | null;
  archived?: boolean | null;
  /** ours: the folder that an editor works in */
  hearthFolder?: string | null;
  /** the folder of the list of chats */
  category?: string | null;
  /**
   * What the session must be for the change to happen. The settings are
   * OpenClaw's; ours have none of them, so that only null agrees.
   */
  expectedSessionId?: string;
  expectedLifecycleRevision?: string;
  expectedPermissionMode?: unknown;
  expectedSandboxMode?: unknown;
  expectedNativeRuntimeConsent?: unknown;
  expectedToolOverrides?: unknown;
  expectedMarkedUnreadAt?: unknown;
}

export interface ResolvedModel {
  modelProvider: string;
  model: string;
}

export interface SessionsPatchResult {
  ok: boolean;
  path: string;
  key: string;
  entry: SessionEntry;
  resolved: ResolvedModel;
}

export interface SessionsResetParams {
  key: string;
  agentId?: string;
  /** new, reset */
  reason?: string;
  /** ExpectedSessionID is what the session must be for it to happen. */
  expectedSessionId?: string;
}

export interface SessionsResetResult {
  ok: boolean;
  key: string;
  entry: SessionEntry;
}

export interface SessionsDeleteParams {
  key: string;
  agentId?: string;
  deleteTranscript?: boolean;
  /** refused when it is not archived */
  archivedOnly?: boolean;
  /** What the session must be for it to happen. */
  expectedSessionId?: string;
  expectedLifecycleRevision?: string;
  expectedSessionUpdatedAt?: number;
}

export interface SessionsDeleteResult {
  ok: boolean;
  key: string;
  deleted: boolean;
  archived: string[];
}

export interface SubscribeResult {
  subscribed: boolean;
  key?: string;
}

/** ViewParams name the chat that somebody looks at; empty: none, or no longer. */
export interface ViewParams {
  key: string;
}

/** SessionsChanged is the payload of event "sessions.changed". */
export interface SessionsChanged {
  sessionKey: string;
  agentId?: string;
  /** create, patch, reset, delete, send */
  reason?: string;
  /** start, end, error */
  phase?: string;
  runId?: string;
  ts: number;
  session?: SessionRow;
}

/** SessionMessage is the payload of event "session.message". */
export interface SessionMessage {
  sessionKey: string;
  agentId?: string;
  message: Message | null;
  messageId?: string;
  messageSeq?: number;
}

/**
 * Earlier is a conversation that a reset put aside: by a rule, /new or /reset.
 * chat.history reads it with its SessionID.
 */
export interface Earlier {
  sessionKey: string;
  sessionId: string;
  title?: string;
  endedAt: number;
  messages: number;
}

/**
 * EarlierParams asks for the earlier conversations of a session, for the one
 * with a session id, or with neither for all.
 */
export interface EarlierParams {
  key?: string;
  sessionId?: string;
  /** default 100, most 1000 */
  limit?: number;
}

/** EarlierList is the latest first. */
export interface EarlierList {
  earlier: Earlier[];
  total: number;
}

/** ContinueParams makes an earlier conversation a chat of its own. */
export interface ContinueParams {
  key: string;
  sessionId: string;
}

/** Continued is the chat that it is now. */
export interface Continued {
  key: string;
  session: SessionRow;
}

/** TranscriptExportParams pages through a session's entries. */
export interface TranscriptExportParams {
  key: string;
  /** an earlier conversation of the session */
  sessionId?: string;
  /** __openclaw.seq of the last entry read */
  after?: number;
  /** default 500, most 1000 */
  limit?: number;
}

export interface TranscriptExport {
  key: string;
  messages: Message[];
  hasMore: boolean;
}

/** SessionsCompactParams summarizes the older part of a session. */
export interface SessionsCompactParams {
  key: string;
  agentId?: string;
  instructions?: string;
  /** Restore is ours: take the summary away again. */
  hearthRestore?: boolean;
}

export interface SessionsCompactResult {
  ok: boolean;
  key: string;
  compacted: boolean;
  reason?: string;
}

/** SessionsDescribeResult: Session is null when there is none. */
export interface SessionsDescribeResult {
  session: SessionRow | null;
}

/** SessionsResolveParams finds a session by one of its names. */
export interface SessionsResolveParams {
  key?: string;
  sessionId?: string;
  label?: string;
  agentId?: string;
}

export interface SessionsResolveResult {
  ok: boolean;
  key: string;
  agentId?: string;
}

export interface SessionsPreviewParams {
  keys: string[];
  /** items a session, default 6 */
  limit?: number;
  /** of an item, default 240 */
  maxChars?: number;
}

export interface SessionsPreview {
  ts: number;
  previews: SessionPreview[];
}

export interface SessionPreview {
  key: string;
  /** ok, missing, empty */
  status: string;
  items: PreviewItem[];
}

export interface PreviewItem {
  role: string;
  text: string;
}

/** QueueEditParams is ours: other words for a message that still waits. */
export interface QueueEditParams {
  key: string;
  runId: string;
  message: string;
}

export interface OKResult {
  ok: boolean;
}

/** WhyParams is ours: RunID, or the last message of Key. */
export interface WhyParams {
  key?: string;
  runId?: string;
}

/** Why tells how a message was dealt with. */
export interface Why {
  runId: string;
  sessionKey: string;
  state: ReceiptState;
  model?: string;
  acceptedAt: number;
  startedAt?: number;
  endedAt?: number;
  attempts: number;
  /** run that answered it too */
  answeredIn?: string;
  reasons: WhyReason[];
}

/** WhyReason is one decision about a message. */
export interface WhyReason {
  /** milliseconds since 1970 */
  at: number;
  rule: WhyRule;
  /** in plain words */
  detail: string;
}

/** WhyRule is what kind of rule decided something about a message. */
export type WhyRule = "model" | "levels" | "fallback" | "notice" | "skipped" | "retried" | "compacted" | "tool" | "silent" | "resumed" | "ended" | "steer" | "followup" | "collect" | "interrupt";

/** which model answers, and who chose it */
export const WhyModel = "model";
/** what the message asked of the model by itself */
export const WhyLevels = "levels";
/** another model answers */
export const WhyFallback = "fallback";
/** the allowance changed the model */
export const WhyNotice = "notice";
/** a model was not asked */
export const WhySkipped = "skipped";
/** a model failed, and was or another is asked */
export const WhyRetried = "retried";
/** the oldest part of the conversation was summarized */
export const WhyCompacted = "compacted";
/** a tool ran */
export const WhyTool = "tool";
/** the model chose to say nothing */
export const WhySilent = "silent";
/** Hearth was started again meanwhile */
export const WhyResumed = "resumed";
/** how the answer ended */
export const WhyEnded = "ended";
/** the four modes of a message that came during an answer */
export const WhySteer = "steer";
export const WhyFollowup = "followup";
export const WhyCollect = "collect";
export const WhyInterrupt = "interrupt";

/** CommandsList is what clients complete. */
export interface CommandsList {
  commands: CommandInfo[];
}

export interface CommandInfo {
  name: string;
  textAliases: string[];
  description: string;
  category?: string;
  /** native */
  source: string;
  /** both */
  scope: string;
  acceptsArgs: boolean;
  args?: CommandArg[];
}

export interface CommandArg {
  name: string;
  description: string;
  /** string */
  type: string;
  choices?: CommandChoice[];
}

/** CommandChoice is something that an argument may be. */
export interface CommandChoice {
  value: string;
  label: string;
}

/** SessionsUsageParams: Key for one session, otherwise the last used ones. */
export interface SessionsUsageParams {
  key?: string;
  /** default 100, most 1000 */
  limit?: number;
}

/**
 * SessionsUsage counts tokens as the gateway keeps them; clients do not add up
 * transcripts.
 */
export interface SessionsUsage {
  updatedAt: number;
  sessions: SessionUsageRow[];
  totals: SessionUsageTotals;
}

export interface SessionUsageRow {
  key: string;
  sessionId: string;
  agentId: string;
  label?: string;
  updatedAt: number;
  modelProvider?: string;
  model?: string;
  usage: SessionUsageTotals;
}

/** SessionUsageTotals: Input counts what was read, from a cache or not. */
export interface SessionUsageTotals {
  input: number;
  output: number;
  totalTokens: number;
  /**
   * TotalCost is what is known of it, MissingCostEntries how many calls used
   * tokens whose price nobody knows.
   */
  totalCost: number;
  missingCostEntries: number;
}

/**
 * SessionsAbortParams stops a session's runs, queued ones first; RunID only
 * that one, whose session is looked up when Key is empty.
 */
export interface SessionsAbortParams {
  key?: string;
  agentId?: string;
  runId?: string;
}

/** SessionsAbortResult: Status is "aborted" or "no-active-run". */
export interface SessionsAbortResult {
  ok: boolean;
  abortedRunId: string | null;
  status: string;
  runIds: string[];
}

/**
 * SetupCode is what a QR code or a pasted code tells another machine. It holds
 * a secret that pairs one device.
 */
export interface SetupCode {
  url: string;
  urls?: string[];
  bootstrapToken: string;
  expiresAtMs?: number;
  /** TLSFingerprint is that of the whole certificate, which other clients pin. */
  tlsFingerprint?: string;
  /** Ours: the pin of the gateway's key, and its id. */
  pin?: string;
  id?: string;
}

// SetupScheme may stand before a setup code.
export const SetupScheme = "oc-pair://";

// PairPath is where a machine that has nothing yet asks to be let in, over TLS.
export const PairPath = "/hearth/pair";

/**
 * PairSetupParams: Access is "node" (do what the gateway asks of it), "limited"
 * (talk, read, decide approvals; the default) or "full" (settings and devices as
 * well). IncludeQR asks for pictures of the code.
 */
export interface PairSetupParams {
  access?: string;
  includeQr?: boolean;
}

/** PairSetup is a code that pairs one device, once. */
export interface PairSetup {
  setupCode: string;
  expiresAtMs: number;
  gatewayUrl: string;
  urls: string[];
  /** token */
  auth: string;
  access: string;
  pin: string;
  /**
   * Ours: the fingerprint of the certificate, and links that a phone opens, the
   * best first.
   */
  fingerprint?: string;
  phoneUrls?: string[];
  /**
   * Pictures, when they were asked for: PNGs as data URLs, of the setup code and
   * of the best link for a phone.
   */
  qrDataUrl?: string;
  phoneQrDataUrl?: string;
}

/** PairedDevices is the result of device.pair.list. */
export interface PairedDevices {
  pending: PairRequest[];
  paired: PairedDevice[];
}

/**
 * PairRequest is a device that waits for a person, in device.pair.list and as
 * the event device.pair.requested.
 */
export interface PairRequest {
  requestId: string;
  deviceId: string;
  publicKey: string;
  displayName?: string;
  platform?: string;
  deviceFamily?: string;
  clientId: string;
  clientMode: string;
  role: Role;
  roles: Role[];
  scopes: Scope[];
  remoteIp?: string;
  /** never: a person decides */
  silent: boolean;
  /** it was removed before */
  isRepair: boolean;
  ts: number;
  /**
   * Ours: why it waits (not-paired, revoked, role-upgrade, scope-upgrade), until
   * when, and the six digits that its own screen shows, if it shows any.
   */
  hearthReason: string;
  hearthExpiresAtMs: number;
  hearthCode?: string;
}

/**
 * PairResolved is the event device.pair.resolved. Besides approved and rejected
 * a request can end as expired, replaced or gone.
 */
export interface PairResolved {
  requestId: string;
  deviceId: string;
  decision: string;
  ts: number;
}

/**
 * PairDecisionParams: Code are the digits on the other screen, and are compared
 * when they are given; a wrong one ends the request. Access, "limited" or
 * "full", narrows what the device gets.
 */
export interface PairDecisionParams {
  requestId: string;
  hearthCode?: string;
  hearthAccess?: string;
}

export interface PairApproved {
  requestId: string;
  device: PairedDevice;
}

export interface PairRejected {
  requestId: string;
  deviceId: string;
}

export interface PairRenameParams {
  deviceId: string;
  label: string;
}

export interface PairRenamed {
  deviceId: string;
  label: string;
}

/** DeviceTokenParams: without Scopes a new token keeps those that it had. */
export interface DeviceTokenParams {
  deviceId: string;
  role: Role;
  scopes?: Scope[];
}

/** DeviceTokenRotated tells the token to the device itself only. */
export interface DeviceTokenRotated {
  deviceId: string;
  role: Role;
  scopes: Scope[];
  rotatedAtMs: number;
  /** inline, withheld-cross-device */
  tokenDelivery: string;
  token?: string;
}

export interface DeviceTokenRevokeParams {
  deviceId: string;
  role: Role;
}

export interface DeviceTokenRevoked {
  deviceId: string;
  role: Role;
  revokedAtMs: number;
}

/** DeviceTokenInfo is a token as lists show it. */
export interface DeviceTokenInfo {
  role: Role;
  scopes: Scope[];
  createdAtMs: number;
  rotatedAtMs?: number;
  revokedAtMs?: number;
}

/** PairedDevice is one that was let in. */
export interface PairedDevice {
  deviceId: string;
  publicKey: string;
  /** the owner's name for it, else its own words */
  displayName?: string;
  platform?: string;
  deviceFamily?: string;
  clientId: string;
  clientMode: string;
  role: Role;
  roles: Role[];
  scopes: Scope[];
  approvedVia: string;
  createdAtMs: number;
  approvedAtMs: number;
  lastSeenAtMs?: number;
  connected: boolean;
  tokens: DeviceTokenInfo[];
}

export interface PairRemoveParams {
  deviceId: string;
}

export interface PairRemoveResult {
  deviceId: string;
  removed: boolean;
}

/** SkillsStatusParams: AgentID "" is the default one. */
export interface SkillsStatusParams {
  agentId?: string;
  sessionKey?: string;
}

/** SkillsStatus lists every skill that was found. */
export interface SkillsStatus {
  workspaceDir: string;
  managedSkillsDir: string;
  agentId?: string;
  skills: SkillInfo[];
}

export interface SkillInfo {
  name: string;
  description: string;
  /** workspace, managed, bundled, extra, with "hearth-" before */
  source: string;
  bundled: boolean;
  filePath: string;
  baseDir: string;
  skillKey: string;
  emoji?: string;
  homepage?: string;
  primaryEnv?: string;
  always: boolean;
  disabled: boolean;
  blockedByAllowlist: boolean;
  blockedByAgentFilter: boolean;
  eligible: boolean;
  platformIncompatible: boolean;
  modelVisible: boolean;
  userInvocable: boolean;
  commandVisible: boolean;
  requirements: SkillNeeds;
  missing: SkillNeeds;
  configChecks: SkillConfigCheck[];
  install: SkillInstaller[];
  /**
   * Ours: what is known about its files, why it is not used, and the places of
   * others of its name.
   */
  version?: string;
  /** shipped, confirmed, local, changed, unknown, new */
  trust: string;
  problem?: string;
  shadowed?: string[];
  warnings?: string[];
}

export interface SkillNeeds {
  bins: string[];
  anyBins: string[];
  env: string[];
  config: string[];
  os: string[];
}

export interface SkillConfigCheck {
  path: string;
  satisfied: boolean;
}

export interface SkillInstaller {
  id: string;
  kind: string;
  label: string;
  bins: string[];
  /** ours: for the person to run */
  command?: string;
}

export interface SkillsBins {
  bins: string[];
}

/**
 * SkillsInstallParams: with InstallID it is about what a skill needs, with
 * Source "upload" about a skill. Other sources of other gateways are refused.
 */
export interface SkillsInstallParams {
  agentId?: string;
  name?: string;
  installId?: string;
  source?: string;
  slug?: string;
}

export interface SkillsInstallResult {
  ok: boolean;
  message: string;
}

/** SkillsUpdateParams changes what the settings say about one skill. */
export interface SkillsUpdateParams {
  skillKey: string;
  enabled?: boolean;
  /** "" removes it */
  apiKey?: string;
  env?: Record<string, string>;
  source?: string;
}

export interface SkillsUpdateResult {
  ok: boolean;
  skillKey: string;
  notes?: string[];
}

/**
 * SkillPlanParams is ours: Path is a folder, a .zip or a git bundle on the
 * gateway's computer; without it Name is a skill that is there.
 */
export interface SkillPlanParams {
  path?: string;
  name?: string;
  /** whose workspace; "" = the default one's */
  agentId?: string;
}

/** SkillPlan is what a person decides about. */
export interface SkillPlan {
  name: string;
  description: string;
  version?: string;
  homepage?: string;
  dir: string;
  from?: string;
  hash: string;
  bytes: number;
  files: SkillFile[];
  update: boolean;
  same: boolean;
  diff?: string;
  findings: string[];
  refused?: string;
  requires: SkillNeeds;
  primaryEnv?: string;
  /** the tool that its command calls */
  dispatch?: string;
  install: SkillInstaller[];
}

export interface SkillFile {
  path: string;
  bytes: number;
  executable?: boolean;
  /** added, changed, removed, same */
  change: string;
}

/**
 * SkillAcceptParams: Hash is that of the plan that was shown. With Path the
 * skill is installed, without it the one of Name is confirmed as it is.
 */
export interface SkillAcceptParams {
  path?: string;
  name?: string;
  hash: string;
  force?: boolean;
  agentId?: string;
}

export interface SkillNameParams {
  name: string;
}

/**
 * Health is the answer to health and part of hello-ok. Required by clients:
 * everything without omitempty.
 */
export interface Health {
  ok: boolean;
  ts: number;
  durationMs: number;
  channels: Record<string, unknown>;
  channelOrder: string[];
  channelLabels: Record<string, string>;
  heartbeatSeconds: number;
  defaultAgentId: string;
  agents: AgentHealth[];
  sessions: SessionsHealth;
  /** Hearth is ours: what is not well, in plain words. */
  hearth?: HealthDetail;
}

/** HealthDetail lists problems a person should know about. */
export interface HealthDetail {
  problems: Problem[];
}

/** Problem says what happened, why, and what to do next. */
export interface Problem {
  /** e.g. CONFIG_BROKEN, DISK_FULL, CONFIG_UNKNOWN_KEYS */
  code: string;
  message: string;
  /** what can be done about it */
  repair?: Repair;
}

export interface AgentHealth {
  agentId: string;
  name?: string;
  isDefault: boolean;
  heartbeat: HeartbeatHealth;
  sessions: SessionsHealth;
}

export interface HeartbeatHealth {
  enabled: boolean;
  every: string;
  everyMs: number;
  prompt: string;
  target: string;
  ackMaxChars: number;
}

export interface SessionsHealth {
  path: string;
  count: number;
  recent: RecentSession[];
}

export interface RecentSession {
  key: string;
  updatedAt: number;
  /** ms */
  age: number;
}

/** Status is the answer to status. */
export interface Status {
  runtimeVersion: string;
  heartbeat: StatusHeartbeat;
  channelSummary: string[];
  queuedSystemEvents: string[];
  sessions: StatusSessions;
  /** Hearth is ours: what `hearth status` prints. */
  hearth: StatusDetail;
  /** Pause is ours too: whether Hearth may act. */
  hearthPause: Pause;
}

export interface StatusHeartbeat {
  defaultAgentId: string;
  agents: (Record<string, unknown>)[];
}

export interface StatusSessions {
  paths: string[];
  count: number;
  defaults: SessionModelDefaults;
  recent: SessionRow[];
  byAgent: (Record<string, unknown>)[];
}

/** StatusDetail is ours. */
export interface StatusDetail {
  version: string;
  pid: number;
  url: string;
  stateDir: string;
  configPath: string;
  uptimeMs: number;
  /** "provider/model" that answers now */
  model: string;
  /** configured, detected, environment, built-in */
  modelSource: string;
  clients: number;
  activeRuns: number;
  queuedRuns: number;
  undelivered: number;
  /** PendingApprovals is how many requests wait for a yes. */
  pendingApprovals: number;
  residentBytes: number;
  /** as StoreStatus has them */
  storeBytes: number;
  problems: Problem[];
}

export interface LogsTailParams {
  /** byte offset; absent: the end of the file */
  cursor?: number;
  /** default 500, most 5000 */
  limit?: number;
  maxBytes?: number;
}

/**
 * LogsTail: Cursor is where the next call goes on; Reset says that the file
 * was replaced by a shorter one.
 */
export interface LogsTail {
  file: string;
  cursor: number;
  size: number;
  lines: string[];
  truncated: boolean;
  reset: boolean;
}

export interface AgentsList {
  defaultId: string;
  ownership: string;
  selectionRequired: boolean;
  mainKey: string;
  scope: string;
  agents: AgentInfo[];
}

export interface AgentInfo {
  id: string;
  name?: string;
  identity: AgentIdentity;
  workspace?: string;
  model: AgentModels;
}

export interface AgentModels {
  primary: string;
  fallbacks?: string[];
}

export interface AgentIdentity {
  agentId?: string;
  name: string;
  theme?: string;
  emoji?: string;
  avatar?: string;
}

export interface AgentIdentityParams {
  agentId?: string;
  sessionKey?: string;
}

export interface ModelsListParams {
  /** default, configured, all */
  view?: string;
}

export interface ModelsList {
  models: ModelInfo[];
}

/** ModelInfo is one model a person can pick. */
export interface ModelInfo {
  id: string;
  name: string;
  provider: string;
  /** a short name for /model */
  alias?: string;
  contextWindow?: number;
  reasoning: boolean;
  input?: string[];
  available: boolean;
  /** "default" on the one in use, "fallback#1" and so on */
  tags?: string[];
  /** Hearth is ours: where it comes from and why it is not available. */
  hearth?: ModelDetail;
}

export interface ModelDetail {
  /** configured, local, environment, built-in */
  source: string;
  /** how people call its provider */
  service?: string;
  /** what it costs is known */
  priced?: boolean;
  /** it costs nothing */
  free?: boolean;
  /** tokens of context that it was made for */
  trained?: number;
  /**
   * Verified is what a test found out, Resting until when (ms) none of the
   * accounts of its service may be asked.
   */
  verified?: ModelVerified;
  restingUntil?: number;
  local: boolean;
  /** it cannot call tools */
  noTools?: boolean;
  /** why not available, in plain words */
  reason?: string;
}

/** ConfigIssue points into the config file. */
export interface ConfigIssue {
  path: string;
  message: string;
  line?: number;
  column?: number;
}

/** ConfigSnapshot is the answer to config.get; secrets are replaced by a marker. */
export interface ConfigSnapshot {
  path: string;
  exists: boolean;
  raw: string | null;
  parsed: unknown;
  valid: boolean;
  config: unknown;
  hash: string;
  issues: ConfigIssue[];
  warnings: ConfigIssue[];
  legacyIssues: ConfigIssue[];
}

/**
 * ConfigSetParams: Raw is the whole file for config.set, a JSON merge patch
 * for config.patch. A BaseHash that is no longer current is refused.
 */
export interface ConfigSetParams {
  raw: string;
  baseHash?: string;
}

export interface ConfigSetResult {
  ok: boolean;
  path: string;
  hash: string;
  config: unknown;
  /** ours: what a person should know of the change */
  hearthNotes?: string[];
}

/** LaunchLink is ours: a link that works once, until ExpiresAtMs. */
export interface LaunchLink {
  url: string;
  expiresAtMs: number;
}

export interface LaunchLinkParams {
  /** default 60 s, most 10 min */
  ttlMs?: number;
}

// How a task stands.
export const TaskQueued = "queued";
export const TaskRunning = "running";
export const TaskCompleted = "completed";
export const TaskFailed = "failed";
export const TaskCancelled = "cancelled";
export const TaskTimedOut = "timed_out";

// What kinds of tasks there are. The first two are named as OpenClaw names them.
export const TaskAutomation = "automation_run";
export const TaskSubagent = "subagent";
export const TaskDownload = "model_download";
export const TaskSkill = "skill_install";
export const TaskImport = "import";
export const TaskStoreCheck = "store_check";
/** TaskStoreCompact is a task that gives back what the database does not use. */
export const TaskStoreCompact = "store_compact";

// What became of telling the result of a task.
export const TaskDeliveryPending = "pending";
export const TaskDeliveryDelivered = "delivered";
export const TaskDeliveryFailed = "failed";
export const TaskDeliveryNone = "not_applicable";

/** TaskExecution is how a task is at this moment. */
export interface TaskExecution {
  /** queued, running, finished */
  state: string;
  lastActivityAt?: number;
}

/**
 * Task is background work as OpenClaw's clients see it; they refuse one with other
 * fields. Prompt and Result are in the answer of tasks.get only.
 */
export interface Task {
  id: string;
  /** the same */
  taskId?: string;
  kind?: string;
  /** who does it: subagent, cron, download, skill, import */
  runtime?: string;
  status: string;
  execution?: TaskExecution;
  title?: string;
  agentId?: string;
  /** the conversation that wanted it */
  sessionKey?: string;
  /** the one in which it is done */
  childSessionKey?: string;
  hasTranscript?: boolean;
  ownerKey?: string;
  runId?: string;
  parentTaskId?: string;
  /** of a job's run: the job */
  sourceId?: string;
  createdAt?: number;
  updatedAt?: number;
  startedAt?: number;
  endedAt?: number;
  progressSummary?: string;
  terminalSummary?: string;
  error?: string;
  deliveryStatus?: string;
  result?: string;
  prompt?: string;
}

/** TaskEvent says that a task is as it is there, or that it is gone. */
export interface TaskEvent {
  /** upserted, removed */
  action: string;
  taskId?: string;
  task?: Task;
}

/** TaskOwn is what is ours of a task. */
export interface TaskOwn {
  done?: number;
  /** 0: nobody knows */
  total?: number;
  /** Interrupted: Hearth stopped while it worked, and nobody went on with it. */
  interrupted?: boolean;
  canCancel?: boolean;
  canRetry?: boolean;
}

/** TaskView is a task as our own clients see it. */
export interface TaskView {
  id: string;
  /** the same */
  taskId?: string;
  kind?: string;
  /** who does it: subagent, cron, download, skill, import */
  runtime?: string;
  status: string;
  execution?: TaskExecution;
  title?: string;
  agentId?: string;
  /** the conversation that wanted it */
  sessionKey?: string;
  /** the one in which it is done */
  childSessionKey?: string;
  hasTranscript?: boolean;
  ownerKey?: string;
  runId?: string;
  parentTaskId?: string;
  /** of a job's run: the job */
  sourceId?: string;
  createdAt?: number;
  updatedAt?: number;
  startedAt?: number;
  endedAt?: number;
  progressSummary?: string;
  terminalSummary?: string;
  error?: string;
  deliveryStatus?: string;
  result?: string;
  prompt?: string;
  hearth: TaskOwn;
}

/** TaskViewEvent is TaskEvent for our own clients. */
export interface TaskViewEvent {
  /** its id */
  removed?: string;
  task?: TaskView;
}

/** TaskStatuses is one status, or a list of them. */
export type TaskStatuses = string[];

/** TasksListParams are those of tasks.list. */
export interface TasksListParams {
  status?: TaskStatuses;
  agentId?: string;
  sessionKey?: string;
  limit?: number;
  cursor?: string;
  /** updatedAt, endedAt; without one by when they were created */
  sortBy?: string;
}

/** TasksList is a page of tasks, the newest first. */
export interface TasksList {
  tasks: Task[];
  nextCursor?: string;
}

/** TaskViews is TasksList for our own clients. */
export interface TaskViews {
  tasks: TaskView[];
  nextCursor?: string;
}

/** TaskIDParams name a task. */
export interface TaskIDParams {
  taskId: string;
}

/** TaskResult is the answer of tasks.get. */
export interface TaskResult {
  task: Task;
}

/** TaskCancelParams are those of tasks.cancel. */
export interface TaskCancelParams {
  taskId: string;
  reason?: string;
}

/** TaskCancelResult says what came of tasks.cancel. */
export interface TaskCancelResult {
  found: boolean;
  cancelled: boolean;
  reason?: string;
  task?: Task;
}

/** TaskIDsParams name up to ten tasks. */
export interface TaskIDsParams {
  taskIds: string[];
}

/** TaskDone says what came of one of several tasks. */
export interface TaskDone {
  taskId: string;
  ok: boolean;
  reason?: string;
  duplicateRisk?: boolean;
  task?: Task;
}

/** TasksDone is the answer of tasks.retry and tasks.dismiss. */
export interface TasksDone {
  results: TaskDone[];
}

/** TaskHistoryParams are those of tasks.history. */
export interface TaskHistoryParams {
  taskId: string;
  cursor?: string;
  limit?: number;
}

/** TaskHistory is what was said while a task was done. */
export interface TaskHistory {
  messages: Message[];
  nextCursor?: string;
}

/** Tokens are those that other programs come in with. */
export interface Tokens {
  tokens: Token[];
  /** every right that there is */
  scopes: string[];
}

/** Token is what is known of a token; not the token itself. */
export interface Token {
  id: string;
  name: string;
  scopes: string[];
  /** active, expired, revoked */
  state: string;
  createdAt: number;
  expiresAt?: number;
  /** to the minute */
  lastUsed?: number;
  revokedAt?: number;
}

/** TokenCreateParams ask for a token. */
export interface TokenCreateParams {
  name: string;
  /** none: chat, models and embeddings */
  scopes?: string[];
  /** LifeMs is how long it works; 0 is until it is revoked. */
  lifeMs?: number;
}

/** TokenCreated holds a new token, which is told this once. */
export interface TokenCreated {
  token: Token;
  secret: string;
}

/** TokenRevokeParams name a token by its id or name. */
export interface TokenRevokeParams {
  token: string;
}

/** TokenRevoked is the token that was ended. */
export interface TokenRevoked {
  id: string;
  name: string;
  scopes: string[];
  /** active, expired, revoked */
  state: string;
  createdAt: number;
  expiresAt?: number;
  /** to the minute */
  lastUsed?: number;
  revokedAt?: number;
  /** it had been revoked before */
  before?: boolean;
}

/** ToolsCatalogParams choose an agent. */
export interface ToolsCatalogParams {
  agentId?: string;
  includePlugins?: boolean;
}

/** ToolsCatalog is every tool there is, in groups. */
export interface ToolsCatalog {
  agentId: string;
  profiles: ToolsProfile[];
  groups: ToolsGroup[];
}

/** ToolsProfile is a choice of tools by name. */
export interface ToolsProfile {
  id: string;
  label: string;
}

/** ToolsGroup is tools that belong together. */
export interface ToolsGroup {
  id: string;
  label: string;
  /** "core" */
  source: string;
  tools: ToolInfo[];
}

/** ToolInfo is one tool; Allowed and Why are ours. */
export interface ToolInfo {
  id: string;
  label: string;
  description: string;
  rawDescription?: string;
  source: string;
  defaultProfiles?: string[];
  parameters?: unknown;
  hearthAllowed?: boolean;
  hearthWhy?: string;
}

/** ToolsEffectiveParams name a session. */
export interface ToolsEffectiveParams {
  sessionKey: string;
  agentId?: string;
}

/** ToolsEffective is what a message of the owner in the session could use now. */
export interface ToolsEffective {
  agentId: string;
  profile: string;
  groups: ToolsGroup[];
  /** and why */
  hearthDenied: ToolInfo[];
}

/** ToolsInvokeParams run one tool. */
export interface ToolsInvokeParams {
  name: string;
  args?: unknown;
  sessionKey?: string;
  agentId?: string;
  /** changes nothing: what needs a yes asks for it */
  confirm?: boolean;
  idempotencyKey?: string;
}

/** ToolsInvokeResult is what it came to. */
export interface ToolsInvokeResult {
  ok: boolean;
  toolName: string;
  output?: ToolOutput;
  /** "core" */
  source?: string;
  error?: ToolFailure;
}

/** ToolOutput is text for people and models. */
export interface ToolOutput {
  content: Block[];
  details?: unknown;
}

/** ToolFailure says why a tool did not do it. */
export interface ToolFailure {
  code: string;
  message: string;
}

/** UndoListParams: Limit 0 means 50. */
export interface UndoListParams {
  limit?: number;
}

/** UndoList is ours: turns that changed files and can be taken back, newest first. */
export interface UndoList {
  turns: UndoTurn[];
}

export interface UndoTurn {
  runId: string;
  sessionKey?: string;
  /** of its last change */
  at: number;
  tools: string[];
  files: string[];
  /** it took that turn back */
  undoOf?: string;
  /** it was taken back by that turn */
  undoneBy?: string;
}

/**
 * UndoParams: without RunID it is the newest turn that was not taken back, of
 * Key when that is given. Force (apply) takes back files that were changed since.
 */
export interface UndoParams {
  runId?: string;
  key?: string;
  force?: boolean;
}

/** UndoPlan is what taking a turn back would do, or did. */
export interface UndoPlan {
  runId: string;
  files: UndoFile[];
  /**
   * UndoID is the turn of taking back, which can be taken back as well; "" when
   * nothing was changed.
   */
  undoId?: string;
}

export interface UndoFile {
  path: string;
  /** restore, recreate, delete, nothing, conflict, failed */
  action: string;
  /** conflict, failed */
  reason?: string;
  /** of what comes back */
  bytes?: number;
  done?: boolean;
}

/**
 * UpdateStatus is how this Hearth is updated. The first four fields are OpenClaw's,
 * the rest is ours. Times are milliseconds, 0 for never.
 */
export interface UpdateStatus {
  /** always null */
  sentinel: unknown;
  updateAvailable: UpdateAvailable | null;
  effectiveChannel: string;
  activeRun?: UpdateRun;
  /** that runs */
  version: string;
  /** Blocked says why this program cannot update itself, and what to do; "" = it can. */
  blocked?: string;
  /** Owner is the package manager that updates it, "" = none. */
  owner?: string;
  /** the host that releases come from */
  source?: string;
  /** how often it is looked; 0 = only when asked */
  everyMs: number;
  checkedAt?: number;
  /** of the last look */
  error?: string;
  onTrial?: boolean;
  back?: UpdateBack;
  last?: UpdateOutcome;
}

/** UpdateAvailable is a newer version. */
export interface UpdateAvailable {
  currentVersion: string;
  latestVersion: string;
  channel: string;
  notes?: string;
  /** Bad says why it was taken back when it was tried; "" = it was not. */
  bad?: string;
}

/** UpdateRun is an update that is under way, or was the last of this start. */
export interface UpdateRun {
  runId: string;
  /** "staging", "validating", "restarting", "finished" */
  phase: string;
  /** "running", "succeeded", "failed", "skipped" */
  status: string;
  reason?: string;
  to?: string;
  /** bytes */
  have?: number;
  total?: number;
}

/** UpdateBack is the version that can be gone back to. */
export interface UpdateBack {
  version: string;
  untilMs: number;
}

/** UpdateOutcome is how the last update ended. */
export interface UpdateOutcome {
  atMs: number;
  from: string;
  to: string;
  /** "updated", "rolled-back", "went-back", "failed" */
  result: string;
  reason?: string;
  /** the newer store, where the older version could not use it */
  kept?: string;
  /** messages that are only in Kept */
  lost?: number;
}

/**
 * UpdateRunParams begin an update. Channel "" is the one of the settings. Retry takes
 * a version that was taken back before. What else OpenClaw's clients send is not used.
 */
export interface UpdateRunParams {
  channel?: string;
  retry?: boolean;
}

/** UpdateRunResult says what became of the wish. */
export interface UpdateRunResult {
  runId: string;
  ok: boolean;
  /** why not */
  message?: string;
}

/** UpdateCheckParams look now. */
export interface UpdateCheckParams {
  channel?: string;
}

/**
 * UsageCostParams choose days: the last Days (30 when nothing is said), or
 * from StartDate to EndDate.
 */
export interface UsageCostParams {
  days?: number;
  /** 2026-03-02 */
  startDate?: string;
  endDate?: string;
  agentId?: string;
  /** GroupBy is ours: model, session, account or day. */
  groupBy?: string;
}

/** UsageTotals counts tokens and what is known of their cost. */
export interface UsageTotals {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  totalTokens: number;
  totalCost: number;
  inputCost: number;
  outputCost: number;
  cacheReadCost: number;
  cacheWriteCost: number;
  /** MissingCostEntries is how many calls used tokens whose price nobody knows. */
  missingCostEntries: number;
}

/** UsageDay is one day. */
export interface UsageDay {
  date: string;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  totalTokens: number;
  totalCost: number;
  inputCost: number;
  outputCost: number;
  cacheReadCost: number;
  cacheWriteCost: number;
  /** MissingCostEntries is how many calls used tokens whose price nobody knows. */
  missingCostEntries: number;
}

/**
 * UsageGroup is ours: what has a model, a session, an account or a day in
 * common.
 */
export interface UsageGroup {
  name: string;
  calls: number;
  failed?: number;
  lastAt?: number;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  totalTokens: number;
  totalCost: number;
  inputCost: number;
  outputCost: number;
  cacheReadCost: number;
  cacheWriteCost: number;
  /** MissingCostEntries is how many calls used tokens whose price nobody knows. */
  missingCostEntries: number;
  /** Daily are the days of a model that was used, when models are asked for. */
  daily?: UsageGroupDay[];
}

/** UsageGroupDay is ours: one day of a model. */
export interface UsageGroupDay {
  date: string;
  totalTokens: number;
  totalCost: number;
}

/** UsageCost is the ledger. */
export interface UsageCost {
  updatedAt: number;
  days: number;
  daily: UsageDay[];
  totals: UsageTotals;
  hearth?: UsageDetail;
}

/** UsageDetail is ours. */
export interface UsageDetail {
  currency: string;
  groups: UsageGroup[];
}

/** UsageStatus: Providers are windows that services report about themselves. */
export interface UsageStatus {
  updatedAt: number;
  providers: unknown[];
  hearth?: UsageAllowance;
}

/** UsageAllowance is ours: how the allowance stands. */
export interface UsageAllowance {
  /** free, sparing, used */
  level: string;
  currency: string;
  today: number;
  month: number;
  /** the limits, 0 = none */
  daily?: number;
  monthly?: number;
  cheapModel?: string;
  /** of the period whose limit is nearest */
  endsAt?: number;
  message?: string;
}

/** UsageAllowParams is ours: other limits (0 = none), or one answer beyond them. */
export interface UsageAllowParams {
  daily?: number;
  monthly?: number;
  once?: boolean;
}

/** What each method takes and gives. */
export interface Methods {
  "hearth.secrets.list": { params: Record<string, never>; result: SecretsList };
  "hearth.secrets.set": { params: SecretSetParams; result: OKResult };
  "hearth.secrets.remove": { params: SecretNameParams; result: OKResult };
  "hearth.secrets.status": { params: Record<string, never>; result: SecretsStatus };
  "hearth.secrets.unlock": { params: SecretsUnlockParams; result: SecretsStatus };
  "hearth.secrets.migrate": { params: Record<string, never>; result: SecretsMigrated };
  "secrets.reload": { params: Record<string, never>; result: SecretsReload };
  "tools.catalog": { params: ToolsCatalogParams; result: ToolsCatalog };
  "tools.effective": { params: ToolsEffectiveParams; result: ToolsEffective };
  "hearth.code.run": { params: CodeRunParams; result: CodeRunResult };
  "tools.invoke": { params: ToolsInvokeParams; result: ToolsInvokeResult };
  "exec.approval.request": { params: ApprovalRequestParams; result: ApprovalRequestResult };
  "exec.approval.waitDecision": { params: ApprovalIDParams; result: ApprovalRequestResult };
  "exec.approval.resolve": { params: ApprovalResolveParams; result: OKResult };
  "exec.approval.list": { params: Record<string, never>; result: Approval[] };
  "exec.approval.get": { params: ApprovalIDParams; result: Approval };
  "approval.get": { params: ApprovalIDParams; result: AnyApprovalResult };
  "approval.resolve": { params: AnyApprovalResolveParams; result: AnyApprovalResolved };
  "approval.history": { params: AnyApprovalHistoryParams; result: AnyApprovalHistory };
  "plugin.approval.list": { params: Record<string, never>; result: Approval[] };
  "openclaw.approval.list": { params: Record<string, never>; result: Approval[] };
  "exec.approvals.get": { params: Record<string, never>; result: ExecApprovals };
  "exec.approvals.set": { params: ExecApprovalsSetParams; result: ExecApprovals };
  "hearth.approvals.rules": { params: Record<string, never>; result: ApprovalRules };
  "hearth.approvals.removeRule": { params: ApprovalIDParams; result: OKResult };
  "hearth.pause.get": { params: Record<string, never>; result: Pause };
  "hearth.pause.set": { params: PauseSetParams; result: Pause };
  "hearth.audit.list": { params: AuditListParams; result: AuditList };
  "hearth.audit.verify": { params: Record<string, never>; result: AuditReport };
  "hearth.memory.list": { params: MemoryListParams; result: MemoryFiles };
  "hearth.memory.search": { params: MemorySearchParams; result: MemoryFound };
  "hearth.memory.get": { params: MemoryGetParams; result: MemoryContent };
  "hearth.memory.set": { params: MemorySetParams; result: MemoryChange };
  "hearth.memory.forget": { params: MemoryForgetParams; result: MemoryChange };
  "hearth.memory.status": { params: MemoryStatusParams; result: MemoryStatus };
  "hearth.memory.index": { params: MemoryIndexParams; result: MemoryStatus };
  "memory.search": { params: MemorySearchParams; result: MemoryFound };
  "hearth.backup.status": { params: Record<string, never>; result: BackupStatus };
  "hearth.backup.setup": { params: BackupSetupParams; result: BackupStatus };
  "hearth.backup.create": { params: BackupCreateParams; result: BackupMade };
  "hearth.backup.list": { params: Record<string, never>; result: BackupList };
  "hearth.backup.prune": { params: Record<string, never>; result: BackupPruned };
  "hearth.move.status": { params: Record<string, never>; result: MoveStatus };
  "hearth.move.offer": { params: MoveOfferParams; result: MoveStatus };
  "hearth.move.begin": { params: Record<string, never>; result: MoveBegun };
  "hearth.move.piece": { params: MovePieceParams; result: MovePiece };
  "hearth.move.release": { params: MoveReleaseParams; result: MoveReleased };
  "hearth.move.arrived": { params: MoveArrivedParams; result: MoveStatus };
  "hearth.move.leave": { params: Record<string, never>; result: MoveStatus };
  "hearth.move.export": { params: MoveExportParams; result: MoveExported };
  "hearth.move.wake": { params: MoveWakeParams; result: MoveStatus };
  "update.status": { params: Record<string, never>; result: UpdateStatus };
  "update.run": { params: UpdateRunParams; result: UpdateRunResult };
  "hearth.update.check": { params: UpdateCheckParams; result: UpdateStatus };
  "hearth.update.back": { params: Record<string, never>; result: UpdateRunResult };
  "hearth.imports.sources": { params: Record<string, never>; result: ImportSources };
  "hearth.imports.plan": { params: ImportParams; result: ImportReport };
  "hearth.imports.start": { params: ImportParams; result: ImportStarted };
  "hearth.imports.report": { params: ImportReportParams; result: ImportReport };
  "hearth.undo.list": { params: UndoListParams; result: UndoList };
  "hearth.undo.preview": { params: UndoParams; result: UndoPlan };
  "hearth.undo.apply": { params: UndoParams; result: UndoPlan };
  "hearth.media.get": { params: MediaGetParams; result: Media };
  "hearth.upload.put": { params: UploadPutParams; result: UploadPutResult };
  "hearth.upload.drop": { params: UploadDropParams; result: OKResult };
  "hearth.prompts.list": { params: Record<string, never>; result: PromptsList };
  "hearth.artifact.save": { params: ArtifactSaveParams; result: ArtifactSaved };
  "hearth.sessions.export": { params: TranscriptExportParams; result: TranscriptExport };
  "hearth.sessions.earlier": { params: EarlierParams; result: EarlierList };
  "hearth.sessions.continue": { params: ContinueParams; result: Continued };
  "sessions.branches.list": { params: BranchesParams; result: BranchesList };
  "sessions.branches.switch": { params: BranchSwitchParams; result: OKResult };
  "sessions.rewind": { params: EntryParams; result: RewindResult };
  "sessions.fork": { params: EntryParams; result: ForkResult };
  "hearth.chat.again": { params: ChatAgainParams; result: ChatSendResult };
  "skills.status": { params: SkillsStatusParams; result: SkillsStatus };
  "skills.bins": { params: Record<string, never>; result: SkillsBins };
  "skills.install": { params: SkillsInstallParams; result: SkillsInstallResult };
  "skills.update": { params: SkillsUpdateParams; result: SkillsUpdateResult };
  "hearth.skills.plan": { params: SkillPlanParams; result: SkillPlan };
  "hearth.skills.accept": { params: SkillAcceptParams; result: SkillPlan };
  "hearth.skills.remove": { params: SkillNameParams; result: OKResult };
  "hearth.mcp.list": { params: Record<string, never>; result: MCPServers };
  "hearth.mcp.test": { params: MCPServerParams; result: MCPServer };
  "hearth.mcp.login": { params: MCPServerParams; result: MCPLogin };
  "hearth.mcp.login.wait": { params: MCPLoginWaitParams; result: MCPLoginState };
  "hearth.mcp.logout": { params: MCPServerParams; result: OKResult };
  "hearth.mcp.resources": { params: MCPServerParams; result: MCPResources };
  "hearth.mcp.read": { params: MCPReadParams; result: MCPText };
  "hearth.mcp.prompts": { params: MCPServerParams; result: MCPPrompts };
  "hearth.mcp.prompt": { params: MCPPromptParams; result: MCPText };
  "hearth.reach.status": { params: Record<string, never>; result: ReachStatus };
  "device.pair.setupCode": { params: PairSetupParams; result: PairSetup };
  "device.pair.list": { params: Record<string, never>; result: PairedDevices };
  "device.pair.remove": { params: PairRemoveParams; result: PairRemoveResult };
  "device.pair.approve": { params: PairDecisionParams; result: PairApproved };
  "device.pair.reject": { params: PairDecisionParams; result: PairRejected };
  "device.pair.rename": { params: PairRenameParams; result: PairRenamed };
  "device.token.rotate": { params: DeviceTokenParams; result: DeviceTokenRotated };
  "device.token.revoke": { params: DeviceTokenRevokeParams; result: DeviceTokenRevoked };
  "hearth.reach.rotate": { params: Record<string, never>; result: ReachRotation };
  "node.list": { params: Record<string, never>; result: NodeList };
  "node.describe": { params: NodeIDParams; result: NodeDescription };
  "node.rename": { params: NodeRenameParams; result: NodeRenamed };
  "node.invoke": { params: NodeInvokeParams; result: NodeInvokeResult };
  "node.pair.list": { params: Record<string, never>; result: NodePairs };
  "node.pair.approve": { params: NodeRequestParams; result: NodeApproved };
  "node.pair.reject": { params: NodeRequestParams; result: NodeRejected };
  "node.pair.remove": { params: NodeIDParams; result: NodeRemoved };
  "node.pending.enqueue": { params: NodeEnqueueParams; result: NodeEnqueued };
  "node.invoke.result": { params: NodeResultParams; result: NodeAck };
  "node.invoke.progress": { params: NodeProgressParams; result: NodeAck };
  "node.event": { params: NodeEventParams; result: NodeEventResult };
  "node.pending.pull": { params: Record<string, never>; result: NodePull };
  "node.pending.ack": { params: NodePullAckParams; result: NodePullAck };
  "node.pending.drain": { params: NodeDrainParams; result: NodeDrained };
  "node.skills.update": { params: NodeSkillsParams; result: NodeSkills };
  "node.pluginTools.update": { params: NodeToolsParams; result: NodeTools };
  "node.runnerInventory.update": { params: Record<string, unknown>; result: NodeRunners };
  "cron.list": { params: CronListParams; result: CronList };
  "cron.status": { params: Record<string, never>; result: CronStatus };
  "cron.get": { params: CronIDParams; result: CronJob };
  "cron.add": { params: CronAddParams; result: CronAdded };
  "cron.update": { params: CronUpdateParams; result: CronJob };
  "cron.remove": { params: CronIDParams; result: CronRemoved };
  "cron.run": { params: CronRunParams; result: CronRunStarted };
  "cron.runs": { params: CronRunsParams; result: CronRuns };
  "cron.scratch.get": { params: CronIDParams; result: CronScratchState };
  "cron.scratch.set": { params: CronScratchSetParams; result: CronScratchState };
  "wake": { params: WakeParams; result: OKResult };
  "set-heartbeats": { params: SetHeartbeatsParams; result: SetHeartbeatsResult };
  "last-heartbeat": { params: Record<string, never>; result: HeartbeatEvent | null };
  "hooks.status": { params: HooksStatusParams; result: HooksStatus };
  "hearth.hooks.enable": { params: HookEnableParams; result: HookInfo };
  "hearth.cron.preview": { params: CronPreviewParams; result: CronPreview };
  "hearth.cron.calendar": { params: CronCalendarParams; result: CronCalendar };
  "hearth.cron.missed": { params: Record<string, never>; result: CronMissed };
  "hearth.cron.missed.resolve": { params: CronMissedParams; result: OKResult };
  "hearth.cron.snooze": { params: CronSnoozeParams; result: CronJob };
  "hearth.cron.seen": { params: CronSeenParams; result: OKResult };
  "hearth.cron.act": { params: CronActParams; result: CronActed };
  "hearth.cron.watch.test": { params: CronWatchTestParams; result: CronWatchTest };
  "hearth.cron.proposals": { params: Record<string, never>; result: CronProposals };
  "hearth.cron.proposals.answer": { params: CronProposalParams; result: CronProposalAnswered };
  "tasks.list": { params: TasksListParams; result: TasksList };
  "tasks.get": { params: TaskIDParams; result: TaskResult };
  "tasks.cancel": { params: TaskCancelParams; result: TaskCancelResult };
  "tasks.retry": { params: TaskIDsParams; result: TasksDone };
  "tasks.dismiss": { params: TaskIDsParams; result: TasksDone };
  "tasks.history": { params: TaskHistoryParams; result: TaskHistory };
  "hearth.tasks.list": { params: TasksListParams; result: TaskViews };
  "agents.list": { params: Record<string, never>; result: AgentsList };
  "agent.identity.get": { params: AgentIdentityParams; result: AgentIdentity };
  "agents.create": { params: AgentsCreateParams; result: AgentsCreateResult };
  "agents.update": { params: AgentsUpdateParams; result: AgentsUpdateResult };
  "agents.delete": { params: AgentsDeleteParams; result: AgentsDeleteResult };
  "agents.files.list": { params: AgentFilesParams; result: AgentFiles };
  "agents.files.get": { params: AgentFileParams; result: AgentFileResult };
  "agents.files.set": { params: AgentFileSetParams; result: AgentFileResult };
  "models.list": { params: ModelsListParams; result: ModelsList };
  "models.authStatus": { params: Record<string, never>; result: ModelsAuthStatus };
  "models.authLogout": { params: ModelsAuthLogoutParams; result: ModelsAuthLogoutResult };
  "models.authOrderSet": { params: ModelsAuthOrderParams; result: OKResult };
  "models.authSetApiKey": { params: ModelsAuthSetKeyParams; result: ModelsAuthSetKeyResult };
  "hearth.models.auth.login": { params: ModelsAuthLoginParams; result: ModelsAuthLogin };
  "hearth.models.auth.wait": { params: ModelsAuthWaitParams; result: ModelsAuthWait };
  "hearth.models.auth.cancel": { params: ModelsAuthWaitParams; result: OKResult };
  "hearth.models.auth.foreign": { params: Record<string, never>; result: ForeignLogins };
  "hearth.models.auth.import": { params: ModelsAuthImportParams; result: ModelsAuthSetKeyResult };
  "hearth.models.auth.allow": { params: ModelsAuthAllowParams; result: OKResult };
  "hearth.models.test": { params: ModelsTestParams; result: ModelsTestResult };
  "hearth.models.pull": { params: ModelsPullParams; result: ModelsPullProgress };
  "hearth.models.look": { params: ModelsLookParams; result: ModelsLook };
  "hearth.models.services": { params: Record<string, never>; result: ModelServices };
  "push.web.vapidPublicKey": { params: Record<string, never>; result: PushKey };
  "push.web.subscribe": { params: PushSubscribeParams; result: PushSubscribed };
  "push.web.unsubscribe": { params: PushEndpointParams; result: PushUnsubscribed };
  "push.web.test": { params: PushTestParams; result: PushTested };
  "push.web.preferences.get": { params: PushEndpointParams; result: PushPreferencesResult };
  "push.web.preferences.set": { params: PushPreferencesSetParams; result: PushPreferencesResult };
  "hearth.push.open": { params: PushOpenParams; result: PushPlace };
  "connect": { params: ConnectParams; result: HelloOK };
  "health": { params: Record<string, never>; result: Health };
  "status": { params: Record<string, never>; result: Status };
  "system-presence": { params: Record<string, never>; result: PresenceEntry[] };
  "logs.tail": { params: LogsTailParams; result: LogsTail };
  "config.get": { params: Record<string, never>; result: ConfigSnapshot };
  "config.set": { params: ConfigSetParams; result: ConfigSetResult };
  "config.patch": { params: ConfigSetParams; result: ConfigSetResult };
  "config.schema": { params: Record<string, never>; result: ConfigSchema };
  "config.schema.lookup": { params: ConfigLookupParams; result: ConfigLookup };
  "hearth.doctor": { params: DoctorParams; result: Doctor };
  "hearth.doctor.repair": { params: DoctorRepairParams; result: DoctorRepaired };
  "hearth.store.status": { params: Record<string, never>; result: StoreStatus };
  "hearth.store.check": { params: Record<string, never>; result: StoreStatus };
  "hearth.store.compact": { params: Record<string, never>; result: StoreStatus };
  "hearth.setup.get": { params: SetupGetParams; result: Setup };
  "hearth.setup.answer": { params: SetupAnswerParams; result: Setup };
  "usage.cost": { params: UsageCostParams; result: UsageCost };
  "usage.status": { params: Record<string, never>; result: UsageStatus };
  "hearth.usage.allow": { params: UsageAllowParams; result: UsageStatus };
  "chat.send": { params: ChatSendParams; result: ChatSendResult };
  "chat.history": { params: ChatHistoryParams; result: ChatHistory };
  "chat.startup": { params: ChatHistoryParams; result: ChatHistory };
  "chat.metadata": { params: ChatMetadataParams; result: ChatMetadata };
  "chat.abort": { params: ChatAbortParams; result: ChatAbortResult };
  "chat.inject": { params: ChatInjectParams; result: ChatInjectResult };
  "agent": { params: AgentParams; result: AgentAccepted | AgentResult };
  "agent.wait": { params: AgentWaitParams; result: AgentWaitResult };
  "sessions.list": { params: SessionsListParams; result: SessionsList };
  "sessions.get": { params: SessionKeyParams; result: SessionsGetResult };
  "sessions.create": { params: SessionsCreateParams; result: SessionsCreateResult };
  "sessions.patch": { params: SessionsPatchParams; result: SessionsPatchResult };
  "sessions.reset": { params: SessionsResetParams; result: SessionsResetResult };
  "sessions.delete": { params: SessionsDeleteParams; result: SessionsDeleteResult };
  "sessions.subscribe": { params: Record<string, never>; result: SubscribeResult };
  "sessions.unsubscribe": { params: Record<string, never>; result: SubscribeResult };
  "sessions.messages.subscribe": { params: SessionKeyParams; result: SubscribeResult };
  "sessions.messages.unsubscribe": { params: SessionKeyParams; result: SubscribeResult };
  "sessions.describe": { params: SessionKeyParams; result: SessionsDescribeResult };
  "sessions.resolve": { params: SessionsResolveParams; result: SessionsResolveResult };
  "sessions.preview": { params: SessionsPreviewParams; result: SessionsPreview };
  "sessions.compact": { params: SessionsCompactParams; result: SessionsCompactResult };
  "sessions.search": { params: SessionsSearchParams; result: SessionsSearch };
  "sessions.abort": { params: SessionsAbortParams; result: SessionsAbortResult };
  "sessions.usage": { params: SessionsUsageParams; result: SessionsUsage };
  "commands.list": { params: Record<string, never>; result: CommandsList };
  "channels.status": { params: Record<string, never>; result: ChannelsStatus };
  "web.login.start": { params: WebLoginStartParams; result: WebLogin };
  "web.login.wait": { params: WebLoginWaitParams; result: WebLogin };
  "channels.start": { params: ChannelAccountParams; result: ChannelStarted };
  "channels.stop": { params: ChannelAccountParams; result: ChannelStopped };
  "send": { params: MessageSendParams; result: MessageDone };
  "poll": { params: MessagePollParams; result: MessageDone };
  "message.action": { params: MessageActionParams; result: MessageDone };
  "channels.logout": { params: ChannelAccountParams; result: ChannelLoggedOut };
  "channels.pairing.list": { params: ChannelPairingListParams; result: ChannelPairingList };
  "channels.pairing.approve": { params: ChannelPairingApproveParams; result: ChannelPairingApproved };
  "channels.pairing.dismiss": { params: ChannelPairingDismissParams; result: ChannelPairingDismissed };
  "hearth.channels.kinds": { params: Record<string, never>; result: ChannelKinds };
  "hearth.channels.add": { params: ChannelAddParams; result: ChannelAdded };
  "hearth.channels.remove": { params: ChannelRemoveParams; result: OKResult };
  "hearth.contacts.list": { params: Record<string, never>; result: ContactsList };
  "hearth.contacts.resolve": { params: ContactResolveParams; result: OKResult };
  "hearth.contacts.remove": { params: ContactRemoveParams; result: OKResult };
  "hearth.contacts.set": { params: ContactSetParams; result: ContactsList };
  "hearth.deliveries.list": { params: Record<string, never>; result: DeliveriesList };
  "hearth.deliveries.resolve": { params: DeliveryResolveParams; result: OKResult };
  "hearth.why": { params: WhyParams; result: Why };
  "hearth.tokens.list": { params: Record<string, never>; result: Tokens };
  "hearth.tokens.create": { params: TokenCreateParams; result: TokenCreated };
  "hearth.tokens.revoke": { params: TokenRevokeParams; result: TokenRevoked };
  "hearth.queue.edit": { params: QueueEditParams; result: OKResult };
  "hearth.view": { params: ViewParams; result: OKResult };
  "hearth.launch": { params: LaunchLinkParams; result: LaunchLink };
}

/** The payload of each event. */
export interface Events {
  "connect.challenge": Challenge;
  "tick": { ts: number };
  "health": Health;
  "presence": { presence: PresenceEntry[] };
  "shutdown": { reason?: string; restartExpectedMs?: number | null };
  "chat": ChatEvent;
  "agent": AgentEvent;
  "sessions.changed": SessionsChanged;
  "session.message": SessionMessage;
  "session.tool": AgentEvent;
  "config.changed": unknown;
  "skills.changed": Record<string, never>;
  "exec.approval.requested": Approval;
  "exec.approval.resolved": ApprovalResolved;
  "device.pair.requested": PairRequest;
  "device.pair.resolved": PairResolved;
  "hearth.pause": Pause;
  "hearth.models.pull": ModelsPullProgress;
  "hearth.setup": Setup;
  "hearth.code.output": CodeOutputEvent;
  "node.pair.requested": NodeRequest;
  "node.pair.resolved": NodePairResolved;
  "node.presence": NodePresence;
  "node.hostStats": NodeHostStats;
  "node.invoke.request": NodeInvokeRequest;
  "node.invoke.cancel": NodeInvokeCancel;
  "cron": CronEvent;
  "heartbeat": HeartbeatEvent;
  "task": TaskEvent;
  "hearth.task": TaskViewEvent;
  "hearth.cron.proposals": CronProposals;
}
