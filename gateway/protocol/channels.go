package protocol

// ChannelsStatus is the answer to channels.status.
type ChannelsStatus struct {
	TS                      int64                             `json:"ts"`
	ChannelOrder            []string                          `json:"channelOrder"`
	ChannelLabels           map[string]string                 `json:"channelLabels"`
	Channels                map[string]any                    `json:"channels"`
	ChannelAccounts         map[string][]ChannelAccountStatus `json:"channelAccounts"`
	ChannelDefaultAccountID map[string]string                 `json:"channelDefaultAccountId"`
}

type ChannelAccountStatus struct {
	AccountID  string `json:"accountId"`
	Enabled    bool   `json:"enabled"`
	Configured bool   `json:"configured"`
	Linked     bool   `json:"linked"`
	Running    bool   `json:"running"`
	Connected  bool   `json:"connected"`
	LastError  string `json:"lastError,omitempty"`
	Name       string `json:"name,omitempty"` // of the bot, on the network
	// LastInboundAt is when a message was accepted last since the start, in ms.
	LastInboundAt int64    `json:"lastInboundAt,omitempty"`
	DMPolicy      string   `json:"dmPolicy,omitempty"`
	AllowFrom     []string `json:"allowFrom,omitempty"`
	// The rest is ours. State is starting, receiving, waiting (it will be tried
	// again), conflict, failed or stopped; Groups are those that the settings name.
	State       string   `json:"hearthState,omitempty"`
	GroupPolicy string   `json:"hearthGroupPolicy,omitempty"`
	Groups      []string `json:"hearthGroups,omitempty"`
}

// ChannelKinds is ours: the networks that an account can be set up on, and how.
type ChannelKinds struct {
	Kinds []ChannelKind `json:"kinds"`
}

// ChannelKind is one network.
type ChannelKind struct {
	ID    string   `json:"id"`
	Label string   `json:"label"`
	Steps []string `json:"steps"`           // what a person does there before, each a sentence
	First string   `json:"first,omitempty"` // how they write to the account then
	// Manifest is a file that the network makes an application of.
	Manifest *ChannelManifest `json:"manifest,omitempty"`
	Settings []ChannelSetting `json:"settings"`
}

// ChannelManifest is a file for a person to hand to a network.
type ChannelManifest struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// ChannelSetting is what an account is asked for.
type ChannelSetting struct {
	Key    string `json:"key"`
	Form   string `json:"form"` // secret, address, public-address, words, list, switch, port
	About  string `json:"about"`
	Unset  string `json:"unset,omitempty"` // what holds without it
	Needed bool   `json:"needed,omitempty"`
	OneOf  bool   `json:"oneOf,omitempty"` // of those that say so one is needed
	On     bool   `json:"on,omitempty"`    // a switch is on without it
}

// ChannelAddParams set an account up: Values are what a person typed, by the keys of
// its network's settings. Secrets go to where keys are kept.
type ChannelAddParams struct {
	Channel   string            `json:"channel"`
	AccountID string            `json:"accountId,omitempty"` // "" = default
	Values    map[string]string `json:"values"`
}

// ChannelAdded says what became of it. With Wrong nothing was kept: what is wrong
// with which value.
type ChannelAdded struct {
	OK bool `json:"ok"`
	// Fresh: nothing of the account stood in the settings before.
	Fresh bool              `json:"fresh,omitempty"`
	Wrong map[string]string `json:"wrong,omitempty"`
	Notes []string          `json:"notes,omitempty"`
}

// ChannelAccountParams name an account.
type ChannelAccountParams struct {
	Channel   string `json:"channel"`
	AccountID string `json:"accountId,omitempty"` // "" = default
}

// ChannelRemoveParams take an account out of the settings. With KeepRules only what
// it is connected with goes; who may write to it stays.
type ChannelRemoveParams struct {
	Channel   string `json:"channel"`
	AccountID string `json:"accountId,omitempty"`
	KeepRules bool   `json:"keepRules,omitempty"`
}

// ChannelStarted is the answer to channels.start, and ChannelStopped that to
// channels.stop. Either lasts: it is written into the settings.
type ChannelStarted struct {
	Channel   string `json:"channel"`
	AccountID string `json:"accountId"`
	Started   bool   `json:"started"`
}

type ChannelStopped struct {
	Channel   string `json:"channel"`
	AccountID string `json:"accountId"`
	Stopped   bool   `json:"stopped"`
}

// WebLoginStartParams asks what a person does to log an account in. Without a channel
// it is the one that asks for somebody; Force and Verbose are taken and change nothing.
type WebLoginStartParams struct {
	Channel   string `json:"channel,omitempty"`
	AccountID string `json:"accountId,omitempty"`
	TimeoutMs int64  `json:"timeoutMs,omitempty"`
	Force     bool   `json:"force,omitempty"`
	Verbose   bool   `json:"verbose,omitempty"`
	// Answer, ours, is that to an ask of the kind confirm: "yes" when another device shows
	// the same as Compared, "no" when it does not; or to one of the kind decide.
	Answer   string `json:"answer,omitempty"`
	Compared string `json:"compared,omitempty"`
}

