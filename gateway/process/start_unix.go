//go:build linux || darwin

package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// guarded is a command with its guardian.
type guarded struct {
	cmd     *exec.Cmd
	control *os.File
	reports *json.Decoder
	rfile   *os.File
	in      *os.File // nil: it reads nothing
	out     *os.File
	tty     *os.File // the terminal, which is in and out then; nil: pipes
	main    entry
	copies  []copied

	mu     sync.Mutex // of control and in
	inOpen bool
}

// files are the ends of pipes on the way to a guardian.
type files struct {
	theirs, ours []*os.File
}

func (f *files) pipe(theyRead bool) (theirs, ours *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	if theyRead {
		theirs, ours = r, w
	} else {
		theirs, ours = w, r
	}
	f.theirs, f.ours = append(f.theirs, theirs), append(f.ours, ours)
	return theirs, ours, nil
}

func closeAll(fs []*os.File) {
	for _, f := range fs {
		_ = f.Close()
	}
}

func platform(helper []string) starter {
	return func(ctx context.Context, s Spec) (child, error) {
		if len(helper) < 2 {
			return nil, errors.New("no guardian is set up for commands")
		}
		if len(s.Copies) > maxCopies {
			return nil, fmt.Errorf("a command with more than %d scripts is not run; split it up", maxCopies)
		}
		var f files
		g, err := start(helper, s, &f)
		closeAll(f.theirs)
		if err != nil {
			closeAll(f.ours)
			return nil, err
		}
		if err := g.begin(ctx, s); err != nil {
			g.abandon()
			return nil, err
		}
		return g, nil
	}
}

// start starts the guardian with all that it needs.
func start(helper []string, s Spec, f *files) (*guarded, error) {
	dir, err := openDir(s.Dir)
	if err != nil {
		return nil, err
	}
	f.theirs = append(f.theirs, dir)
	copies := copiedOf(s.Copies) // what their folders are, before the last look at all of it
	if s.CheckDir != nil {
		if err := s.CheckDir(dir); err != nil {
			return nil, err
		}
	}
	g := &guarded{copies: copies, cmd: &exec.Cmd{Path: helper[0], Args: helper[1:], Env: []string{"GOMAXPROCS=2", "GOTRACEBACK=none"}}}
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	controlR, control, err := f.pipe(true)
	if err != nil {
		return nil, err
	}
	reportsW, reports, err := f.pipe(false)
	if err != nil {
		return nil, err
	}
	g.control, g.rfile, g.reports = control, reports, json.NewDecoder(reports)
	g.cmd.ExtraFiles = []*os.File{controlR, reportsW, dir}
	for _, c := range s.Copies {
		file, err := sealed(c.Data)
		if err != nil {
			return nil, err
		}
		f.theirs = append(f.theirs, file)
		g.cmd.ExtraFiles = append(g.cmd.ExtraFiles, file)
	}
	if err := g.connect(s, f); err != nil {
		return nil, err
	}
	if err := g.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the command's guardian: %w", err)
	}
	return g, nil
}

// connect gives the command its input and output.
func (g *guarded) connect(s Spec, f *files) error {
	if s.TTY {
		t, theirs, err := pty.Open()
		if err != nil {
			return fmt.Errorf("open a terminal: %w", err)
		}
		f.ours, f.theirs = append(f.ours, t), append(f.theirs, theirs)
		g.tty, g.in, g.out, g.inOpen = t, t, t, true
		if s.Cols > 0 && s.Rows > 0 {
			_ = g.resize(s.Cols, s.Rows)
		}
		g.cmd.Stdin, g.cmd.Stdout, g.cmd.Stderr = theirs, theirs, theirs
		return nil
	}
	outW, out, err := f.pipe(false)
	if err != nil {
		return err
	}
	g.out, g.cmd.Stdout, g.cmd.Stderr = out, outW, outW
	if s.Stdout != nil {
		g.cmd.Stdout = s.Stdout
	}
	if s.Input {
		inR, in, err := f.pipe(true)
		if err != nil {
			return err
		}
		g.in, g.inOpen, g.cmd.Stdin = in, true, inR
	}
	return nil
}

