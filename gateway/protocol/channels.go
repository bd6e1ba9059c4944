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
	// Incomplete arrived, with words in the place of a file: Reason says why.
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
}

// DeliveryResolveParams: Decision is resend (it may then arrive twice) or
// arrived (somebody saw it); for a message that was put aside retry or drop.
type DeliveryResolveParams struct {
	ID       string `json:"id"`
	Decision string `json:"decision"`
}
