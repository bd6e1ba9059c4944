// Package isolate does work on what strangers made in a process of its own: a web
// page that takes all memory, or runs for ever, takes it from that process. It
// has limits of memory, time and output, and whoever asked for the work can end
// it at once, also where a library does not ask anybody in between.
//
// The process is this program, started again with an argument that leads to
// Main. It gets no environment, no files and one job, and ends with it.
package isolate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"time"
)

// Limits of one job; a zero one is its default.
type Limits struct {
	Memory int64         // bytes that the process may hold; 512 MiB
	Time   time.Duration // 20 s
	Output int64         // bytes of the result; 8 MiB
}

const (
	defaultMemory = 512 << 20
	defaultTime   = 20 * time.Second
	defaultOutput = 8 << 20
	// atOnce bounds how many jobs run at one time; others wait.
	atOnce = 2
	// waitDelay is how long a process that was killed may keep its pipes.
	waitDelay = 2 * time.Second
)

// What a job can have too much of.
const (
	Memory = "memory"
	Time   = "time"
	Output = "output"
)

// TooMuchError: the job was ended because it went over a limit.
type TooMuchError struct{ What string }

func (e *TooMuchError) Error() string {
	switch e.What {
	case Memory:
		return "it would take too much memory"
	case Time:
		return "it takes too long"
	}
	return "it becomes too long"
}

// JobError is what the job itself said.
type JobError struct{ Text string }

func (e *JobError) Error() string { return e.Text }

// Runner starts processes for jobs.
type Runner struct {
	command []string
	slots   chan struct{}
}

// New returns a runner. The command is a file, then its arguments, beginning
// with its name, and leads to Main.
func New(command []string) *Runner {
	return &Runner{command: command, slots: make(chan struct{}, atOnce)}
}

// order is the first line that a process reads; the job's input follows.
type order struct {
	Job    string `json:"job"`
	Memory int64  `json:"memory"`
	CPU    int64  `json:"cpu"` // seconds
	Output int64  `json:"output"`
}

// Do runs one job. Its error is a *TooMuchError when the job went over a limit,
// a *JobError when the job said no, and ctx's when that ended first.
func (r *Runner) Do(ctx context.Context, job string, in []byte, l Limits) ([]byte, error) {
	if len(r.command) < 2 {
		return nil, errors.New("no process can be started for this work")
	}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l = l.filled()
	limited, cancel := context.WithTimeout(ctx, l.Time)
	defer cancel()
	line, err := json.Marshal(order{Job: job, Memory: l.Memory, CPU: int64(l.Time/time.Second) + 1, Output: l.Output})
	if err != nil {
		return nil, err
	}
	out := &ceiling{left: l.Output + 1}
	cmd := exec.CommandContext(limited, r.command[0])
	cmd.Args = r.command[1:]
	cmd.Env = []string{"GOMAXPROCS=2", "GOTRACEBACK=none"}
	cmd.Stdin = io.MultiReader(bytes.NewReader(append(line, '\n')), bytes.NewReader(in))
	cmd.Stdout = out
	cmd.WaitDelay = waitDelay
	err = cmd.Run()
	return out.result(ctx, limited, cmd, err)
}

func (l Limits) filled() Limits {
	if l.Memory == 0 {
		l.Memory = defaultMemory
	}
	if l.Time == 0 {
		l.Time = defaultTime
	}
	if l.Output == 0 {
		l.Output = defaultOutput
	}
	return l
}

// ceiling keeps what a process writes, up to a limit.
type ceiling struct {
	buf  bytes.Buffer
	left int64
	over bool
}

func (c *ceiling) Write(p []byte) (int, error) {
	if int64(len(p)) > c.left {
		c.over = true
		return 0, errors.New("more output than allowed")
	}
	c.left -= int64(len(p))
	return c.buf.Write(p)
}

func (c *ceiling) result(ctx, limited context.Context, cmd *exec.Cmd, err error) ([]byte, error) {
	code := -1
	if cmd.ProcessState != nil {
		code = cmd.ProcessState.ExitCode()
	}
	out := c.buf.Bytes()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, &TooMuchError{Time}
	case c.over || code == exitOutput:
		return nil, &TooMuchError{Output}
	case code == exitMemory || code == exitThrown: // Go's own word for memory that the system refuses
		return nil, &TooMuchError{Memory}
	case err != nil && cmd.Process == nil:
		return nil, fmt.Errorf("no process could be started for this work: %w", err)
	case err != nil || len(out) == 0:
		return nil, fmt.Errorf("the process for this work ended before its time: %w", err)
	case out[0] == failed:
		return nil, &JobError{string(out[1:])}
	}
	return out[1:], nil
}

// Beside is the command that starts Main, next to another that ends in an argument
// of its own; nil for none.
func Beside(command []string, arg string) []string {
	if n := len(command); n > 1 {
		return append(slices.Clone(command[:n-1]), arg)
	}
	return nil
}
