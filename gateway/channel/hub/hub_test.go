package hub_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

// pigeon and smoke are networks that nothing else has heard of.
func pigeon(net *loopback.Net) channel.Kind {
	return channel.Kind{
		ID: "pigeon", Label: "Pigeon Post", Connects: "loftKey", MaxFile: 1, MaxFileWhy: "a pigeon carries no more",
		Settings: []channel.Setting{
			{Key: "loftKey", Form: channel.SecretText, Valid: func(s string) bool { return len(s) > 4 }, Help: "a key of a loft has five letters",
				Alone: "a pigeon has one loft"},
		},
		New: func(a channel.Account) (channel.Channel, error) {
			if strings.HasPrefix(a.Secrets["loftKey"], "broken") {
				return nil, errors.New("the loft is closed")
			}
			return net.Channel("pigeon", a.ID, channel.Limits{Text: 40, Unit: channel.Bytes}), nil
		},
		IsGroup: func(id string) bool { return strings.HasPrefix(id, "flock-") },
	}
}

// secrets knows literal settings, and the others after a while.
type secrets struct{}

func (secrets) Value(_ context.Context, field string, s secret.Setting) (secret.Secret, error) {
	if v, ok := s.Literal(); ok {
		return v, nil
	}
	if s.IsZero() {
		return secret.Secret{}, nil
	}
	return secret.Secret{}, errors.New(field + " was not found")
}

func (secrets) Known(s secret.Setting) (secret.Secret, bool) { return s.Literal() }

