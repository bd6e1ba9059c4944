package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

const addedToken = "4242424242:AAcanary-7f3a9c_secretTokenPart-xyz01"

// networked is a gateway that keeps secrets in a file, and Telegram.
func networked(t *testing.T) (home string, net *telegramtest.Server, address string) {
	t.Helper()
	net = telegramtest.New(addedToken)
	t.Cleanup(net.Close)
	net.AddChat(telegramtest.Chat{ID: 77, Type: "private", Title: "Ann"})
	server := httptest.NewServer(net)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	home = t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "hearth.json"), []byte(`{ secrets: { backend: "plain" } }`), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	own := t.TempDir()
	g, err := gateway.New(ctx, gateway.Options{Dir: statedir.Dir(home), Port: freePort(t), Version: "test", Env: func(name string) string {
		return map[string]string{"HOME": own}[name]
	}})
	if err != nil {
		stop()
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("gateway: %v", err)
		}
	})
	waitReady(t, home)
	return home, net, server.URL
}

// answers are what a person types when the command asks.
type answers struct {
	*adding
	typed *io.PipeWriter
	said  *bytes.Buffer
}

func newAnswers(t *testing.T, home, token string) *answers {
	t.Helper()
	in, typed := io.Pipe()
	t.Cleanup(func() { _ = typed.Close() })
	said := &bytes.Buffer{}
	a := &app{World: World{In: in, Out: said, Err: said, Env: func(name string) string {
		return map[string]string{"HEARTH_HOME": home}[name]
	}}}
	c, err := a.dial(t.Context(), client.Options{Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeAdmin}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	n := &adding{wizard: &wizard{a: a, c: c}, in: bufio.NewReader(in), account: "default", given: map[string]string{}}
	n.secret = func(prompt string) (string, error) {
		if strings.HasPrefix(prompt, "botToken") {
			return token, nil
		}
		return "", nil
	}
	return &answers{n, typed, said}
}

var codeShape = regexp.MustCompile(`\b[A-Z0-9]{8}\b`)

// writes says something to the bot until a code comes back, and returns it.
func writes(t *testing.T, net *telegramtest.Server) string {
	t.Helper()
	late := time.After(60 * time.Second)
	said := false
	for {
		if !said && net.Calls("getUpdates") > 0 {
			net.Say(77, telegramtest.Person{ID: 77, Name: "Ann", Username: "ann"}, "hi", nil)
			said = true
		}
		for _, m := range net.Sent(77) {
			if code := codeShape.FindString(m.Text); code != "" {
				return code
			}
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-late:
			t.Error("no code was sent")
			return ""
		}
	}
}

func kept(t *testing.T, home string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, "hearth.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, names, _ := run(t, home, "", "secrets", "list")
	return string(text) + names
}

// TestChannelsAdd: an account counts as connected when a message came in and what
// answered it was seen.
func TestChannelsAdd(t *testing.T) {
	home, net, address := networked(t)
	n := newAnswers(t, home, addedToken)
	go func() {
		_, _ = fmt.Fprintf(n.typed, "%s\n\n", address)
		code := writes(t, net)
		_, _ = fmt.Fprintf(n.typed, "WRONGONE\n%s\n", strings.ToLower(code))
	}()
	err := n.whole(t.Context(), []string{"telegram"})
	if err != nil || !strings.Contains(n.said.String(), "@BotFather") || !strings.Contains(n.said.String(), "That is another code") ||
		!strings.Contains(n.said.String(), "Telegram is connected") {
		t.Fatalf("%v\n%s", err, n.said)
	}
	if got := kept(t, home); !strings.Contains(got, "keychain:channels.telegram.botToken") || strings.Contains(got, "canary") {
		t.Errorf("%s", got)
	}
	if _, out, _ := run(t, home, "", "contacts"); !strings.Contains(out, "Ann") {
		t.Errorf("%s", out)
	}
	if code, _, errs := run(t, home, "", "channels", "remove", "telegram"); code != exitOK {
		t.Error(errs)
	}
	if got := kept(t, home); strings.Contains(got, "telegram") {
		t.Errorf("after its removal: %s", got)
	}
}

// TestChannelsAddLeavesNothing: an account that is given up, or is not answered from,
// leaves nothing behind.
func TestChannelsAddLeavesNothing(t *testing.T) {
	home, net, address := networked(t)
	before := kept(t, home)
	for name, tc := range map[string]struct {
		then func(n *answers, stop context.CancelFunc)
		want error
	}{
		"stopped while it waits": {func(_ *answers, stop context.CancelFunc) {
			for before := net.Calls("getUpdates"); net.Calls("getUpdates") == before; {
				<-time.After(time.Millisecond)
			}
			stop()
		}, errInterrupted},
		"no code came": {func(n *answers, _ context.CancelFunc) {
			writes(t, net)
			_, _ = io.WriteString(n.typed, "\n")
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			n := newAnswers(t, home, addedToken)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			go func() {
				_, _ = fmt.Fprintf(n.typed, "%s\n\n", address)
				tc.then(n, stop)
			}()
			err := n.whole(ctx, []string{"telegram"})
			if err == nil || tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("%v\n%s", err, n.said)
			}
			got := strings.ReplaceAll(strings.ReplaceAll(kept(t, home), " ", ""), "\n", "")
			if strings.Contains(got, "telegram") {
				t.Errorf("before:\n%s\nafter:\n%s", before, got)
			}
		})
	}
	n := newAnswers(t, home, "no token")
	if err := n.whole(t.Context(), []string{"telegram"}); err == nil || strings.Count(n.said.String(), "digits, a colon and letters") != most {
		t.Errorf("%v\n%s", err, n.said)
	}
}
