package codemode

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/codemode/engine"
)

// What exec and wait return.
const (
	Completed = "completed"
	Waiting   = "waiting"
	Failed    = "failed"
)

// Why a program waits.
const (
	ReasonTools = "pending_tools"
	ReasonYield = "yield"
)

// Result is what the model is told of a program.
type Result struct {
	Status  string          `json:"status"`
	Value   json.RawMessage `json:"value,omitempty"` // completed
	RunID   string          `json:"runId,omitempty"` // waiting: what wait takes
	Reason  string          `json:"reason,omitempty"`
	Pending []PendingCall   `json:"pendingToolCalls,omitempty"`
	Error   string          `json:"error,omitempty"` // failed
	Code    engine.Code     `json:"code,omitempty"`
	Line    int             `json:"line,omitempty"`
	Column  int             `json:"column,omitempty"`
	Output  []Output        `json:"output,omitempty"`
	// Telemetry counts over the whole run.
	Telemetry Telemetry `json:"telemetry"`

	outside []string // where text of the result may come from
}

// Output is one text() or json() of a program.
type Output = engine.Output

// PendingCall is a call that a waiting program waits for.
type PendingCall struct {
	ID    string `json:"id"`
	Tool  string `json:"tool"`
	State string `json:"state,omitempty"` // "waits for approval", …
}

// Telemetry counts what the programs of a run did. It holds names and numbers
// only.
type Telemetry struct {
	Visible   []string            `json:"visible"`
	Catalog   CatalogSize         `json:"catalog"`
	Exec      int                 `json:"exec"`
	Wait      int                 `json:"wait"`
	Search    int                 `json:"search,omitempty"`
	Describe  int                 `json:"describe,omitempty"`
	Call      int                 `json:"call,omitempty"`
	Called    []string            `json:"called,omitempty"`   // ids of tools, each once
	Failures  map[engine.Code]int `json:"failures,omitempty"` // how programs failed
	Snapshots Snapshots           `json:"snapshots,omitzero"`
}

// CatalogSize is how many tools there are, and from where.
type CatalogSize struct {
	Size    int            `json:"size"`
	Sources map[string]int `json:"sources,omitempty"`
}

// Snapshots counts what became of programs that waited.
type Snapshots struct {
	Saved    int `json:"saved,omitempty"`
	Restored int `json:"restored,omitempty"`
	Expired  int `json:"expired,omitempty"`
	Aborted  int `json:"aborted,omitempty"`
	Bytes    int `json:"bytes,omitempty"` // of the largest
}

// maxCalled bounds the list of tools in telemetry.
const maxCalled = 64

func (t *Telemetry) called(id string) {
	if t.Call++; len(t.Called) < maxCalled && !slices.Contains(t.Called, id) {
		t.Called = append(t.Called, id)
	}
}

func (t *Telemetry) failed(code engine.Code) {
	if code == "" { // the program's own mistake
		return
	}
	if t.Failures == nil {
		t.Failures = map[engine.Code]int{}
	}
	t.Failures[code]++
}

func (t Telemetry) clone() Telemetry {
	t.Called = slices.Clone(t.Called)
	if t.Failures != nil {
		f := map[engine.Code]int{}
		for k, v := range t.Failures {
			f[k] = v
		}
		t.Failures = f
	}
	return t
}

// JSON is the result as the model reads it.
func (r Result) JSON() string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil { // everything in it was checked to be JSON
		return `{"status":"failed","error":"the result cannot be written as JSON","code":"internal_error"}`
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// size is how much the program said, as the model would read it.
func (r Result) size() (n int) {
	n = len(r.Value)
	for _, o := range r.Output {
		n += sizeOf(o)
	}
	return n
}

func sizeOf(o Output) int { return len(o.Text) + len(o.Value) + 24 }

// within leaves of the output what fits.
func within(out []Output, most int) []Output {
	for i, o := range out {
		if most -= sizeOf(o); most < 0 {
			return out[:i]
		}
	}
	return out
}
