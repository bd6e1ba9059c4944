package config

import (
	"maps"
	"slices"
)

// Channels are the messaging networks that a person connected.
type Channels struct {
	Telegram Telegram `json:"telegram"`
}

// Telegram holds its bots by account. The keys of channels.telegram are the
// account "default" and what every other account begins with, apart from its
// secrets; here they are merged already.
type Telegram struct {
	Enabled  bool                      `json:"enabled"`
	Accounts map[string]ChannelAccount `json:"accounts,omitempty"`
}

// ChannelAccount is one account on a network. Empty lists and nil mean "not
// said".
type ChannelAccount struct {
	Enabled       bool   `json:"enabled"`
	BotToken      Secret `json:"botToken,omitzero"`
	APIRoot       string `json:"apiRoot,omitempty"`    // a Bot API server of one's own; empty: Telegram's
	WebhookURL    string `json:"webhookUrl,omitempty"` // empty: long polling
	WebhookSecret Secret `json:"webhookSecret,omitzero"`

	DMPolicy       string                `json:"dmPolicy"` // pairing, allowlist, open, disabled
	AllowFrom      []string              `json:"allowFrom,omitempty"`
	GroupPolicy    string                `json:"groupPolicy"` // allowlist, open, disabled
	GroupAllowFrom []string              `json:"groupAllowFrom,omitempty"`
	Groups         map[string]GroupRules `json:"groups,omitempty"` // "*": all others
	HistoryLimit   *int                  `json:"historyLimit,omitempty"`

	Streaming              Streaming     `json:"streaming"`
	TextChunkLimit         int           `json:"textChunkLimit,omitempty"` // 0: the network's
	ChunkMode              string        `json:"chunkMode"`                // length, newline
	DraftChunk             BlockChunk    `json:"draftChunk,omitzero"`      // of previews in steps
	BlockStreaming         *bool         `json:"blockStreaming,omitempty"`
	BlockStreamingCoalesce BlockCoalesce `json:"blockStreamingCoalesce"`
	ReplyToMode            string        `json:"replyToMode"` // off, first, all
	ResponsePrefix         *string       `json:"responsePrefix,omitempty"`
	MediaMaxMB             int           `json:"mediaMaxMb"`
}

// GroupRules are those of one group.
type GroupRules struct {
	Enabled        bool     `json:"enabled"`
	RequireMention *bool    `json:"requireMention,omitempty"`
	AllowFrom      []string `json:"allowFrom,omitempty"`
}

// Streaming says what is seen of an answer while it is written.
type Streaming struct {
	Mode     string        `json:"mode"` // off, partial, block, progress
	Preview  ProgressLines `json:"preview"`
	Progress ProgressLines `json:"progress"`
}

// ProgressLines say what is shown of tools at work.
type ProgressLines struct {
	ToolProgress bool   `json:"toolProgress"`
	CommandText  string `json:"commandText"` // raw, status
}

func defaultChannelAccount() ChannelAccount {
	lines := ProgressLines{ToolProgress: true, CommandText: "raw"}
	return ChannelAccount{
		Enabled: true, DMPolicy: "pairing", GroupPolicy: "allowlist",
		Streaming: Streaming{Mode: "partial", Preview: lines, Progress: lines},
		ChunkMode: "length", ReplyToMode: "first", MediaMaxMB: 20,
	}
}

func (c Channels) clone() Channels {
	c.Telegram.Accounts = maps.Clone(c.Telegram.Accounts)
	for id, a := range c.Telegram.Accounts {
		c.Telegram.Accounts[id] = a.clone()
	}
	return c
}

// clone copies everything that can be changed.
func (a ChannelAccount) clone() ChannelAccount {
	a.AllowFrom, a.GroupAllowFrom = slices.Clone(a.AllowFrom), slices.Clone(a.GroupAllowFrom)
	a.Groups = maps.Clone(a.Groups)
	for id, g := range a.Groups {
		g.AllowFrom = slices.Clone(g.AllowFrom)
		g.RequireMention = copyOf(g.RequireMention)
		a.Groups[id] = g
	}
	a.HistoryLimit, a.BlockStreaming, a.ResponsePrefix = copyOf(a.HistoryLimit), copyOf(a.BlockStreaming), copyOf(a.ResponsePrefix)
	return a
}

func copyOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}
