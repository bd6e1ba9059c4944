// Package process runs commands for tools and ends them: a command, all that
// it starts, and all that those start, also what left its session or its
// parent. It owns their pipes and terminals, what they printed (its beginning
// and its end), and the truth about how they ended. It does not decide what
// may run: the caller hands in the exact program, arguments, environment,
// folder and sandbox.
//
// On Unix every command has a guardian: this program again, as Child, which
// confines itself, starts the command, adopts what the command orphans, and
// holds one end of a pipe. When the other end closes, because somebody said
// stop or because the gateway was killed, the guardian ends them all.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hearth-assistant/hearth/gateway/sandbox"
)

// Errors that callers decide on.
var (
	ErrNotFound   = errors.New("there is no such process of ours")
	ErrClosed     = errors.New("the gateway is stopping, so nothing new is started")
	ErrTooMany    = errors.New("too many commands run at once; stop one of them first (process list, process kill)")
	ErrInput      = errors.New("its input is closed")
	ErrNoTerminal = errors.New("it has no terminal")
	ErrMoved      = errors.New("the working folder is not the one that was looked at")
)

// StartError says that the program itself could not be started.
type StartError struct {
	Path   string
	Reason string
}

func (e *StartError) Error() string {
	return fmt.Sprintf("%s could not be started: %s", e.Path, e.Reason)
}

// Spec is one command, exactly.
type Spec struct {
	Owner string // whose it is: a session's key
	Title string // for lists
	Path  string // the program's file, absolute
	Argv  []string
	Env   []string // all of it
	Dir   string   // absolute, without links
	// CheckDir looks at the opened folder; an error of it is the start's.
	CheckDir func(*os.File) error
	// Input: somebody will write to it. Otherwise it reads nothing.
	Input bool
	// Stdout gets the standard output, all of it and nothing else; what is kept
	// here is then the rest. The caller closes its copy once Start returned, and
	// reads to the end at the other side.
	Stdout *os.File
	// Copies are files that the command is to see as they are here.
	Copies []Copy
	// Pin: it does, whatever happens to those of the same name; see Keeper.Pins.
	// Without it the files themselves are compared once more right before the
	// start, and then used.
	Pin  bool
	TTY  bool
	Cols int
	Rows int
	// Timeout ends it; 0 = never.
	Timeout time.Duration
	// Confine is the sandbox; nil = none.
	Confine *sandbox.Rules
	// Temp is a folder that is removed when everything has ended.
	Temp string
}

// Copy is the content of a script, or of a program.
type Copy struct {
	Path  string   // absolute, without links
	Named []string // other absolute paths by which the command knows it
	Data  []byte
}

func (c Copy) names() []string { return append([]string{c.Path}, c.Named...) }

// State of a process.
type State string

// The states.
const (
	Running State = "running"
	Ended   State = "ended"
)

// Exit is how a command ended.
type Exit struct {
	Code     int    // -1 when a signal ended it
	Signal   string // "SIGKILL"; "" = it ended by itself
	Left     int    // processes that it left behind, which were ended
	TimedOut bool
	Stopped  bool   // somebody asked for it
	Lost     string // why nobody knows how it ended
}

// OK reports whether the command succeeded.
func (e Exit) OK() bool {
	return e.Code == 0 && e.Signal == "" && e.Lost == "" && !e.TimedOut && !e.Stopped
}

// Info is what lists show.
type Info struct {
	ID        string
	Owner     string
	Title     string
	Dir       string
	PID       int
	TTY       bool
	Confined  bool
	State     State
	StartedAt time.Time
	EndedAt   time.Time
	Exit      Exit
	Bytes     int64 // that it printed
}

// child is one platform's running command.
type child interface {
	pid() int
	Read([]byte) (int, error)
	Write([]byte) (int, error)
	closeInput() error
	resize(cols, rows int) error
	// stop begins to end it and all that it started; now = without asking.
	stop(now bool)
	// wait returns when nothing of it is left.
	wait() Exit
	close()
}

// starter starts children; one a platform.
type starter func(ctx context.Context, s Spec) (child, error)