// WebLoginWaitParams waits until the account is connected, or asks for something else
// than the picture that the client shows.
type WebLoginWaitParams struct {
	Channel          string `json:"channel,omitempty"`
	AccountID        string `json:"accountId,omitempty"`
	SessionKey       string `json:"sessionKey,omitempty"`
	TimeoutMs        int64  `json:"timeoutMs,omitempty"`
	CurrentQRDataURL string `json:"currentQrDataUrl,omitempty"`
}

// WebLogin is how far a login is.
type WebLogin struct {
	Connected bool      `json:"connected"`
	Message   string    `json:"message"`
	QRDataURL string    `json:"qrDataUrl,omitempty"`
	Ask       *LoginAsk `json:"ask,omitempty"` // ours
}

// LoginAsk is what a person has to do: scan a QR code, type a code, open an address,
// read a text, compare one and answer, or decide (WebLoginStartParams.Answer).
type LoginAsk struct {
	Kind        string `json:"kind"`
	Value       string `json:"value"`
	ExpiresAtMs int64  `json:"expiresAtMs"`
}

// ContactsList is ours: who may write from messaging networks, and who asks to.
type ContactsList struct {
	Contacts []Contact        `json:"contacts"`
	Requests []ContactRequest `json:"requests"`
	Listed   []ListedSender   `json:"listed"` // by the settings
}

// ListedSender is somebody whom the settings let write (allowFrom) or make the
// owner (commands.ownerAllowFrom).
type ListedSender struct {
	Channel string `json:"channel"`
	Account string `json:"account"`
	ID      string `json:"id"`
	Owner   bool   `json:"owner"`
}

type Contact struct {
	Channel    string `json:"channel"`
	Account    string `json:"account"`
	ID         string `json:"id"`
	Name       string `json:"name,omitempty"`
	Handle     string `json:"handle,omitempty"`
	Owner      bool   `json:"owner"`
	Shared     bool   `json:"shared"` // reads and writes in the owner's conversation; else in one of their own
	ApprovedAt int64  `json:"approvedAt"`
}

type ContactRequest struct {
	Channel   string `json:"channel"`
	Account   string `json:"account"`
	ID        string `json:"id"`
	Name      string `json:"name,omitempty"`
	Handle    string `json:"handle,omitempty"`
	Code      string `json:"code"`
	AskedAt   int64  `json:"askedAt"`
	ExpiresAt int64  `json:"expiresAt"`
}

// ContactResolveParams: Decision is approve or reject. Whoever is approved gets
// a conversation of their own; Shared opens the owner's to them, and Owner says
// that this is the owner, with their commands and their conversation.
type ContactResolveParams struct {
	Channel  string `json:"channel"`
	Code     string `json:"code"`
	Decision string `json:"decision"`
	Owner    bool   `json:"owner,omitempty"`
	Shared   bool   `json:"shared,omitempty"`
}

// ContactSetParams changes what somebody who may write has. Without an Account
// it is about every account to which the id may write.
type ContactSetParams struct {
	Channel string `json:"channel"`
	Account string `json:"account,omitempty"`
	ID      string `json:"id"`
	Owner   *bool  `json:"owner,omitempty"`
	Shared  *bool  `json:"shared,omitempty"`
}

type ContactRemoveParams struct {
	Channel string `json:"channel"`
	Account string `json:"account"`
	ID      string `json:"id"`
}

// DeliveriesList is ours: answers that have not reached their network.
type DeliveriesList struct {
	Deliveries []DeliveryInfo `json:"deliveries"`
	// Incomplete arrived, with words in the place of a file, or beside what was shown
	// of them while they were written: Reason says why.
	Incomplete []DeliveryInfo `json:"incomplete"`
	Aside      []AsideMessage `json:"aside"` // messages from networks that could not be handled
}

// AsideMessage is a message from a network that could not be handled and was
// put aside until somebody says whether to try it again or to drop it.
type AsideMessage struct {
	ID           string `json:"id"`
	Channel      string `json:"channel"`
	Account      string `json:"account"`
	Conversation string `json:"conversation"`
	SenderID     string `json:"senderId"`
	Reason       string `json:"reason"`
	Text         string `json:"text"` // its beginning
	At           int64  `json:"at"`
}

type DeliveryInfo struct {
	ID           string `json:"id"`
	Channel      string `json:"channel"`
	Account      string `json:"account"`
	Conversation string `json:"conversation"`
	SessionKey   string `json:"sessionKey,omitempty"`
	RunID        string `json:"runId,omitempty"`
	State        string `json:"state"` // waiting, sending, failed, uncertain; of incomplete ones delivered
	Reason       string `json:"reason,omitempty"`
	Text         string `json:"text,omitempty"`
	Sent         int    `json:"sent"`  // messages that were confirmed
	Parts        int    `json:"parts"` // messages in all
	CreatedAt    int64  `json:"createdAt"`
	NextAt       int64  `json:"nextAt,omitempty"`
	// Draft: it is only the beginning of an answer, shown while that was written. The
	// answer is a delivery of its own, so a draft is not sent again.
	Draft bool `json:"draft,omitempty"`
	// Stale: what was shown of the answer while it was written stands there still.
	Stale bool `json:"stale,omitempty"`
}

// DeliveryResolveParams: Decision is resend (it may then arrive twice) or
// arrived (somebody saw it; all there is for a draft); for a message that was put aside retry or drop.
type DeliveryResolveParams struct {
	ID       string `json:"id"`
	Decision string `json:"decision"`
}
