// Package programtest runs programs of channels inside a test, between two pipes: what
// the gateway and a program say to each other is said, and no process is started.
package programtest

import (
	"context"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
	"github.com/hearth-assistant/hearth/gateway/channel/program/serve"
)

// piped is a program that runs in this process.
type piped struct {
	in     *io.PipeWriter
	out    *io.PipeReader
	stop   context.CancelFunc
	done   chan struct{}
	folder string
}

func (p *piped) Write(b []byte) error  { _, err := p.in.Write(b); return err }
func (p *piped) CloseInput() error     { return p.in.Close() }
func (p *piped) Output() io.ReadCloser { return p.out }
func (p *piped) Done() <-chan struct{} { return p.done }
func (p *piped) Words() string         { return "last words" }
func (p *piped) Folder() string        { return p.folder }

// Stop frees who writes or reads, as the end of a process does.
func (p *piped) Stop() {
	p.stop()
	_ = p.in.Close()
	_ = p.out.CloseWithError(io.EOF)
}

// Launch starts what main does with its input and output.
func Launch(t *testing.T, main func(ctx context.Context, in io.Reader, out io.WriteCloser)) channel.Launch {
	return func(ctx context.Context, _, _ string, _ []string) (channel.Process, error) {
		ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
		theirIn, in := io.Pipe()
		out, theirOut := io.Pipe()
		p := &piped{in: in, out: out, stop: stop, done: make(chan struct{}), folder: t.TempDir()}
		go func() {
			defer close(p.done)
			main(ctx, theirIn, theirOut)
			_ = theirIn.Close()
			_ = theirOut.Close()
			stop()
		}()
		return p, nil
	}
}

// Behind is the channel of an account whose client, made by open, is the program
// behind it. Files are sent by their path.
func Behind(t *testing.T, k channel.Kind, limits channel.Limits, a channel.Account,
	open func(channel.Account) (channel.Channel, error)) *program.Bridge {
	t.Helper()
	b, err := program.New(program.Options{
		ID: k.ID, Account: a.ID, Argv: []string{k.ID}, Limits: limits, Can: channel.Abilities(), IsGroup: k.IsGroup, Settings: a.Texts,
		Secrets: a.Secrets, MaxFile: 1 << 20, OpenFile: func(path string) (fs.File, error) { return os.Open(path) }, Durable: a.Durable,
		Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		Launch: Launch(t, func(ctx context.Context, in io.Reader, out io.WriteCloser) {
			p := serve.Program{Name: "test", Version: "1", Now: time.Now, Logger: slog.New(slog.DiscardHandler),
				New: func(_ string, a channel.Account) (channel.Channel, error) { return open(a) }}
			_ = p.Serve(ctx, in, out)
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
