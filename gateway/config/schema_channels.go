package config

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// others are networks that other gateways know.
var others = []string{"defaults", "telegram", "whatsapp", "discord", "slack", "signal", "imessage", "matrix", "mattermost", "msteams",
	"googlechat",
	"irc", "line", "feishu", "nostr", "twitch", "zalo", "webchat"}

// channels reads the networks there are. Who opened the file without them does not
// look at them.
func (d *decoder) channels(n *node, c Channels) {
	if len(d.networks) == 0 {
		return
	}
	var fields []field
	for _, k := range d.networks {
		fields = append(fields, field{k.ID, func(n *node) { c[k.ID] = d.network(n, k) }})
	}
	d.object(n, append(fields, later(others...)...)...)
}

// network reads the keys that all accounts share first: an account begins with
// them wherever it stands in the file.
func (d *decoder) network(n *node, k channel.Kind) (out Network) {
	base := defaultChannelAccount(k)
	var accounts *node
	fields := append(d.account(&base, k), field{"accounts", func(n *node) { accounts = n }})
	d.object(n, append(fields, later(k.Later...)...)...)
	out.Enabled = base.Enabled && n.kind == kindObject
	out.Accounts = map[string]ChannelAccount{}
	if !base.Secrets[k.Connects].IsZero() || base.Texts[k.Connects] != "" {
		out.Accounts["default"] = base
	}
	if accounts == nil {
		return out
	}
	d.path = append(d.path, Key("accounts"))
	d.each(accounts, func(id string, at int, v *node) {
		if !accountName(id) {
			d.issue(at, "an account's name has 1 to 64 small letters, digits, - and _")
			return
		}
		a := base.clone()
		if id != "default" {
			a.ownOnly(k)
		}
		d.object(v, append(d.account(&a, k), later(k.LaterAccount...)...)...)
		out.Accounts[id] = a
	})
	d.path = d.path[:len(d.path)-1]
	return out
}

// ownOnly takes away what an account does not share with others.
func (a *ChannelAccount) ownOnly(k channel.Kind) {
	for _, s := range k.Settings {
		if !s.Shared {
			delete(a.Secrets, s.Key)
			delete(a.Texts, s.Key)
		}
	}
	a.Enabled = true
}

