package config

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Channels are the messaging networks that a person connected, by their ids.
type Channels map[string]Network

// Network holds its accounts. The keys of channels.<id> are the account "default"
// and what every other account begins with, apart from its secrets; here they are
// merged already.
type Network struct {
	Enabled  bool                      `json:"enabled"`
	Accounts map[string]ChannelAccount `json:"accounts,omitempty"`
}

// Account is one account of a network; ok is false when the settings have none of
// that name.
func (c Channels) Account(network, id string) (a ChannelAccount, ok bool) {
	a, ok = c[network].Accounts[id]
	return a, ok
}

// ChannelAccount is one account on a network. Empty lists and nil mean "not
// said".
type ChannelAccount struct {
	Enabled bool `json:"enabled"`
	// Secrets and Texts are the keys that only this network has (channel.Setting).
	Secrets map[string]Secret `json:"-"`
	Texts   map[string]string `json:"-"`

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

func defaultChannelAccount(k channel.Kind) ChannelAccount {
	lines := ProgressLines{ToolProgress: true, CommandText: "raw"}
	return ChannelAccount{
		Enabled: true, DMPolicy: "pairing", GroupPolicy: "allowlist",
		Secrets: map[string]Secret{}, Texts: map[string]string{},
		Streaming: Streaming{Mode: "partial", Preview: lines, Progress: lines},
		ChunkMode: "length", ReplyToMode: "first", MediaMaxMB: k.MaxFile,
	}
}

// defaultChannels are the networks there are, without an account.
func defaultChannels(kinds channel.Kinds) Channels {
	if len(kinds) == 0 {
		return nil
	}
	c := make(Channels, len(kinds))
	for _, k := range kinds {
		c[k.ID] = Network{}
	}
	return c
}

// MarshalJSON writes the keys of the network beside those of every account.
func (a ChannelAccount) MarshalJSON() ([]byte, error) {
	type common ChannelAccount
	b, err := json.Marshal(common(a))
	if err != nil {
		return nil, err
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	for key, s := range a.Secrets {
		if all[key], err = json.Marshal(s); err != nil {
			return nil, err
		}
	}
	for key, text := range a.Texts {
		if all[key], err = json.Marshal(text); err != nil {
			return nil, err
		}
	}
	return json.Marshal(all)
}

func (c Channels) clone() Channels {
	c = maps.Clone(c)
	for id, n := range c {
		n.Accounts = maps.Clone(n.Accounts)
		for name, a := range n.Accounts {
			n.Accounts[name] = a.clone()
		}
		c[id] = n
	}
	return c
}

// clone copies everything that can be changed.
func (a ChannelAccount) clone() ChannelAccount {
	a.Secrets, a.Texts = maps.Clone(a.Secrets), maps.Clone(a.Texts)
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
