package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

const (
	tokenA = "1111111111:AAaaaaaaaaaaaaaaaaaaaa"
	tokenB = "2222222222:BBbbbbbbbbbbbbbbbbbbbb"
)

func networks() channel.Kinds { return channel.Kinds{telegram.Kind()} }

func channelsOf(t *testing.T, src string) (Config, []Issue, []Issue) {
	t.Helper()
	doc, err := parse(src)
	if err != nil {
		t.Fatal(err)
	}
	d := &decoder{doc: doc, networks: networks()}
	c := d.decode()
	return c, d.issues, d.warnings
}

func TestTelegramAccounts(t *testing.T) {
	c, issues, warnings := channelsOf(t, `{ channels: { telegram: {
	  accounts: { work: { botToken: "`+tokenB+`", historyLimit: 0, streaming: { mode: "progress", progress: { commandText: "status" } } } },
	  botToken: "`+tokenA+`", allowFrom: [123456789, "@ann"], dmPolicy: "allowlist", historyLimit: 20,
	  groups: { "*": { requireMention: true }, "-100200": { requireMention: false, allowFrom: [5] } },
	  streaming: { mode: "partial", preview: { toolProgress: true, commandText: "status" } },
	  textChunkLimit: 2000, chunkMode: "newline", blockStreaming: true, replyToMode: "all", mediaMaxMb: 5,
	} } }`)
	if len(issues)+len(warnings) != 0 {
		t.Fatal(issues, warnings)
	}
	base := defaultChannelAccount(telegram.Kind())
	base.Secrets["botToken"], base.AllowFrom, base.DMPolicy = secret.Literal(tokenA), []string{"123456789", "@ann"}, "allowlist"
	base.HistoryLimit, base.TextChunkLimit, base.ChunkMode, base.ReplyToMode, base.MediaMaxMB = new(20), 2000, "newline", "all", 5
	base.BlockStreaming = new(true)
	base.Groups = map[string]GroupRules{"*": {Enabled: true, RequireMention: new(true)},
		"-100200": {Enabled: true, RequireMention: new(false), AllowFrom: []string{"5"}}}
	base.Streaming.Preview.CommandText = "status"
	work := base.clone()
	work.Secrets["botToken"], work.HistoryLimit = secret.Literal(tokenB), new(0)
	work.Streaming.Mode, work.Streaming.Progress.CommandText = "progress", "status"
	want := Network{Enabled: true, Accounts: map[string]ChannelAccount{"default": base, "work": work}}
	if diff := cmp.Diff(want, c.Channels["telegram"]); diff != "" {
		t.Error(diff)
	}
	copied := c.Clone()
	copied.Channels["telegram"].Accounts["work"].AllowFrom[0] = "changed"
	*copied.Channels["telegram"].Accounts["work"].HistoryLimit = 9
	if diff := cmp.Diff(want, c.Channels["telegram"]); diff != "" {
		t.Error("a clone shares memory: ", diff)
	}
}

// streaming.block.enabled says the same as blockStreaming, and
// previews in steps have bounds of their own under two names.
func TestStreamingBlockAndDraftChunk(t *testing.T) {
	for _, src := range []string{
		`streaming: { mode: "block", block: { enabled: true, coalesce: { idleMs: 5 } }, preview: { chunk: { minChars: 7, maxChars: 9 } } }`,
		`streaming: "block", blockStreaming: true, blockStreamingCoalesce: { idleMs: 5 }, draftChunk: { minChars: 7, maxChars: 9 }`,
	} {
		c, issues, warnings := channelsOf(t, `{ channels: { telegram: { botToken: "`+tokenA+`", `+src+` } } }`)
		a := c.Channels["telegram"].Accounts["default"]
		if len(issues)+len(warnings) > 0 || a.BlockStreaming == nil || !*a.BlockStreaming || a.BlockStreamingCoalesce.IdleMs != 5 ||
			a.DraftChunk != (BlockChunk{MinChars: 7, MaxChars: 9}) || a.Streaming.Mode != "block" {
			t.Errorf("%s: %+v, %v, %v", src, a, issues, warnings)
		}
	}
}