// accountName: accounts are part of session keys.
func accountName(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

func (d *decoder) account(a *ChannelAccount, k channel.Kind) []field {
	return append(append(d.accountRules(a), d.ownSettings(a, k)...), []field{
		{"enabled", func(n *node) { a.Enabled = d.boolean(n) }},
		{"streaming", func(n *node) { d.streaming(n, a) }},
		{"streamMode", func(n *node) {
			a.Streaming.Mode = d.streamMode(n)
			d.warn(n.start, "this is now called streaming: { mode: … }; the old name still works")
		}},
		{"textChunkLimit", func(n *node) { a.TextChunkLimit = d.integer(n, 1, 100_000) }},
		{"chunkMode", func(n *node) { a.ChunkMode = d.choice(n, "length", "newline") }},
		{"blockStreaming", func(n *node) { a.BlockStreaming = new(d.boolean(n)) }},
		{"blockStreamingCoalesce", func(n *node) { d.coalesce(n, &a.BlockStreamingCoalesce) }},
		{"draftChunk", func(n *node) { d.blockChunk(n, &a.DraftChunk) }},
		{"replyToMode", func(n *node) { a.ReplyToMode = d.choice(n, "off", "first", "all") }},
		{"responsePrefix", func(n *node) { a.ResponsePrefix = new(d.text(n, 64)) }},
		{"mediaMaxMb", func(n *node) { a.MediaMaxMB = d.integer(n, 1, 2000) }},
	}...)
}

// ownSettings are the keys that only one network has.
func (d *decoder) ownSettings(a *ChannelAccount, k channel.Kind) (out []field) {
	for _, s := range k.Settings {
		out = append(out, field{s.Key, func(n *node) {
			switch s.Form {
			case channel.SecretText:
				a.Secrets[s.Key] = d.shaped(n, s.Valid, s.Help)
			case channel.WebAddress:
				a.Texts[s.Key] = d.webURL(n)
			case channel.PublicAddress:
				a.Texts[s.Key] = d.webhookURL(n)
			}
		}})
	}
	return out
}

// accountRules are the keys about who may talk.
func (d *decoder) accountRules(a *ChannelAccount) []field {
	return []field{
		{"dmPolicy", func(n *node) {
			if a.DMPolicy = d.choice(n, "pairing", "allowlist", "open", "disabled"); a.DMPolicy == "open" {
				d.warn(n.start, "with \"open\" anybody who finds the bot can use the assistant; \"pairing\" asks you first")
			}
		}},
		{"allowFrom", func(n *node) { a.AllowFrom = d.senders(n) }},
		{"groupPolicy", func(n *node) { a.GroupPolicy = d.choice(n, "allowlist", "open", "disabled") }},
		{"groupAllowFrom", func(n *node) { a.GroupAllowFrom = d.senders(n) }},
		{"groups", func(n *node) {
			a.Groups = make(map[string]GroupRules, len(n.items))
			d.each(n, func(id string, _ int, v *node) {
				g := GroupRules{Enabled: true}
				d.object(v, append([]field{
					{"enabled", func(n *node) { g.Enabled = d.boolean(n) }},
					{"requireMention", func(n *node) { g.RequireMention = new(d.boolean(n)) }},
					{"allowFrom", func(n *node) { g.AllowFrom = d.senders(n) }},
				}, later("topics", "skills", "systemPrompt", "groupPolicy", "ingest", "tools")...)...)
				a.Groups[id] = g
			})
		}},
		{"historyLimit", func(n *node) { a.HistoryLimit = new(d.integer(n, 0, maxHistory)) }},
	}
}

// senders reads a list of ids, which people also write as numbers. The list is
// never nil: an empty one lets nobody in.
func (d *decoder) senders(n *node) []string {
	out := []string{}
	d.list(n, func(v *node) {
		if v.kind == kindNumber {
			if _, err := strconv.ParseInt(v.text, 10, 64); err != nil {
				d.issue(v.start, "an id is a whole number")
				return
			}
			out = append(out, v.text)
			return
		}
		if s := strings.TrimSpace(d.filled(v, 256)); s != "" {
			out = append(out, s)
		}
	})
	return out
}

// owners are senders who may use the owner's commands; "*" would be everybody.
func (d *decoder) owners(n *node) []string {
	list := d.senders(n)
	if slices.ContainsFunc(list, func(s string) bool { return s == "*" || strings.HasSuffix(s, ":*") }) {
		d.warn(n.start, "\"*\" makes nobody the owner: name each one, for example \"%s:123456789\"", d.exampleNetwork())
	}
	return list
}

// shaped reads a secret that must look like one. One from an environment
// variable that is not set was warned about already.
func (d *decoder) shaped(n *node, shape func(string) bool, help string) Secret {
	return d.secret(n, 512, func(s string) string {
		if s != "" && !shape(s) {
			return help
		}
		return ""
	})
}

func (d *decoder) webhookURL(n *node) string {
	s := d.filled(n, 2048)
	u, err := url.Parse(s)
	if s != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "") {
		d.issue(n.start, "expected the public https:// address of this gateway, without ? or #")
	}
	return s
}

// streaming reads { mode, preview, progress, block }, and the mode alone, or
// true and false, as older files have it.
func (d *decoder) streaming(n *node, a *ChannelAccount) {
	s := &a.Streaming
	if n.kind != kindObject {
		s.Mode = d.streamMode(n)
		return
	}
	lines := func(p *ProgressLines, more ...field) func(*node) {
		return func(n *node) {
			d.object(n, append(append(more,
				field{"toolProgress", func(n *node) { p.ToolProgress = d.boolean(n) }},
				field{"commandText", func(n *node) { p.CommandText = d.choice(n, "raw", "status") }},
			), later("label", "labels", "maxLines", "render")...)...)
		}
	}
	d.object(n, append([]field{
		{"mode", func(n *node) { s.Mode = d.streamMode(n) }},
		{"preview", lines(&s.Preview, field{"chunk", func(n *node) { d.blockChunk(n, &a.DraftChunk) }})},
		{"progress", lines(&s.Progress)},
		{"block", func(n *node) {
			d.object(n,
				field{"enabled", func(n *node) { a.BlockStreaming = new(d.boolean(n)) }},
				field{"coalesce", func(n *node) { d.coalesce(n, &a.BlockStreamingCoalesce) }})
		}},
		{"chunkMode", func(n *node) { a.ChunkMode = d.choice(n, "length", "newline") }},
	}, later("nativeTransport")...)...)
}

