package protocol

// What clients have done on messaging networks: it is their person's own act, so that
// nobody is asked. One idempotencyKey is one act, also after a restart of the gateway:
// the same again is answered with what came of it, and does nothing more.

// MessageSendParams are those of send. Of what only some networks have, MessageDone says
// what was not heeded.
type MessageSendParams struct {
	To      string `json:"to"`
	Message string `json:"message,omitempty"` // Markdown
	// MediaURL and MediaURLs are https addresses, or files of the workspace; Buffer is a
	// file in base64 or as a data: address.
	MediaURL      string   `json:"mediaUrl,omitempty"`
	MediaURLs     []string `json:"mediaUrls,omitempty"`
	Buffer        string   `json:"buffer,omitempty"`
	Filename      string   `json:"filename,omitempty"`
	ContentType   string   `json:"contentType,omitempty"`
	AsVoice       bool     `json:"asVoice,omitempty"`
	GifPlayback   bool     `json:"gifPlayback,omitempty"`
	Channel       string   `json:"channel,omitempty"`   // "" = the only one
	AccountID     string   `json:"accountId,omitempty"` // "" = default, or the only one
	AgentID       string   `json:"agentId,omitempty"`   // whose workspace; "" = the default's
	ReplyToID     string   `json:"replyToId,omitempty"`
	ThreadID      string   `json:"threadId,omitempty"`
	ForceDocument bool     `json:"forceDocument,omitempty"`
	Silent        bool     `json:"silent,omitempty"`
	ParseMode     string   `json:"parseMode,omitempty"` // "HTML" is refused
	// SessionKey is a conversation in which it is noted too.
	SessionKey     string `json:"sessionKey,omitempty"`
	IdempotencyKey string `json:"idempotencyKey"`
}

// MessagePollParams are those of poll.
type MessagePollParams struct {
	To              string   `json:"to"`
	Question        string   `json:"question"`
	Options         []string `json:"options"`
	MaxSelections   int      `json:"maxSelections,omitempty"` // more than 1: several answers
	DurationSeconds int64    `json:"durationSeconds,omitempty"`
	DurationHours   int64    `json:"durationHours,omitempty"`
	Silent          bool     `json:"silent,omitempty"`
	IsAnonymous     *bool    `json:"isAnonymous,omitempty"`
	ThreadID        string   `json:"threadId,omitempty"`
	Channel         string   `json:"channel,omitempty"`
	AccountID       string   `json:"accountId,omitempty"`
	IdempotencyKey  string   `json:"idempotencyKey"`
}

// MessageActionParams are those of message.action: Params are the action's own, by the
// names of the tool message and of OpenClaw's command line.
type MessageActionParams struct {
	Channel        string         `json:"channel"`
	Action         string         `json:"action"`
	Params         map[string]any `json:"params"`
	Reply          *MessageReply  `json:"reply,omitempty"`
	AccountID      string         `json:"accountId,omitempty"`
	SessionKey     string         `json:"sessionKey,omitempty"`
	AgentID        string         `json:"agentId,omitempty"`
	IdempotencyKey string         `json:"idempotencyKey"`
}

// MessageReply is which message is answered.
type MessageReply struct {
	ReplyToID string `json:"replyToId"`
	Source    string `json:"source,omitempty"` // explicit or implicit
	Mode      string `json:"mode,omitempty"`   // first or all, of an implicit one
}

// MessageDone is what came of send, poll and message.action, when it was done.
type MessageDone struct {
	OK        bool   `json:"ok"`
	RunID     string `json:"runId"` // the idempotencyKey
	Channel   string `json:"channel"`
	AccountID string `json:"accountId"`
	ChatID    string `json:"chatId"`
	// MessageID is the last message of it, and MessageIDs are all.
	MessageID  string   `json:"messageId,omitempty"`
	MessageIDs []string `json:"messageIds,omitempty"`
	// What an action did: the emoji that was put on a message, or that ours was taken away.
	Added    string `json:"added,omitempty"`
	Removed  bool   `json:"removed,omitempty"`
	Edited   bool   `json:"edited,omitempty"`
	Deleted  bool   `json:"deleted,omitempty"`
	Pinned   bool   `json:"pinned,omitempty"`
	Unpinned bool   `json:"unpinned,omitempty"`
	DryRun   bool   `json:"dryRun,omitempty"` // nothing was done
	// Messages are what was read or found, the newest last; Results has those that were
	// found once more, where OpenClaw's command line looks for them.
	Messages *[]PastMessage `json:"messages,omitempty"`
	Results  *PastResults   `json:"results,omitempty"`
	// The rest is ours. Ignored are parameters that the network, or Hearth, has no such
	// thing for; Note says what else a person should know.
	Ignored []string `json:"ignored,omitempty"`
	Note    string   `json:"note,omitempty"`
}

