package program_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
	"github.com/hearth-assistant/hearth/gateway/channel/program/programtest"
	"github.com/hearth-assistant/hearth/gateway/channel/program/serve"
)

// launch starts what main does with its input and output.
func launch(t *testing.T, main func(ctx context.Context, in io.ReadCloser, out io.WriteCloser)) channel.Launch {
	return programtest.Launch(t, main)
}

// serves serves a channel.
func serves(ch channel.Channel) func(context.Context, io.ReadCloser, io.WriteCloser) {
	return func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) {
		p := serve.Program{Name: "test", Version: "1", Now: time.Now, Logger: slog.New(slog.DiscardHandler),
			New: func(string, channel.Account) (channel.Channel, error) { return ch, nil }}
		_ = p.Serve(ctx, in, out)
	}
}

func open(t *testing.T, a channel.Account) *program.Bridge {
	t.Helper()
	a.ID, a.Now, a.Logger = "default", time.Now, slog.New(slog.DiscardHandler)
	c, err := program.New(program.Options{Account: a, Network: "loopback", Argv: []string{"test"}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var limits = channel.Limits{Text: 100, Unit: channel.Bytes, Edits: 2, EditWindow: time.Hour, Typing: time.Second, Files: 1 << 20,
	Reactions: true, Threads: true, Dialect: channel.Markdown}

// running runs a channel until the test ends.
func running(t *testing.T, c *program.Bridge, inbox channel.Inbox) <-chan error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx, inbox) }()
	t.Cleanup(cancel)
	return ended
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick, late := time.NewTicker(2*time.Millisecond), time.After(20*time.Second)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal(what, "did not happen")
		}
	}
}

func receives(c *program.Bridge) func() bool {
	return func() bool { return c.Status().State == channel.Receiving }
}

// fileNet sends the first file of a message to a network that keeps contents, and
// brings one.
type fileNet struct {
	*loopback.Channel
}

func (f *fileNet) Fetch(context.Context, channel.Media) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("what came")), nil
}

// TestFiles: a file that is sent lies in the common folder while it is, one that
// came until it was read.
func TestFiles(t *testing.T) {
	net := loopback.NewNet()
	ch := &fileNet{Channel: net.Channel("loopback", "default", limits)}
	var mu sync.Mutex
	var folder string
	start := launch(t, serves(ch))
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("what goes"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, channel.Account{
		MaxFile:  1 << 20,
		OpenFile: func(path string) (fs.File, error) { return os.Open(filepath.Join(dir, path)) },
		Launch: func(ctx context.Context, n, a string, argv []string) (channel.Process, error) {
			p, err := start(ctx, n, a, argv)
			mu.Lock()
			folder = p.Folder()
			mu.Unlock()
			return p, err
		},
	})
	running(t, c, func(context.Context, channel.Inbound) error { return nil })
	until(t, "receiving", receives(c))
	to := channel.Target{Account: "default", Conversation: "c1"}
	file := channel.Media{MIME: "text/plain", Name: "a.txt", URL: "a.txt"}
	_, err := c.Send(t.Context(), channel.Message{To: to, Text: "see", Media: []channel.Media{file}})
	if err != nil {
		t.Fatal(err)
	}
	if m := net.Messages()[0].Media; len(m) != 1 || m[0].Name != "a.txt" || m[0].Size != 9 || strings.ContainsAny(m[0].URL, `/\`) {
		t.Errorf("%+v", m)
	}
	f, err := c.Fetch(t.Context(), channel.Media{URL: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := io.ReadAll(f); string(b) != "what came" {
		t.Errorf("%q came", b)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}

// TestFault_F_CH_ProgramDies: a send that was on its way is uncertain, later ones
// wait, and the program is started again.
func TestFault_F_CH_ProgramDies(t *testing.T) {
	net := loopback.NewNet()
	ch := net.Channel("loopback", "default", limits)
	var mu sync.Mutex
	var last channel.Process
	starts := 0
	start := launch(t, serves(ch))
	c := open(t, channel.Account{Launch: func(ctx context.Context, n, a string, argv []string) (channel.Process, error) {
		p, err := start(ctx, n, a, argv)
		mu.Lock()
		defer mu.Unlock()
		last = p
		starts++
		return p, err
	}})
	to := channel.Target{Account: "default", Conversation: "c1"}
	if _, err := c.Send(t.Context(), channel.Message{To: to, Text: "early"}); err == nil || errors.Is(err, channel.ErrUncertain) ||
		errors.Is(err, channel.ErrRefused) {
		t.Errorf("before it runs: %v", err)
	}
	running(t, c, func(context.Context, channel.Inbound) error { return nil })
	until(t, "receiving", receives(c))
	net.Script(loopback.Fault{On: loopback.OpSend, Kind: loopback.OK, After: time.Hour})
	sent := make(chan error, 1)
	go func() {
		_, err := c.Send(t.Context(), channel.Message{To: to, Text: "on its way"})
		sent <- err
	}()
	until(t, "the send", func() bool { return net.Calls(loopback.OpSend) == 1 })
	mu.Lock()
	last.Stop()
	mu.Unlock()
	if err := <-sent; !errors.Is(err, channel.ErrUncertain) || strings.Contains(err.Error(), "jsonrpc2") {
		t.Errorf("a send whose program died: %v", err)
	}
	until(t, "the next start", func() bool { mu.Lock(); defer mu.Unlock(); return starts == 2 })
	until(t, "receiving again", receives(c))
	if _, err := c.Send(t.Context(), channel.Message{To: to, Text: "again"}); err != nil {
		t.Error(err)
	}
}