// begin hands the job over and waits until the command runs.
func (g *guarded) begin(ctx context.Context, s Spec) error {
	j := job{Path: s.Path, Argv: s.Argv, Env: s.Env, TTY: s.TTY, Confine: s.Confine, Temp: s.Temp, Dir: s.Dir, Copies: g.copies, Pin: s.Pin}
	b, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("write the job: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = g.rfile.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := g.control.Write(append(fmt.Appendf(nil, "%08x", len(b)), b...)); err != nil {
		return fmt.Errorf("hand a command to its guardian: %w", err)
	}
	var r report
	err = g.reports.Decode(&r)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("a command's guardian ended before the command ran: %w", err)
	case r.Error != "":
		return &StartError{Path: s.Path, Reason: r.Error}
	}
	g.main, _ = stat(r.PID)
	g.main.pid = r.PID
	return nil
}

// leaving bounds the wait for a guardian whose command never ran. What it may have
// begun to start dies with it.
const leaving = 2 * time.Second

// abandon is for a command that never ran.
func (g *guarded) abandon() {
	_ = g.control.Close()
	t := time.AfterFunc(leaving, func() { _ = g.cmd.Process.Kill() })
	defer t.Stop()
	_ = g.cmd.Wait()
	g.close()
}

func (g *guarded) pid() int { return g.main.pid }

func (g *guarded) Read(b []byte) (int, error) {
	n, err := g.out.Read(b)
	if g.tty != nil && errors.Is(err, syscall.EIO) { // how a terminal says that nobody is left
		err = io.EOF
	}
	return n, err
}

// writeTime bounds a write to a command that does not read.
const writeTime = 2 * time.Second

func (g *guarded) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.inOpen {
		return 0, ErrInput
	}
	_ = g.in.SetWriteDeadline(time.Now().Add(writeTime))
	n, err := g.in.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("it does not read its input; %d of %d bytes went in", n, len(b))
	}
	return n, err
}

const endOfInput = 0x04 // Ctrl-D

func (g *guarded) closeInput() error {
	if g.tty != nil {
		_, err := g.Write([]byte{endOfInput})
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.inOpen {
		return ErrInput
	}
	g.inOpen = false
	return g.in.Close()
}

func (g *guarded) resize(cols, rows int) error {
	if g.tty == nil {
		return ErrNoTerminal
	}
	return pty.Setsize(g.tty, &pty.Winsize{Cols: cells(cols), Rows: cells(rows)})
}

// cells is a size that a terminal can have.
func cells(n int) uint16 { return uint16(min(max(n, 0), math.MaxUint16)) }

func (g *guarded) stop(now bool) {
	order := orderStop
	if now {
		order = orderKill
	}
	_, _ = g.control.Write([]byte{order})
}

// lingering bounds the wait for output after the guardian has ended: nothing
// should hold the pipe any more, and if something does it is not waited for.
const lingering = 500 * time.Millisecond

func (g *guarded) wait() Exit {
	var r report
	err := g.reports.Decode(&r)
	_ = g.cmd.Wait()
	t := time.AfterFunc(lingering, func() { _ = g.out.SetReadDeadline(time.Unix(1, 0)) })
	defer t.Stop()
	if err != nil || !r.Done {
		endSession(g.main)
		return Exit{Code: -1, Lost: "its guardian was ended from outside, so nobody saw how it ended"}
	}
	return Exit{Code: r.Code, Signal: r.Signal, Left: r.Left}
}

func (g *guarded) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inOpen = false
	for _, f := range []*os.File{g.control, g.rfile, g.out, g.in} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// endSession kills what is left of a command whose guardian is gone. Its
// session keeps its number as long as somebody is in it, so while its leader
// is gone or still the same, the number is ours.
func endSession(main entry) {
	if main.start == "" {
		return
	}
	if now, ok := stat(main.pid); ok && now.start != main.start {
		return
	}
	for _, e := range all() {
		if e.session == main.pid {
			_ = e.signal(syscall.SIGKILL)
		}
	}
}