// PastResults are messages that were found.
type PastResults struct {
	Messages [][]PastMessage `json:"messages"` // each by itself
}

// PastMessage is a message that was said before. What stands in it others wrote.
type PastMessage struct {
	MessageID string `json:"messageId"`
	User      string `json:"user,omitempty"` // for people
	SenderID  string `json:"senderId,omitempty"`
	Text      string `json:"text"`
	Timestamp string `json:"timestamp"` // RFC 3339
}

// ChannelLoggedOut is the answer to channels.logout.
type ChannelLoggedOut struct {
	Channel   string `json:"channel"`
	AccountID string `json:"accountId"`
	// Cleared: something that was kept of the login is gone; LoggedOut: the account cannot
	// be used with what is kept any more.
	Cleared   bool `json:"cleared"`
	LoggedOut bool `json:"loggedOut"`
	// EnvToken: a credential of it stands in the environment, where nobody but its person
	// can take it out.
	EnvToken bool   `json:"envToken,omitempty"`
	Message  string `json:"message"` // ours: what was done, and what may be left to do
}

// ChannelPairingListParams are those of channels.pairing.list.
type ChannelPairingListParams struct {
	Channel   string `json:"channel,omitempty"`
	AccountID string `json:"accountId,omitempty"`
}

// ChannelPairingList are the strangers who wrote to accounts with dmPolicy pairing and
// wait to be let in.
type ChannelPairingList struct {
	Accounts               []ChannelPairingAccount `json:"accounts"`
	Requests               []ChannelPairingRequest `json:"requests"`
	CommandOwnerConfigured bool                    `json:"commandOwnerConfigured"`
	Limits                 ChannelPairingLimits    `json:"limits"`
}

type ChannelPairingLimits struct {
	PendingPerAccount int   `json:"pendingPerAccount"`
	TTLMs             int64 `json:"ttlMs"`
}

type ChannelPairingAccount struct {
	Channel         string `json:"channel"`
	ChannelLabel    string `json:"channelLabel"`
	AccountID       string `json:"accountId"`
	AccountLabel    string `json:"accountLabel,omitempty"`
	NotifySupported bool   `json:"notifySupported"`
}

// ChannelPairingRequest is one of them. The code that they were told does not stand in it.
type ChannelPairingRequest struct {
	RequestID       string            `json:"requestId"`
	Channel         string            `json:"channel"`
	ChannelLabel    string            `json:"channelLabel"`
	AccountID       string            `json:"accountId"`
	AccountLabel    string            `json:"accountLabel,omitempty"`
	SenderID        string            `json:"senderId"`
	SenderLabel     string            `json:"senderLabel"` // what such an id is called
	Metadata        map[string]string `json:"metadata,omitempty"`
	CreatedAt       string            `json:"createdAt"`
	LastSeenAt      string            `json:"lastSeenAt"`
	ExpiresAt       string            `json:"expiresAt"`
	NotifySupported bool              `json:"notifySupported"`
}

// ChannelPairingApproveParams lets one in. Notify tells them; BootstrapCommandOwner, which
// needs operator.admin too, makes them the owner where there is none.
type ChannelPairingApproveParams struct {
	Channel               string `json:"channel"`
	AccountID             string `json:"accountId"`
	RequestID             string `json:"requestId"`
	Notify                bool   `json:"notify,omitempty"`
	BootstrapCommandOwner bool   `json:"bootstrapCommandOwner,omitempty"`
}

type ChannelPairingApproved struct {
	RequestID string `json:"requestId"`
	SenderID  string `json:"senderId"`
	// Notification is not-requested, sent, unsupported or failed.
	Notification string `json:"notification"`
	// CommandOwnerBootstrap is not-requested, configured or already-configured.
	CommandOwnerBootstrap string `json:"commandOwnerBootstrap"`
}

// ChannelPairingDismissParams takes a request away; who made it may ask again.
type ChannelPairingDismissParams struct {
	Channel   string `json:"channel"`
	AccountID string `json:"accountId"`
	RequestID string `json:"requestId"`
}

type ChannelPairingDismissed struct {
	RequestID string `json:"requestId"`
	SenderID  string `json:"senderId"`
}
