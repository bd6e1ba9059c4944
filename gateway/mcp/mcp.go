// Package mcp keeps the connections to MCP servers that the owner set up:
// programs that it has started, and services on the network. It owns their
// life (start, health, restart, giving up), what they offer, and the way of
// one call to them and back. Everything that a server says is from outside:
// names, descriptions and schemas are made harmless before a model sees them,
// results are marked, and all of it is bounded.
//
// It does not decide who may use a tool (gateway/tool/policy) or whether this
// call may be made (the Permit that is handed in), starts no process itself
// (Launch), and reads no settings. gateway/mcp/serve is the other direction:
// Hearth as an MCP server.
package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

// Server is one server as the owner set it up.
type Server struct {
	ID string // small letters, digits, - and single _

	// A program of this machine, which speaks over its input and output…
	Command  string
	Args     []string
	Env      []string // NAME=value, beside the few that every command gets
	Dir      string   // "" = an empty folder of its own
	Read     []string // for the sandbox
	Write    []string
	Open     bool // it runs without a sandbox
	Confined bool // it runs in one
	Offline  bool // it must not reach a network

	// …or a service.
	URL     string
	Headers map[string]string
	OAuth   bool // requests carry the token of a login, when there is one

	Allow   []string // tools by the server's own names or patterns; empty: all
	Deny    []string
	Ask     Ask
	Timeout time.Duration // of a call; 0 = a minute
	Start   time.Duration // until it must answer; 0 = 30 seconds

	Missing string // why it cannot be started at all; "" = it can
}

// Ask is when the owner is asked about a call.
type Ask string

// The choices. Whatever is chosen, a tool that is not what it was is asked for.
const (
	AskFirst  Ask = "on-miss" // when no rule of the owner allows the tool
	AskAlways Ask = "always"  // every time
	AskOff    Ask = "off"     // never: the owner trusts the server
)

// Wish is what Permit decides about.
type Wish struct {
	Server  Server
	Tool    string // the server's own name of it, or "resources/read"
	Hash    [32]byte
	Changed bool // it is not what it was when it was last allowed
	Harmful bool // the server itself says that it may destroy something
	Args    json.RawMessage
}

// Process is a started program.
type Process interface {
	Write(b []byte) error // to its input
	CloseInput() error
	Output() io.ReadCloser
	Stop()
	Done() <-chan struct{}
	Words() string // the last that it said beside its output, and how it ended
}

// Pins remember what each tool was when the owner allowed it.
type Pins interface {
	Pin(server, tool string) (hash [32]byte, ok bool)
	SetPin(ctx context.Context, server, tool string, hash [32]byte) error
}

// Options of a Hub. All but Wrap, Bearer and Wait are needed.
type Options struct {
	Version string
	Log     *slog.Logger
	Now     func() time.Time
	Launch  func(ctx context.Context, s Server) (Process, error)
	Permit  func(ctx context.Context, call tool.Call, w Wish) error
	Pins    Pins
	Wrap    untrusted.Wrapper
	// Bearer is the token of a login at a service, "" when there is none. refused
	// is one that the service did not take. The error is ErrLogin when a person has
	// to log in again.
	Bearer func(ctx context.Context, s Server, refused string) (string, error)
	// Wait pauses between attempts; nil = by the clock.
	Wait func(ctx context.Context, d time.Duration) error
}

// State of a server.
type State string

// The states.
const (
	Starting State = "starting"
	Ready    State = "ready"
	Waiting  State = "waiting" // until it is tried again
	Failed   State = "failed"  // it is not tried again by itself
)

// Status is what lists show of a server.
type Status struct {
	ID       string
	State    State
	Problem  string // plain words; "" = none
	Name     string // what it calls itself
	Version  string
	Tools    []ToolInfo
	Skipped  []string // tools that are not offered, and why
	Restarts int
	Since    time.Time // of the state
	Noise    Noise     // of a program
	Login    bool      // it failed because a person has to log in, or set a key
}

// ToolInfo is a tool of a server.
type ToolInfo struct {
	Name        string // for models
	Own         string // the server's own
	Description string
	Changed     bool
}

// Errors that callers decide on.
var (
	ErrUnknown = errors.New("there is no MCP server of this name; `hearth mcp list` shows them")
	ErrLogin   = errors.New("the login has ended")
	ErrSaid    = errors.New("refused") // the server's own answer
	errGivenUp = errors.New("gave up")
	errRefused = fmt.Errorf("%w", errGivenUp) // by a service that wants a login or a key
)

// Limits on what a server may make us hold.
const (
	maxTools       = 128
	maxPages       = 16
	maxMessage     = 8 << 20  // one message
	maxResult      = 48 << 10 // of a result's text; less than a tool's result may have, for the marks
	maxDescription = 1024
	maxSchema      = 24 << 10
	maxImages      = 4
	maxImage       = 4 << 20
)

// The patience with servers.
const (
	startTime   = 30 * time.Second
	callTime    = time.Minute
	firstPause  = time.Second
	longPause   = 5 * time.Minute
	stableTime  = time.Minute // after which earlier crashes are forgotten
	maxCrashes  = 5           // of a program, in a row
	maxTimeouts = 3           // of calls, in a row
)

func (s Server) callTime() time.Duration  { return cmp.Or(s.Timeout, callTime) }
func (s Server) startTime() time.Duration { return cmp.Or(s.Start, startTime) }

// what names a server for people.
func (s Server) what() string { return "the MCP server \"" + s.ID + "\"" }
