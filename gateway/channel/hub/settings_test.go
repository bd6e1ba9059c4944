package hub_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/pairing/token"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

const (
	tokenA = "1111111111:AAaaaaaaaaaaaaaaaaaaaa"
	tokenB = "2222222222:BBbbbbbbbbbbbbbbbbbbbb"
)

// read reads the settings of a network with credentials and addresses.
func read(text string) (hub.Network, *config.Snapshot) {
	kinds := channel.Kinds{telegram.Kind()}
	s := config.Read(text, config.Options{Sections: append(hub.Sections(kinds), token.Section)})
	return hub.Section(kinds[0]).Of(s.Config), s
}

func TestTelegramAccounts(t *testing.T) {
	n, s := read(`{ channels: { telegram: {
	  accounts: { work: { botToken: "` + tokenB + `", historyLimit: 0, streaming: { mode: "progress", progress: { commandText: "status" } } } },
	  botToken: "` + tokenA + `", allowFrom: [123456789, "@ann"], dmPolicy: "allowlist", historyLimit: 20,
	  groups: { "*": { requireMention: true }, "-100200": { requireMention: false, allowFrom: [5] } },
	  streaming: { mode: "partial", preview: { toolProgress: true, commandText: "status" } },
	  textChunkLimit: 2000, chunkMode: "newline", blockStreaming: true, replyToMode: "all", mediaMaxMb: 5,
	} } }`)
	if len(s.Issues)+len(s.Warnings) != 0 {
		t.Fatal(s.Issues, s.Warnings)
	}
	base := hub.Section(telegram.Kind()).Default.Base
	base.AllowFrom, base.DMPolicy = []string{"123456789", "@ann"}, "allowlist"
	base.HistoryLimit, base.TextChunkLimit, base.ChunkMode, base.ReplyToMode, base.MediaMaxMB = new(20), 2000, "newline", "all", 5
	base.BlockStreaming = new(true)
	base.Groups = map[string]hub.GroupRules{"*": {Enabled: true, RequireMention: new(true)},
		"-100200": {Enabled: true, RequireMention: new(false), AllowFrom: []string{"5"}}}
	base.Streaming.Preview.CommandText = "status"
	work := base
	work.HistoryLimit, work.Streaming.Mode, work.Streaming.Progress.CommandText = new(0), "progress", "status"
	own := cmpopts.IgnoreUnexported(hub.Configured{})
	if diff := cmp.Diff(map[string]hub.Configured{"default": base, "work": work}, n.InUse(), own); diff != "" {
		t.Error(diff)
	}
	for id, want := range map[string]string{"default": tokenA, "work": tokenB} {
		if got := n.Accounts()[id].Secret("botToken"); got != secret.Literal(want) {
			t.Errorf("%s has another's token", id)
		}
	}
	var paths []string
	for _, f := range s.Config.SecretFields() {
		if !f.Setting.IsZero() {
			paths = append(paths, f.Path)
		}
	}
	if got := fmt.Sprint(paths); got != "[channels.telegram.botToken channels.telegram.accounts.work.botToken]" {
		t.Errorf("secrets at %s", got)
	}
	if other, _ := read(`{}`); len(other.Accounts()) != 0 {
		t.Errorf("an empty file has the accounts of another: %+v", other)
	}
}

// streaming.block.enabled says the same as blockStreaming, and
// previews in steps have bounds of their own under two names.
func TestStreamingBlockAndDraftChunk(t *testing.T) {
	for _, src := range []string{
		`streaming: { mode: "block", block: { enabled: true, coalesce: { idleMs: 5 } }, preview: { chunk: { minChars: 7, maxChars: 9 } } }`,
		`streaming: "block", blockStreaming: true, blockStreamingCoalesce: { idleMs: 5 }, draftChunk: { minChars: 7, maxChars: 9 }`,
	} {
		n, s := read(`{ channels: { telegram: { botToken: "` + tokenA + `", ` + src + ` } } }`)
		a := n.Accounts()["default"]
		if len(s.Issues)+len(s.Warnings) > 0 || a.BlockStreaming == nil || !*a.BlockStreaming || a.Merged.IdleMs != 5 ||
			a.DraftChunk != (hub.BlockChunk{MinChars: 7, MaxChars: 9}) || a.Streaming.Mode != "block" {
			t.Errorf("%s: %+v, %v, %v", src, a, s.Issues, s.Warnings)
		}
	}
}