func TestTelegramOldNames(t *testing.T) {
	for src, want := range map[string]string{
		`streaming: "block"`: "block", `streaming: true`: "partial", `streaming: false`: "off", `streamMode: "progress"`: "progress",
		`enabled: true`: "partial",
	} {
		c, issues, _ := channelsOf(t, `{ channels: { telegram: { botToken: "`+tokenA+`", `+src+` } } }`)
		if got := c.Channels["telegram"].Accounts["default"].Streaming.Mode; got != want || len(issues) > 0 {
			t.Errorf("%s: %q, %v", src, got, issues)
		}
	}
}

func TestTelegramMistakes(t *testing.T) {
	for src, want := range map[string]string{
		`dmPolicy: "everyone"`:                      "allowed: pairing, allowlist, open, disabled",
		`allowFrom: "ann"`:                          "expected a list",
		`allowFrom: [1.5]`:                          "whole number",
		`groups: { a: { requireMention: "yes" } }`:  "expected true or false",
		`botToken: "123"`:                           "@BotFather",
		`accounts: { "A b": {} }`:                   "account's name",
		`historyLimit: -1`:                          "from 0 to 1000",
		`webhookUrl: "http://x/"`:                   "https://",
		`webhookSecret: "short"`:                    "16 to 256",
		`streaming: { mode: "on" }`:                 "allowed: off, partial, block, progress",
		`streaming: { preview: { commandText: 1 }}`: "expected one of",
		`chunkMode: "x"`:                            "length, newline",
	} {
		_, issues, _ := channelsOf(t, `{ channels: { telegram: { `+src+` } } }`)
		if !strings.Contains(fmt.Sprint(issues), want) {
			t.Errorf("%s: %v", src, issues)
		}
	}
	if _, _, warnings := channelsOf(t, `{ channels: { telegram: { dmPolicy: "open" }, discord: {}, telegarm: {} } }`); len(warnings) != 3 {
		t.Errorf("warnings %v", warnings)
	}
}

func TestSec_A_NET_24_SecretsAreNotShared(t *testing.T) {
	const secret = "0123456789abcdef-secret"
	for name, tt := range map[string]struct{ src, path, says string }{
		"gateway token": {`gateway: { auth: { token: "` + secret + `" } }, channels: { telegram: { botToken: "` + tokenA +
			`", webhookUrl: "https://h/x", webhookSecret: "` + secret + `" } }`,
			"channels.telegram.webhookSecret", "gateway.auth.token"},
		"gateway token is the bot's": {`channels: { telegram: { botToken: "` + tokenA + `" } }, gateway: { auth: { token: "` + tokenA + `" } }`,
			"channels.telegram.botToken", "gateway.auth.token"},
		"same bot": {`channels: { telegram: { botToken: "` + tokenA + `", accounts: { b: { botToken: "` + tokenA + `" } } } }`,
			"channels.telegram.botToken", "\"b\""},
		"same path": {`channels: { telegram: { accounts: { a: { botToken: "` + tokenA + `",
			webhookUrl: "https://h/x", webhookSecret: "` + secret + `" },
			b: { botToken: "` + tokenB + `", webhookUrl: "https://i/x", webhookSecret: "` + secret + `2" } } } }`,
			"channels.telegram.accounts.b.webhookUrl", "\"a\""},
		"no secret": {`channels: { telegram: { botToken: "` + tokenA + `", webhookUrl: "https://h/x" } }`, "channels.telegram.webhookUrl",
			"webhookSecret"},
	} {
		_, issues, _ := channelsOf(t, "{"+tt.src+"}")
		if len(issues) != 1 || issues[0].Path != tt.path || !strings.Contains(issues[0].Message, tt.says) {
			t.Errorf("%s: %v", name, issues)
		}
		if s := fmt.Sprint(issues); strings.Contains(s, secret) || strings.Contains(s, tokenA) {
			t.Errorf("%s: leaks %s", name, s)
		}
	}
}
