package engine

import (
	"encoding/json"
	"io"
	"log/slog"
	"time"

	"github.com/hearth-assistant/hearth/gateway/codemode/sourcemap"
)

// Options are what an engine needs from its house.
type Options struct {
	CacheDir string           // machine code is kept here (0700); "" keeps none
	Key      []byte           // authenticates snapshots; empty: a random one, and snapshots end with the process
	Log      *slog.Logger     // nil: silent
	Now      func() time.Time // nil: time.Now
	Random   io.Reader        // nil: crypto/rand
	Running  int              // virtual machines that may run at once; 0: one less than there are processors
	Images   int              // prepared catalogues kept; 0: 16
}

// Limits hold for one life of a VM, that is for one exec or one wait. A zero
// means the default of the reference page.
type Limits struct {
	Timeout  time.Duration // of the guest's own running; waiting for answers does not count
	Memory   int64         // bytes that the cell may add to an empty engine
	Output   int           // bytes of text, JSON and the final value together
	Snapshot int           // bytes of one encoded snapshot
	Pending  int           // calls that may be unanswered at once
	Args     int           // bytes of one call's arguments; more rejects that call alone
}

// The defaults of the reference page.
const (
	DefaultTimeout  = 10 * time.Second
	DefaultMemory   = 64 << 20
	DefaultOutput   = 64 << 10
	DefaultSnapshot = 10 << 20
	DefaultPending  = 16
	DefaultArgs     = 1 << 20
)

func (l Limits) filled() Limits {
	if l.Timeout <= 0 {
		l.Timeout = DefaultTimeout
	}
	if l.Memory <= 0 {
		l.Memory = DefaultMemory
	}
	if l.Output <= 0 {
		l.Output = DefaultOutput
	}
	if l.Snapshot <= 0 {
		l.Snapshot = DefaultSnapshot
	}
	if l.Pending <= 0 {
		l.Pending = DefaultPending
	}
	if l.Args <= 0 {
		l.Args = DefaultArgs
	}
	l.Memory = min(l.Memory, maxMemory)
	return l
}

// Catalog is what the cell finds as ALL_TOOLS and tools. Equal catalogues
// share one prepared image.
type Catalog struct {
	Tools     json.RawMessage   // a JSON array; nil is an empty one
	Shortcuts map[string]string // tools.<name>(input) calls this id; the names search, describe, call and then are never taken
}

// Program is one cell.
type Program struct {
	Code    string         // JavaScript: the body of an async function
	Places  *sourcemap.Map // where what is in Code stands in the person's text; nil: it is that text
	Catalog Catalog
	Limits  Limits
}

// The methods of a Call.
const (
	MethodSearch   = "search"   // Args: [query, options]
	MethodDescribe = "describe" // Args: [id]
	MethodCall     = "call"     // Args: [id, input]
	MethodYield    = "yield"    // Args: [reason or null]
)

// Call is something the cell asked for and now awaits.
type Call struct {
	ID     int64           `json:"id"`
	Method string          `json:"method"`
	Args   json.RawMessage `json:"args"` // always a JSON array
}

// GuestError is what a rejected call looks like inside: an Error with this
// message and this code. Nothing else of the host crosses.
type GuestError struct {
	Message string `json:"message"`
	Code    Code   `json:"code,omitempty"` // "" means nested_tool_failed
}

// Settled answers one call; Err wins over Value, and no Value is null.
type Settled struct {
	ID    int64
	Value json.RawMessage
	Err   *GuestError
}

// Output is one text() or json() of the cell.
type Output struct {
	Type  string          `json:"type"` // "text" or "json"
	Text  string          `json:"text,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// State is where a VM stands after Start or Settle, and what is new since the
// call before. With an *Error beside it, Output is still what was said before
// the end.
type State struct {
	Done     bool            // the program returned and nothing is pending
	Value    json.RawMessage // with Done
	Calls    []Call          // new ones
	Pending  int             // unanswered ones, old and new
	Yielding bool            // everything pending is a yield
	Output   []Output        // new ones
}
