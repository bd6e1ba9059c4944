package cli

import (
	"context"
	"io"
	"os"

	"golang.org/x/term"
)

// answerReader is the standard input as questions read it: a read ends with the command,
// not only with a line. A read from a terminal cannot be stopped, so the one that is
// never answered stays behind and ends with the program.
type answerReader struct {
	ctx  context.Context // of the command
	in   io.Reader
	stop func() // is called when a read was stopped
}

func (r *answerReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, errInterrupted
	}
	type part struct {
		n   int
		err error
	}
	own, got := make([]byte, len(p)), make(chan part, 1)
	go func() {
		n, err := r.in.Read(own)
		got <- part{n, err}
	}()
	select {
	case x := <-got:
		return copy(p, own[:x.n]), x.err
	case <-r.ctx.Done():
		r.stop()
		return 0, errInterrupted
	}
}

// answersTo makes the questions of a run end with it.
func (a *app) answersTo(ctx context.Context) {
	a.asked = &answerReader{ctx, a.In, func() {
		if a.InTerminal { // what comes next begins a line, behind the ^C
			_ = a.errs().print("\n")
		}
	}}
}

// input is where answers to questions come from.
func (a *app) input() io.Reader {
	if a.asked == nil {
		return a.In
	}
	return a.asked
}

// hiddenLine reads a line of the terminal without showing it.
func (a *app) hiddenLine() (string, error) {
	fd := int(os.Stdin.Fd())
	read := func() (string, error) {
		b, err := term.ReadPassword(fd)
		return string(b), err
	}
	if a.asked == nil {
		return read()
	}
	return unseen(a.asked.ctx, fd, read)
}

// unseen is interrupted for a read that hides what is typed: the terminal shows it
// again, however this ends.
func unseen(ctx context.Context, fd int, read func() (string, error)) (string, error) {
	if state, err := term.GetState(fd); err == nil {
		defer func() { _ = term.Restore(fd, state) }()
	}
	return interrupted(ctx, read)
}

// interrupted reads until there is an answer or the command ends.
func interrupted(ctx context.Context, read func() (string, error)) (string, error) {
	type answer struct {
		word string
		err  error
	}
	if ctx.Err() != nil {
		return "", errInterrupted
	}
	got := make(chan answer, 1)
	go func() { // one that is never answered ends with the program
		word, err := read()
		got <- answer{word, err}
	}()
	select {
	case a := <-got:
		if ctx.Err() != nil {
			return "", errInterrupted
		}
		return a.word, a.err
	case <-ctx.Done():
		return "", errInterrupted
	}
}
