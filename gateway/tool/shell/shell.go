// Package shell holds the tools exec and process: running a command, and
// looking after those that run on. It reads the model's arguments, asks for
// permission for exactly one plan, starts exactly that plan, and words what
// came of it. What a command runs is told by gateway/approval/plan, who may by
// the caller's Permit; gateway/process runs it and gateway/sandbox confines it.
package shell

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/undo"
)

//go:embed exec.md
var execDescription string

//go:embed process.md
var processDescription string

// Wish is what permission is asked for: to run a plan, or to type into a
// command that runs.
type Wish struct {
	Plan       plan.Plan
	Why        string // the model's words
	Unconfined bool   // outside the sandbox
	NoSandbox  string // why there is none here; Unconfined is set as well
	Loose      string // why what it runs can be exchanged in the moment of the start; "" = it cannot

	Input string // what is typed; then Plan is empty
	Into  process.Info
}

// Grant is a yes.
type Grant struct {
	ID         string
	Unconfined bool
}

// Settings are what the owner chose. Zero values are the defaults.
type Settings struct {
	Yield     time.Duration // 10 s
	Timeout   time.Duration // 30 min
	Read      []string      // beyond the system's folders
	Write     []string      // beyond the workspace
	Network   bool
	NoSandbox bool // the owner switched it off
}

const (
	defaultYield   = 10 * time.Second
	defaultTimeout = 30 * time.Minute
	maxTimeout     = 24 * time.Hour
	maxYield       = 2 * time.Minute
	progressEvery  = 200 * time.Millisecond
)

// Options are what both tools share.
type Options struct {
	Keeper   *process.Keeper
	Resolver *plan.Resolver
	// Permit returns when it is allowed, or the reason why it is not.
	Permit   func(ctx context.Context, call tool.Call, w Wish) (Grant, error)
	Settings func() Settings
	// Environ is the gateway's own environment, of which little is passed on.
	Environ []string
	Home    string
	// Extra are variables, NAME=value, that the commands of a call get beside the
	// usual ones, which they never replace. They may be secrets. nil: none.
	Extra func(ctx context.Context, call tool.Call) []string
	// Hide are folders and files of ours that no command sees.
	Hide []string
	// Hold says where a folder really is and which one, or why it is no longer the
	// one that it was. nil: it is found by its name.
	Hold func(path string) (real string, which fs.FileInfo, err error)
	// Stay are folders that no confined command moves away. May be nil.
	Stay func() []string
	// Probe says whether commands can be confined here.
	Probe func() sandbox.Report
	// Undo keeps what a command is about to write; nil keeps nothing.
	Undo Undo
	// Elsewhere runs a command on another machine. nil: there is none.
	Elsewhere func(ctx context.Context, call tool.Call, r Remote) (tool.Result, error)
	// Ended is told when a command that was left running has ended. May be nil.
	Ended func(scope tool.Scope, i process.Info, output string)
}

// Remote is a command for another machine; the question to the owner is asked
// where it is known what runs there.
type Remote struct {
	Node    string // name or id, "" = the only one
	Command string
	Dir     string // on that machine, "" = its own choice
	Env     map[string]string
	Timeout time.Duration
	Why     string
}

// Undo keeps copies of files.
type Undo interface {
	Watch(ctx context.Context, turn undo.Turn, paths []string) (*undo.Watched, error)
}

// New returns the tools.
func New(o Options) []tool.Tool { return []tool.Tool{&Exec{o}, &Process{o}} }

// Details is what surfaces get of a command beside its text.
type Details struct {
	Status     string `json:"status"` // running, completed, failed, killed
	SessionID  string `json:"sessionId,omitempty"`
	PID        int    `json:"pid,omitempty"`
	ExitCode   *int   `json:"exitCode,omitempty"`
	Signal     string `json:"signal,omitempty"`
	DurationMs int64  `json:"durationMs"`
	Cwd        string `json:"cwd"`
	Truncated  bool   `json:"truncated,omitempty"`
	Bytes      int64  `json:"bytes"`
	TimedOut   bool   `json:"timedOut,omitempty"`
	Sandbox    string `json:"sandbox"` // "confined", or "not confined: why"
	// Undo says whether what it changed can be taken back: kept, partly, no; ""
	// when it changes nothing.
	Undo string `json:"undo,omitempty"`
}

func spec(name, description, schema string) model.ToolSpec {
	return model.ToolSpec{Name: name, Description: strings.TrimSpace(description), Schema: json.RawMessage(schema)}
}

// read reads a model's arguments and forgives what it adds to them.
func read(raw json.RawMessage, to any) error {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	if err := json.Unmarshal(raw, to); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return fmt.Errorf("%s must be a %s, not a %s", wrong.Field, wrong.Type, wrong.Value)
		}
		return fmt.Errorf("the arguments are not readable: %w", err)
	}
	return nil
}

func details(d Details) json.RawMessage {
	b, err := json.Marshal(d)
	if err != nil {
		return nil
	}
	return b
}
