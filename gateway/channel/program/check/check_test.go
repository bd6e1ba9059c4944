package check_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/channel/program/check"
	"github.com/hearth-assistant/hearth/gateway/channel/program/programtest"
	"github.com/hearth-assistant/hearth/gateway/channel/program/serve"
)

// try checks a program and returns what became of each row.
func try(t *testing.T, main func(ctx context.Context, in io.ReadCloser, out io.WriteCloser), wait time.Duration) map[string]check.Result {
	t.Helper()
	out := map[string]check.Result{}
	_, err := check.Run(t.Context(), check.Options{Argv: []string{"test"}, Launch: programtest.Launch(t, main), Wait: wait, Now: time.Now,
		Logger: slog.New(slog.DiscardHandler)}, func(r check.Result) error { out[r.Row] = r; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// whole is a program with a test network: that of package loopback.
func whole(ctx context.Context, in io.ReadCloser, out io.WriteCloser) {
	limits := channel.Limits{Text: 100, Unit: channel.Bytes, Typing: time.Second, Files: 1 << 16, Reactions: true, Threads: true}
	p := serve.Program{
		Name: "test", Version: "1", Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		New: func(string, channel.Account) (channel.Channel, error) { return nil, errors.New("it has no other") },
		Test: func(a channel.Account) (channel.Channel, serve.TestNetwork, error) {
			net := loopback.NewNet()
			return absent{net.Channel("program", a.ID, limits).OpenFiles(a.OpenFile)}, net, nil
		},
	}
	_ = p.Serve(ctx, in, out)
}

// absent is a channel that sends nothing before it runs.
type absent struct{ *loopback.Channel }

func (a absent) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	if m.Text == "early" {
		return channel.Receipt{}, errors.New("not connected")
	}
	return a.Channel.Send(ctx, m)
}

// TestWholeProgram: a program with a test network is tried by the whole suite.
func TestWholeProgram(t *testing.T) {
	got := try(t, whole, 20*time.Second)
	if len(got) < 35 || got["StreamingPace"].State != check.Passed || got["FileIn"].State != check.Passed {
		t.Errorf("%d rows, %+v", len(got), got["StreamingPace"])
	}
	for name, r := range got {
		if r.State == check.Failed {
			t.Errorf("%s: %s", name, r.Happened)
		}
	}
}

// broken answers as a good program does, but for what tc changes.
func broken(change func(method string, id json.RawMessage, params string, write func(string)) bool, ends bool) func(context.Context,
	io.ReadCloser, io.WriteCloser) {
	return func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) {
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 8<<20)
		write := func(s string) { _, _ = io.WriteString(out, s+"\n") }
		for lines.Scan() {
			var r struct {
				Method string          `json:"method"`
				ID     json.RawMessage `json:"id"`
				Params json.RawMessage `json:"params"`
			}
			if json.Unmarshal(lines.Bytes(), &r) != nil || r.Method == "" || change(r.Method, r.ID, string(r.Params), write) {
				continue
			}
			switch r.Method {
			case "initialize":
				write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocol":1,"name":"t","version":"1","limits":{"text":100}}}`, r.ID))
			case "start", "stop", "ping":
				write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, r.ID))
			case "send":
				write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"not connected"}}`, r.ID))
			default:
				write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, r.ID))
			}
		}
		if !ends {
			<-ctx.Done()
		}
	}
}

// TestRowsCanFail: each row finds the program that is wrong in it, and says so in
// words.
func TestRowsCanFail(t *testing.T) {
	instead := func(method, answer string) func(string, json.RawMessage, string, func(string)) bool {
		return func(m string, id json.RawMessage, _ string, write func(string)) bool {
			if m == method && answer != "" {
				write(strings.ReplaceAll(answer, "ID", string(id)))
			}
			return m == method
		}
	}
	first := func(rest string) func(string, json.RawMessage, string, func(string)) bool {
		return instead("initialize", `{"jsonrpc":"2.0","id":ID,"result":{`+rest+`}}`)
	}
	for name, tc := range map[string]struct {
		row, want string
		change    func(string, json.RawMessage, string, func(string)) bool
		stays     bool
	}{
		"silent":    {"Handshake", "did not answer", instead("initialize", ""), false},
		"chatty":    {"Handshake", "no message", instead("initialize", "hello, I am here"), false},
		"nameless":  {"Handshake", "name \"\"", first(`"protocol":1`), false},
		"typing":    {"Limits", "typing", first(`"protocol":1,"name":"t","version":"1","limits":{},"can":["typing"]`), false},
		"unit":      {"Limits", "words", first(`"protocol":1,"name":"t","version":"1","limits":{"unit":"words"}`), false},
		"other id":  {"Ping", "not asked", instead("ping", `{"jsonrpc":"2.0","id":"x","result":{}}`), false},
		"knows all": {"UnknownMethod", "want error -32601", instead("no.such.method", `{"jsonrpc":"2.0","id":ID,"result":{}}`), false},
		"early":     {"SendBeforeStart", "it was sent", instead("send", `{"jsonrpc":"2.0","id":ID,"result":{"messageId":"1"}}`), false},
		"early, never": {"SendBeforeStart", "not tried again", instead("send",
			`{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"x"}}`), false},
		"no stop": {"StartStop", "stop", instead("stop", ""), false},
		"stays":   {"InputEnds", "still runs", func(string, json.RawMessage, string, func(string)) bool { return false }, true},
		"state": {"State", "128 bytes", instead("start",
			`{"jsonrpc":"2.0","id":ID,"result":{}}`+"\n"+`{"jsonrpc":"2.0","id":"a","method":"state.put","params":{"key":"","blob":""}}`), false},
		"the secret": {"SecretStaysSecret", "stands in what it says", func(m string, id json.RawMessage, p string, write func(string)) bool {
			if m == "initialize" && strings.Contains(p, "canary") {
				write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":3,"message":%q}}`, id, p))
				return true
			}
			return false
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := try(t, broken(tc.change, !tc.stays), 2*time.Second)
			if r := got[tc.row]; r.State != check.Failed || !strings.Contains(r.Happened, tc.want) || r.Do == "" {
				t.Errorf("%s: %+v, want %q", tc.row, r, tc.want)
			}
		})
	}
	t.Run("nothing is wrong", func(t *testing.T) {
		for name, r := range try(t, broken(func(string, json.RawMessage, string, func(string)) bool { return false }, true), 10*time.Second) {
			if r.State == check.Failed {
				t.Errorf("%s: %s", name, r.Happened)
			}
		}
	})
}
