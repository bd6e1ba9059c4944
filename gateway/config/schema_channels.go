package config

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// botToken reads like 123456:AAh-…, by hand: such counts as a pattern cost a
// millisecond of every start, those of commands' guardians too.
func botToken(s string) bool {
	id, key, ok := strings.Cut(s, ":")
	return ok && len(id) >= 1 && len(id) <= 20 && strings.Trim(id, "0123456789") == "" && plainWord(key, 10, 200)
}

func webhookSecret(s string) bool { return plainWord(s, 16, 256) }

// plainWord is made of letters, digits, _ and - alone.
func plainWord(s string, least, most int) bool {
	return len(s) >= least && len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

func (d *decoder) channels(n *node, c *Channels) {
	d.object(n, append([]field{{"telegram", func(n *node) { d.telegram(n, &c.Telegram) }}},
		later("defaults", "whatsapp", "discord", "slack", "signal", "imessage", "matrix", "mattermost", "msteams", "googlechat",
			"irc", "line", "feishu", "nostr", "twitch", "zalo", "webchat")...)...)
}

// telegram reads the keys that all accounts share first: an account begins
// with them wherever it stands in the file.
func (d *decoder) telegram(n *node, t *Telegram) {
	base := defaultChannelAccount()
	var accounts *node
	fields := append(d.account(&base), field{"accounts", func(n *node) { accounts = n }})
	d.object(n, append(fields, later("defaultAccount", "proxy", "network", "commands", "customCommands", "actions", "reactionLevel",
		"reactionNotifications", "ackReaction", "linkPreview", "direct", "dms", "dmHistoryLimit", "apiRoot", "tokenFile", "name",
		"capabilities", "execApprovals", "threadBindings", "retry", "timeoutSeconds", "configWrites", "webhookPath",
		"webhookHost", "webhookPort", "markdown", "errorPolicy", "heartbeat", "autoTopicLabel")...)...)
	t.Enabled = base.Enabled && n.kind == kindObject
	t.Accounts = map[string]ChannelAccount{}
	if !base.BotToken.IsZero() {
		t.Accounts["default"] = base
	}
	if accounts != nil {
		d.path = append(d.path, Key("accounts"))
		d.each(accounts, func(id string, at int, v *node) {
			if !accountName(id) {
				d.issue(at, "an account's name has 1 to 64 small letters, digits, - and _")
				return
			}
			a := base.clone()
			if id != "default" {
				a.BotToken, a.WebhookURL, a.WebhookSecret, a.Enabled = Secret{}, "", Secret{}, true
			}
			d.object(v, append(d.account(&a), later("name", "proxy", "apiRoot", "tokenFile")...)...)
			t.Accounts[id] = a
		})
		d.path = d.path[:len(d.path)-1]
	}
}

// accountName: accounts are part of session keys.
func accountName(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

func (d *decoder) account(a *ChannelAccount) []field {
	return append(d.accountRules(a), []field{
		{"enabled", func(n *node) { a.Enabled = d.boolean(n) }},
		{"botToken", func(n *node) {
			a.BotToken = d.shaped(n, botToken, "a bot token is digits, a colon and letters; @BotFather shows it, copy all of it")
		}},
		{"apiRoot", func(n *node) { a.APIRoot = d.webURL(n) }},
		{"webhookUrl", func(n *node) { a.WebhookURL = d.webhookURL(n) }},
		{"webhookSecret", func(n *node) {
			a.WebhookSecret = d.shaped(n, webhookSecret, "a webhook secret has 16 to 256 letters, digits, _ or -")
		}},
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
		d.warn(n.start, "\"*\" makes nobody the owner: name each one, for example \"telegram:123456789\"")
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

// secretsApart: a secret that serves two purposes protects neither, and two
// accounts cannot share a bot or an address.
func (d *decoder) secretsApart(c *Config) {
	accounts := c.Channels.Telegram.Accounts
	tokens, paths := map[Secret]string{}, map[string]string{}
	ids := make([]string, 0, len(accounts))
	for id := range accounts {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		a := accounts[id]
		where := "the Telegram account " + quote(id)
		if !a.Enabled {
			continue
		}
		switch {
		case a.WebhookURL != "" && a.WebhookSecret.IsZero():
			d.accountIssue(id, "webhookUrl", where+" needs channels.telegram.webhookSecret beside webhookUrl: without it anybody could write messages in your name")
		case !a.WebhookSecret.IsZero() && a.WebhookSecret == c.Gateway.Auth.Token:
			d.accountIssue(id, "webhookSecret", "webhookSecret of "+where+" is the same as gateway.auth.token: use a text of its own")
		case !a.WebhookSecret.IsZero() && a.WebhookSecret == a.BotToken:
			d.accountIssue(id, "webhookSecret", "webhookSecret of "+where+" is the same as its botToken: use a text of its own")
		case !a.BotToken.IsZero() && a.BotToken == c.Gateway.Auth.Token:
			d.accountIssue(id, "botToken", "botToken of "+where+" is the same as gateway.auth.token: use a text of its own")
		}
		if other := tokens[a.BotToken]; !a.BotToken.IsZero() && other != "" {
			d.accountIssue(id, "botToken", where+" has the same botToken as the account "+quote(other)+": Telegram gives messages to one receiver only")
		}
		tokens[a.BotToken] = id
		if u, err := url.Parse(a.WebhookURL); err == nil && a.WebhookURL != "" {
			if other := paths[u.Path]; other != "" {
				d.accountIssue(id, "webhookUrl", where+" has the same path in webhookUrl as the account "+quote(other)+": give each its own")
			}
			paths[u.Path] = id
		}
	}
}

// accountIssue points at a key of an account, or at the account.
func (d *decoder) accountIssue(id, key, message string) {
	telegram := Path{Key("channels"), Key("telegram")}
	candidates := []Path{append(telegram[:2:2], Key("accounts"), Key(id), Key(key)), append(telegram[:2:2], Key("accounts"), Key(id))}
	if id == "default" {
		candidates = append(candidates[:1], append(telegram[:2:2], Key(key)))
	}
	for _, p := range append(candidates, telegram) {
		if n, ok := d.doc.find(p); ok {
			d.path = p
			d.issue(n.start, "%s", message)
			d.path = nil
			return
		}
	}
}