func TestTelegramOldNames(t *testing.T) {
	for src, want := range map[string]string{
		`streaming: "block"`: "block", `streaming: true`: "partial", `streaming: false`: "off", `streamMode: "progress"`: "progress",
		`enabled: true`: "partial",
	} {
		n, s := read(`{ channels: { telegram: { botToken: "` + tokenA + `", ` + src + ` } } }`)
		if got := n.Accounts()["default"].Streaming.Mode; got != want || len(s.Issues) > 0 {
			t.Errorf("%s: %q, %v", src, got, s.Issues)
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
		_, s := read(`{ channels: { telegram: { ` + src + ` } } }`)
		if !strings.Contains(fmt.Sprint(s.Issues), want) {
			t.Errorf("%s: %v", src, s.Issues)
		}
	}
	if _, s := read(`{ channels: { telegram: { dmPolicy: "open" }, discord: {}, telegarm: {} } }`); len(s.Warnings) != 3 {
		t.Errorf("warnings %v", s.Warnings)
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
		_, got := read("{" + tt.src + "}")
		issues := got.Issues
		if len(issues) != 1 || issues[0].Path != tt.path || !strings.Contains(issues[0].Message, tt.says) {
			t.Errorf("%s: %v", name, issues)
		}
		if s := fmt.Sprint(issues); strings.Contains(s, secret) || strings.Contains(s, tokenA) {
			t.Errorf("%s: leaks %s", name, s)
		}
	}
}

// TestModernize: older forms of streaming.mode get their new one, and mean the same.
func TestModernize(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"stream mode":       {`{ channels: { telegram: { streamMode: "block" /* mine */ } } }`, `mode: "block"`},
		"a word":            {`{ channels: { telegram: { streaming: "off" } } }`, `mode: "off"`},
		"yes":               {`{ channels: { telegram: { streaming: true } } }`, `mode: "partial"`},
		"of an account":     {`{ channels: { telegram: { accounts: { two: { streamMode: "off" } } } } }`, `mode: "off"`},
		"the new one rules": {`{ channels: { telegram: { streamMode: "block", streaming: { mode: "off" } } } }`, `mode: "off"`},
	} {
		path := filepath.Join(t.TempDir(), "hearth.json")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := config.Open(path, config.Options{Sections: hub.Sections(channel.Kinds{telegram.Kind()})})
		if err != nil {
			t.Fatal(err)
		}
		before := f.Snapshot()
		if len(before.Legacy()) == 0 {
			t.Errorf("%s: nothing to mend", name)
		}
		s, err := f.Modernize(t.Context())
		if err != nil || len(s.Legacy()) != 0 || !strings.Contains(s.Raw, c.want) || strings.Contains(s.Raw, "streamMode") {
			t.Errorf("%s: %v %v\n%s", name, err, s.Legacy(), s.Raw)
			continue
		}
		section := hub.Section(telegram.Kind())
		if old, now := section.Of(before.Config), section.Of(s.Config); name != "the new one rules" &&
			(old.Base.Streaming != now.Base.Streaming || old.Named["two"].Streaming != now.Named["two"].Streaming) {
			t.Errorf("%s: %+v, and was %+v", name, now, old)
		}
	}
	if _, s := read(`{ channels: { telegram: { streaming: { mode: "off" } } } }`); len(s.Legacy()) != 0 {
		t.Errorf("%v", s.Legacy())
	}
}

// commands.native holds for all networks, a network's own for its accounts, and an
// account's own for it alone.
func TestMenus(t *testing.T) {
	file := func(text string) (*hub.Hub, *config.Snapshot) {
		dir := t.TempDir()
		path := filepath.Join(dir, "hearth.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		kinds := channel.Kinds{telegram.Kind()}
		f, err := config.Open(path, config.Options{Sections: append(hub.Sections(kinds), token.Section, hub.OwnersSection, hub.MenusSection)})
		if err != nil {
			t.Fatal(err)
		}
		return hub.New(hub.Options{Kinds: kinds, Settings: f}), f.Snapshot()
	}
	accounts := `botToken: "` + tokenA + `", accounts: { work: { botToken: "` + tokenB + `", `
	for _, c := range []struct{ text, base, work string }{
		{`channels: { telegram: { ` + accounts + ` } } } }`, "true true", "true true"},
		{`commands: { native: false }, channels: { telegram: { ` + accounts + ` } } } }`, "false false", "false false"},
		{`commands: { native: "auto", nativeSkills: false }, channels: { telegram: { ` + accounts + ` } } } }`, "true false", "true false"},
		{`commands: { native: false }, channels: { telegram: { commands: { native: true }, ` + accounts + ` } } } }`, "true true", "true true"},
		{`channels: { telegram: { commands: { native: false, nativeSkills: true }, ` + accounts + ` commands: { native: "auto" } } } } }`,
			"false true", "true true"},
	} {
		h, s := file(`{ ` + c.text + ` }`)
		if len(s.Issues)+len(s.Warnings) != 0 {
			t.Errorf("%s: %v %v", c.text, s.Issues, s.Warnings)
		}
		for account, want := range map[string]string{"default": c.base, "work": c.work} {
			if m := h.Menu("telegram", account); fmt.Sprint(m.Native, m.Skills) != want {
				t.Errorf("%s: %s shows %v %v, not %s", c.text, account, m.Native, m.Skills, want)
			}
		}
	}
	h, s := file(`{ channels: { telegram: { customCommands: [{ command: "/Git-Backup", description: "Copies all" }], ` + accounts + ` } } } } }`)
	if m := h.Menu("telegram", "work"); len(s.Issues) != 0 || len(m.Yours) != 1 || m.Yours[0] != (hub.AddedCommand{Name: "git_backup",
		Description: "Copies all"}) || m.Most != 100 {
		t.Errorf("%+v, %v", m, s.Issues)
	}
	for _, wrong := range []string{`{ command: "new chat", description: "x" }`, `{ command: "", description: "x" }`, `{ command: "a" }`,
		`{ command: "` + strings.Repeat("a", 33) + `", description: "x" }`, `{ command: "über", description: "x" }`} {
		if _, s := file(`{ channels: { telegram: { botToken: "` + tokenA + `", customCommands: [` + wrong + `] } } }`); len(s.Issues) != 1 {
			t.Errorf("%s: %v", wrong, s.Issues)
		}
	}
}
