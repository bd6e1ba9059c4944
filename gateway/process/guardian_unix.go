//go:build linux || darwin

package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hearth-assistant/hearth/gateway/process/pinned"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
)

// The files that a guardian is started with, after the command's own three.
const (
	fdControl = 3 // orders; its end is an order too
	fdReports = 4
	fdDir     = 5
	fdCopies  = 6 // and those behind it
)

const (
	orderStop byte = 's'
	orderKill byte = 'k'
)

// The patience of a guardian with what it ends.
const (
	graceOrphans = 200 * time.Millisecond // after the command's end, before anything is asked to end
	graceStop    = 700 * time.Millisecond // between asking and killing
)

// job is what a guardian is told; the first line of its orders.
type job struct {
	Path    string         `json:"path"`
	Argv    []string       `json:"argv"`
	Env     []string       `json:"env"`
	Copies  []copied       `json:"copies,omitempty"` // the content is in the files from fdCopies on
	Pin     bool           `json:"pin,omitempty"`
	Dir     string         `json:"dir,omitempty"`
	TTY     bool           `json:"tty,omitempty"`
	Confine *sandbox.Rules `json:"confine,omitempty"`
	Temp    string         `json:"temp,omitempty"`
}

// copied is one file that the command is to see as it was approved.
type copied struct {
	Names   []string          `json:"names"` // the first is where it really is
	Folders []pinned.Folder   `json:"folders"`
	Links   map[string]string `json:"links,omitempty"`
}

// report is one line of what a guardian tells.
type report struct {
	PID    int    `json:"pid,omitempty"`
	Error  string `json:"error,omitempty"`
	Done   bool   `json:"done,omitempty"`
	Code   int    `json:"code,omitempty"`
	Signal string `json:"signal,omitempty"`
	Left   int    `json:"left,omitempty"`
}

// Child is the guardian. A program calls it at the very start of main when it
// was started with the arguments of Options.Helper, and exits with its result.
func Child() int {
	closeOnExec(fdControl)
	g := &guardian{control: os.NewFile(fdControl, "control"), reports: json.NewEncoder(os.NewFile(fdReports, "reports"))}
	if err := g.run(); err != nil {
		said := err.Error()
		if at := (*StartError)(nil); errors.As(err, &at) && at.Path == g.job.Path {
			said = at.Reason // who reads the report says which program that is
		}
		_ = g.reports.Encode(report{Error: said})
		return 1
	}
	return 0
}

type guardian struct {
	control *os.File
	reports *json.Encoder
	job     job

	pins *pins // nil: nothing is pinned
	main int   // the command
	exit syscall.WaitStatus
	left int // how many it left behind
}

func (g *guardian) run() error {
	// Asking a guardian to end is asking for its command's end.
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	if err := g.read(); err != nil {
		return err
	}
	if err := adopt(); err != nil {
		return err
	}
	if err := unix.Fchdir(fdDir); err != nil {
		return fmt.Errorf("enter the working folder: %w", err)
	}
	started := make(chan error)
	go g.start(started)
	if err := <-started; err != nil {
		return err
	}
	mainEnded, allEnded := make(chan struct{}), make(chan struct{})
	go g.reap(mainEnded, allEnded)
	orders := make(chan byte, 8)
	go g.listen(orders)
	g.supervise(asked, orders, mainEnded, allEnded)
	if g.job.Temp != "" {
		_ = os.RemoveAll(g.job.Temp)
	}
	r := report{Done: true, Code: -1, Left: g.left}
	if g.exit.Signaled() {
		r.Signal = unix.SignalName(g.exit.Signal())
	} else {
		r.Code = g.exit.ExitStatus()
	}
	_ = g.reports.Encode(r) // with nobody left to read it, the work is done all the same
	return nil
}

// read takes the job from the first line, byte by byte, since orders follow.
func (g *guardian) read() error {
	var size [8]byte
	if _, err := io.ReadFull(g.control, size[:]); err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	n, err := strconv.ParseUint(string(size[:]), 16, 32)
	if err != nil {
		return errors.New("read the job: this command is started by hearth, not by hand")
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(g.control, b); err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	if err := json.Unmarshal(b, &g.job); err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	return nil
}

// start confines this thread, starts the command from it, and stays: the
// command is told to die with the thread that started it.
func (g *guardian) start(done chan<- error) {
	runtime.LockOSThread()
	err := g.confineAndStart()
	done <- err
	if err == nil {
		select {}
	}
}

func (g *guardian) confineAndStart() (err error) {
	if g.pins, err = pin(g.job); err != nil {
		return err
	}
	path, argv := g.job.Path, g.job.Argv
	if g.job.Confine != nil {
		wrapped, err := sandbox.Wrap(*g.job.Confine, append([]string{path}, argv[1:]...))
		if err != nil {
			return err
		}
		if wrapped[0] != path {
			path, argv = wrapped[0], wrapped
		}
		if err := sandbox.Enter(*g.job.Confine); err != nil {
			return err
		}
	}
	attr := &syscall.ProcAttr{Env: g.job.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true, Setctty: g.job.TTY}}
	dieWithParent(attr.Sys)
	pid, err := g.pins.start(path, argv, attr)
	if err != nil {
		return &StartError{path, err.Error()}
	}
	g.main = pid
	return g.reports.Encode(report{PID: pid})
}

// reap collects all that ends. A guardian without children has nothing left to
// guard, since it adopts what others orphan.
func (g *guardian) reap(mainEnded, allEnded chan<- struct{}) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err == nil && status.Stopped():
			g.pins.stopped(pid, status)
		case err != nil:
			close(allEnded)
			return
		case pid == g.main:
			g.exit = status
			close(mainEnded)
		}
	}
}

// listen passes orders on; a closed pipe is the last one.
func (g *guardian) listen(orders chan<- byte) {
	var b [1]byte
	for {
		if _, err := io.ReadFull(g.control, b[:]); err != nil {
			orders <- orderStop
			return
		}
		orders <- b[0]
	}
}

// supervise returns when nothing is left.
func (g *guardian) supervise(asked <-chan os.Signal, orders <-chan byte, mainEnded, allEnded <-chan struct{}) {
	var orphans, patience, again <-chan time.Time
	stop := func() {
		if patience == nil && again == nil {
			endTree(syscall.SIGTERM)
			patience = time.After(graceStop)
		}
	}
	kill := func() {
		endTree(syscall.SIGKILL)
		again = time.After(20 * time.Millisecond) // whoever was born meanwhile
	}
	for {
		select {
		case <-allEnded:
			return
		case <-asked:
			stop()
		case o := <-orders:
			if o == orderKill {
				kill()
			} else {
				stop()
			}
		case <-mainEnded:
			mainEnded = nil
			endGroup(g.main)
			orphans = time.After(graceOrphans)
		case <-orphans:
			for _, e := range descendants() {
				if !e.dead {
					g.left++
				}
			}
			stop()
		case <-patience:
			patience = nil
			kill()
		case <-again:
			kill()
		}
	}
}