func (d *decoder) streamMode(n *node) string {
	if n.kind == kindBool {
		if n.text == "true" {
			return "partial"
		}
		return "off"
	}
	return d.choice(n, "off", "partial", "block", "progress")
}

// exampleNetwork stands in advice.
func (d *decoder) exampleNetwork() string {
	if len(d.networks) == 0 {
		return "network"
	}
	return d.networks[0].ID
}

// secretsApart: a secret that serves two purposes protects neither, and two
// accounts cannot share what only one can have.
func (d *decoder) secretsApart(c *Config) {
	d.hooksApart(c)
	paths := map[string]string{} // of all networks: they come in at one port
	for _, k := range d.networks {
		accounts := c.Channels[k.ID].Accounts
		taken := map[Secret]string{}
		for _, id := range slices.Sorted(maps.Keys(accounts)) {
			if a := accounts[id]; a.Enabled {
				d.accountApart(k, id, a, c.Gateway.Auth.Token)
				d.accountAlone(k, id, a, taken, paths)
			}
		}
	}
}

// accountApart finds secrets that serve two purposes, and addresses without one.
func (d *decoder) accountApart(k channel.Kind, id string, a ChannelAccount, token Secret) {
	where := "the " + k.Label + " account " + quote(id)
	first := map[Secret]string{}
	for _, s := range k.Settings {
		if s.Needs != "" && a.Texts[s.Key] != "" && a.Secrets[s.Needs].IsZero() {
			d.accountIssue(k, id, s.Key, where+" needs channels."+k.ID+"."+s.Needs+" beside "+s.Key+": "+s.NeedsWhy)
			return
		}
		v := a.Secrets[s.Key]
		if v.IsZero() {
			continue
		}
		if v == token {
			d.accountIssue(k, id, s.Key, s.Key+" of "+where+" is the same as gateway.auth.token: use a text of its own")
			return
		}
		if other := first[v]; other != "" {
			d.accountIssue(k, id, s.Key, s.Key+" of "+where+" is the same as its "+other+": use a text of its own")
			return
		}
		first[v] = s.Key
	}
}

// accountAlone finds what another account has too.
func (d *decoder) accountAlone(k channel.Kind, id string, a ChannelAccount, taken map[Secret]string, paths map[string]string) {
	where := "the " + k.Label + " account " + quote(id)
	for _, s := range k.Settings {
		if v := a.Secrets[s.Key]; s.Alone != "" && !v.IsZero() {
			if other := taken[v]; other != "" {
				d.accountIssue(k, id, s.Key, where+" has the same "+s.Key+" as the account "+quote(other)+": "+s.Alone)
			}
			taken[v] = id
		}
		if u, err := url.Parse(a.Texts[s.Key]); s.Alone != "" && err == nil && a.Texts[s.Key] != "" {
			if other := paths[u.Path]; other != "" {
				d.accountIssue(k, id, s.Key, where+" has the same path in "+s.Key+" as the account "+quote(other)+": "+s.Alone)
			}
			paths[u.Path] = id
		}
	}
}

// accountIssue points at a key of an account, or at the account.
func (d *decoder) accountIssue(k channel.Kind, id, key, message string) {
	network := Path{Key("channels"), Key(k.ID)}
	candidates := []Path{append(network[:2:2], Key("accounts"), Key(id), Key(key)), append(network[:2:2], Key("accounts"), Key(id))}
	if id == "default" {
		candidates = append(candidates[:1], append(network[:2:2], Key(key)))
	}
	for _, p := range append(candidates, network) {
		if n, ok := d.doc.find(p); ok {
			d.path = p
			d.issue(n.start, "%s", message)
			d.path = nil
			return
		}
	}
}
