// Package programtest runs programs of channels inside a test, between two pipes: what
// the gateway and a program say to each other is said, and no process is started.
package programtest

import (
	"context"
	"io"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel"
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
func Launch(t *testing.T, main func(ctx context.Context, in io.ReadCloser, out io.WriteCloser)) channel.Launch {
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