func open(t *testing.T, net *loopback.Net, settings string) (*hub.Hub, *config.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hearth.json5")
	if err := os.WriteFile(path, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	kinds := channel.Kinds{pigeon(net)}
	f, err := config.Open(path, config.Options{Sections: hub.Sections(kinds)})
	if err != nil {
		t.Fatal(err)
	}
	if s := f.Snapshot(); !s.Valid || len(s.Warnings) > 0 {
		t.Fatal(s.Issues, s.Warnings)
	}
	h := hub.New(hub.Options{Kinds: kinds, Settings: f, Secrets: secrets{}, Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	return h, f
}

// TestAnyNetwork: a network that is described by its Kind alone is configured,
// connected, told of by its label, and has the common settings.
func TestAnyNetwork(t *testing.T) {
	net := loopback.NewNet()
	h, f := open(t, net, `{ channels: { pigeon: { loftKey: "first-key", allowFrom: ["anna"], dmPolicy: "allowlist", textChunkLimit: 900,
	  accounts: { two: { loftKey: "broken-key" }, off: { loftKey: "third-key", enabled: false }, kept: { loftKey: "keychain:pigeon" }, none: {} } } } }`)
	if len(h.All()) != 0 || len(h.Problems()) != 0 {
		t.Error("before Open there are accounts")
	}
	h.Open(t.Context(), func(string) (fs.File, error) { return nil, fs.ErrNotExist }, nil)
	if all := h.All(); len(all) != 1 || h.Find("pigeon", "default") != all[0] || h.Find("pigeon", "two") != nil {
		t.Fatalf("%v", all)
	}
	if p := h.Problems(); len(p) != 1 || !strings.Contains(p[0].Message, "Pigeon Post (two) is not connected: the loft is closed") {
		t.Errorf("%+v", p)
	}
	if l := h.Limits(h.Find("pigeon", "default")); l.Chars != 40 || l.Unit != channel.Bytes {
		t.Errorf("limits %+v: the network's hold where the settings allow more", l)
	}
	if h.FileLimit("pigeon", "default") != 1<<20 || h.FileAdvice("pigeon") != "channels.pigeon.mediaMaxMb; a pigeon carries no more" {
		t.Errorf("%d, %s", h.FileLimit("pigeon", "default"), h.FileAdvice("pigeon"))
	}
	if p := h.Policy("pigeon", "default"); p.DM != inbound.DMAllowlist || len(p.AllowFrom) != 1 {
		t.Errorf("%+v", p)
	}
	if p := h.Policy("pigeon", "nobody"); p.DM != inbound.DMDisabled || p.Group != inbound.GroupDisabled {
		t.Errorf("an account that is not there: %+v", p)
	}
	shown, err := f.Snapshot().Redacted()
	if err != nil || strings.Contains(string(shown.Config), "first-key") || !strings.Contains(string(shown.Config), `"loftKey"`) {
		t.Errorf("%v: %s", err, shown.Config)
	}
}

// TestPeopleAreComparedAsTheNetworkDoes: the lists of people and the names of groups hold
// for messages however a person wrote them.
func TestPeopleAreComparedAsTheNetworkDoes(t *testing.T) {
	k := pigeon(loopback.NewNet())
	k.SameID = strings.ToLower
	path := filepath.Join(t.TempDir(), "hearth.json5")
	if err := os.WriteFile(path, []byte(`{ commands: { ownerAllowFrom: ["pigeon:Olga"] }, channels: { pigeon: { loftKey: "first-key",
	  allowFrom: ["Anna", "*"], groupAllowFrom: ["Bob"], groups: { "flock-A": { allowFrom: ["Cid"] }, "flock-B": {}, "flock-b": { enabled: false } } } } }`),
		0o600); err != nil {
		t.Fatal(err)
	}
	f, err := config.Open(path, config.Options{Sections: append(hub.Sections(channel.Kinds{k}), hub.OwnersSection)})
	if err != nil {
		t.Fatal(err)
	}
	h := hub.New(hub.Options{Kinds: channel.Kinds{k}, Settings: f, Secrets: secrets{}, Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	p := h.Policy("pigeon", "default")
	if got := strings.Join(slices.Concat(p.AllowFrom, p.GroupAllowFrom, p.Owners, p.Groups["flock-a"].AllowFrom), " "); got !=
		"anna * bob pigeon:olga cid" {
		t.Error(got)
	}
	if !p.Groups["flock-b"].Disabled || p.Groups["flock-B"].Disabled {
		t.Errorf("a group that is named just like that: %+v", p.Groups)
	}
}

// TestAccountsFollowTheSettings: while it runs, an account that the settings get is
// connected, one that they change is made anew, and one that they lose has ended.
func TestAccountsFollowTheSettings(t *testing.T) {
	net := loopback.NewNet()
	h, f := open(t, net, `{ channels: { pigeon: { accounts: { one: { loftKey: "first-key" } } } } }`)
	h.Open(t.Context(), nil, nil)
	ctx, stop := context.WithCancel(t.Context())
	got := make(chan channel.Inbound, 4)
	done := make(chan struct{})
	go func() {
		h.Run(ctx, func(_ context.Context, in channel.Inbound) error { got <- in; return nil })
		close(done)
	}()
	t.Cleanup(func() { stop(); <-done })
	change := func(patch string) {
		t.Helper()
		if _, err := f.MergePatch(t.Context(), f.Snapshot().Hash, patch); err != nil {
			t.Fatal(err)
		}
	}
	until := func(what string, holds func() bool) {
		t.Helper()
		tick, late := time.NewTicker(time.Millisecond), time.After(20*time.Second)
		defer tick.Stop()
		for !holds() {
			select {
			case <-tick.C:
			case <-late:
				t.Fatal(what, "did not happen")
			}
		}
	}
	one := h.Find("pigeon", "one")
	change(`{ channels: { pigeon: { accounts: { two: { loftKey: "second-key" } } } } }`)
	until("connecting the new one", func() bool { return h.Find("pigeon", "two") != nil })
	if h.Find("pigeon", "one") != one {
		t.Error("an account that did not change was made anew")
	}
	change(`{ channels: { pigeon: { accounts: { one: { loftKey: "other-key" } } } } }`)
	until("making it anew", func() bool { c := h.Find("pigeon", "one"); return c != nil && c != one })
	change(`{ channels: { pigeon: { accounts: { one: null } } } }`)
	until("its end", func() bool { return h.Find("pigeon", "one") == nil })
	net.Receive(channel.Inbound{MessageID: "m", Conversation: "c", SenderID: "s"})
	if in := <-got; in.Account != "two" {
		t.Errorf("%+v", in)
	}
	if p := h.Problems(); len(p) != 0 {
		t.Errorf("%+v", p)
	}
	change(`{ channels: { pigeon: { accounts: { two: { loftKey: "broken-key" } } } } }`)
	until("saying so", func() bool { return len(h.Problems()) == 1 })
	change(`{ channels: { pigeon: { accounts: { two: { loftKey: "mended-key" } } } } }`)
	until("mending it", func() bool { return len(h.Problems()) == 0 && h.Find("pigeon", "two") != nil })
}

// TestLateAccounts: one whose credential takes its time is connected when it is
// there, or told of; one that the settings got when it runs no more waits for a restart.
func TestLateAccounts(t *testing.T) {
	net := loopback.NewNet()
	h, f := open(t, net, `{ channels: { pigeon: { accounts: { kept: { loftKey: "keychain:pigeon" } } } } }`)
	synctest.Test(t, func(t *testing.T) {
		h.Open(t.Context(), nil, nil)
		if len(h.Problems()) != 0 {
			t.Errorf("%+v", h.Problems())
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { h.Run(ctx, func(context.Context, channel.Inbound) error { return nil }); close(done) }()
		synctest.Wait()
		if p := h.Problems(); len(p) != 1 || !strings.Contains(p[0].Message, "channels.pigeon.accounts.kept.loftKey was not found") {
			t.Errorf("%+v", p)
		}
		stop()
		<-done
	})
	if _, err := f.MergePatch(t.Context(), f.Snapshot().Hash,
		`{ channels: { pigeon: { accounts: { fresh: { loftKey: "fifth-key" } } } } }`); err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, p := range h.Problems() {
		said += p.Message
	}
	if !strings.Contains(said, "Pigeon Post (fresh) was set up after Hearth had started") {
		t.Error(said)
	}
	if st := h.Status(); len(st) != 2 || st[0].AccountID != "fresh" || st[0].Running || st[1].AccountID != "kept" ||
		st[1].State != "failed" || !strings.Contains(st[1].LastError, "was not found") {
		t.Errorf("%+v", st)
	}
}
