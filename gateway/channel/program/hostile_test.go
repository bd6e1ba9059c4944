package program_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// scripted is a program that answers what says answers, line by line.
func scripted(answer func(method string, id json.RawMessage, write func(string))) func(context.Context, io.ReadCloser, io.WriteCloser) {
	return func(_ context.Context, in io.ReadCloser, out io.WriteCloser) {
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 8<<20)
		for lines.Scan() {
			var r struct {
				Method string          `json:"method"`
				ID     json.RawMessage `json:"id"`
			}
			if json.Unmarshal(lines.Bytes(), &r) != nil {
				return
			}
			answer(r.Method, r.ID, func(s string) { _, _ = io.WriteString(out, s) })
		}
	}
}

func result(id json.RawMessage, r string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, r)
}

// well answers as a good program does.
func well(method string, id json.RawMessage, write func(string)) {
	r := "{}"
	if method == "initialize" {
		r = `{"protocol":1,"name":"t","version":"1","limits":{"text":100},"can":[]}`
	}
	write(result(id, r))
}

// TestSec_A_CH_HostilePrograms: whatever a program writes, the gateway says what was
// wrong with it and goes on.
func TestSec_A_CH_HostilePrograms(t *testing.T) {
	for name, tc := range map[string]struct {
		at    string // the request after which it happens
		write string
		want  string
	}{
		"words":     {"start", "debug: hello\n", "no message: \"debug: hello\""},
		"long line": {"start", strings.Repeat("x", 5<<20), "more than 4 MB"},
		"flood":     {"start", strings.Repeat(`{"jsonrpc":"2.0","method":"status"}`+"\n", 30_000), "more than anybody could use"},
		"nesting":   {"start", strings.Repeat(`[`, 20_000) + "\n", "no message"},
		"protocol":  {"initialize", `{"jsonrpc":"2.0","id":0,"result":{"protocol":7}}` + "\n", "version 7 of the protocol"},
		"password":  {"initialize", `{"jsonrpc":"2.0","id":0,"error":{"code":3,"message":"bad token"}}` + "\n", "bad token"},
		"its end":   {"start", `{"jsonrpc":"2.0","method":"stopped","params":{"problem":"the bot was deleted"}}` + "\n", "the bot was deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t, channel.Account{Launch: launch(t, scripted(func(method string, id json.RawMessage, write func(string)) {
				if method != tc.at {
					well(method, id, write)
					return
				}
				write(tc.write)
				if method == "start" {
					write(result(id, "{}"))
				}
			}))})
			ended := running(t, c, func(context.Context, channel.Inbound) error { return nil })
			var told string
			until(t, "a word about it", func() bool {
				select {
				case err := <-ended:
					told = fmt.Sprint(err)
				default:
					told = c.Status().Problem
				}
				return told != ""
			})
			if !strings.Contains(told, tc.want) {
				t.Errorf("it says %q, want %q", told, tc.want)
			}
		})
	}
}

// TestFault_F_CH_ProgramHangs: a program that says nothing any more is asked, ended
// and started again, and waits longer each time.
func TestFault_F_CH_ProgramHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var starts atomic.Int32
		begin := launch(t, scripted(func(method string, id json.RawMessage, write func(string)) {
			if method != "ping" && method != "stop" && method != "send" {
				well(method, id, write)
			}
		}))
		c := open(t, channel.Account{Launch: func(ctx context.Context, n, a string, argv []string) (channel.Process, error) {
			starts.Add(1)
			return begin(ctx, n, a, argv)
		}})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- c.Run(ctx, func(context.Context, channel.Inbound) error { return nil }) }()
		_ = sleep.For(ctx, 10*time.Second)
		sent := make(chan error, 1)
		go func() {
			_, err := c.Send(ctx, channel.Message{To: channel.Target{Conversation: "c"}, Text: "x"})
			sent <- err
		}()
		_ = sleep.For(ctx, 5*time.Minute)
		if err := <-sent; !errors.Is(err, channel.ErrUncertain) {
			t.Errorf("a send that was never answered: %v", err)
		}
		if n := starts.Load(); n < 2 || n > 4 {
			t.Errorf("it was started %d times in five minutes", n)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestFault_F_CH_ProgramDiesAgainAndAgain: one that dies at once waits longer each
// time; one that works for a while between its deaths is back at once.
func TestFault_F_CH_ProgramDiesAgainAndAgain(t *testing.T) {
	for life, starts := range map[time.Duration][2]int32{
		100 * time.Millisecond: {9, 11}, 15 * time.Second: {8, 11}, 30 * time.Second: {19, 20},
	} {
		t.Run(life.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var n atomic.Int32
				c := open(t, channel.Account{Launch: launch(t, func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) {
					n.Add(1)
					go scripted(well)(ctx, in, out)
					_ = sleep.For(ctx, life)
				})})
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- c.Run(ctx, func(context.Context, channel.Inbound) error { return nil }) }()
				_ = sleep.For(ctx, 10*time.Minute)
				if got := n.Load(); got < starts[0] || got > starts[1] {
					t.Errorf("it was started %d times in ten minutes, want %v", got, starts)
				}
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestStrange: what a program gets wrong in a request is answered, and what it sends
// too much of waits.
func TestStrange(t *testing.T) {
	answers := make(chan string, 16)
	c := open(t, channel.Account{Launch: launch(t, scripted(func(method string, id json.RawMessage, write func(string)) {
		if method == "" {
			answers <- string(id)
			return
		}
		well(method, id, write)
		if method == "start" {
			write(`{"jsonrpc":"2.0","id":"a","method":"inbound","params":{"text":7}}` + "\n")
			write(`{"jsonrpc":"2.0","id":"b","method":"no.such","params":{}}` + "\n")
			write(`{"jsonrpc":"2.0","id":"c","method":"inbound","params":{"chat":"odd","text":"x","conversation":"c","senderId":"s","messageId":"m"}}` + "\n")
			write(`{"jsonrpc":"2.0","method":"status","params":{"state":"failed"}}` + "\n")
			write(`{"jsonrpc":"2.0","method":"status","params":{"state":"receiving","bot":"b"}}` + "\n")
			write(`{"jsonrpc":"2.0","id":"d","method":"state.put","params":{"key":"","blob":""}}` + "\n")
		}
	}))})
	got := make(chan channel.Inbound, 1)
	running(t, c, func(_ context.Context, in channel.Inbound) error { got <- in; return nil })
	seen := map[string]bool{}
	for range 4 {
		seen[<-answers] = true
	}
	if len(seen) != 4 {
		t.Errorf("answered: %v", seen)
	}
	if in := <-got; in.Chat != channel.Group || in.Channel != "loopback" || in.Account != "default" {
		t.Errorf("%+v", in)
	}
	until(t, "its status", func() bool { s := c.Status(); return s.State == channel.Receiving && s.Bot == "b" })
}
