package protocol

import "encoding/json"

// Frame types.
const (
	TypeRequest  = "req"
	TypeResponse = "res"
	TypeEvent    = "event"
)

// Request asks for one method. Unknown fields are ignored.
type Request struct {
	Type   string          `json:"type"`
	ID     string          `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
}

// Response answers a request: a payload when OK, an Error otherwise. It must
// never carry another top-level field: clients of 2026.5.22 drop such frames.
type Response struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	OK      bool            `json:"ok"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Event is pushed by the gateway. Seq counts broadcast events of one
// connection from 1 and is absent on targeted ones.
type Event struct {
	Type         string          `json:"type"`
	Event        string          `json:"event"`
	Payload      json.RawMessage `json:"payload,omitempty"`
	Seq          uint64          `json:"seq,omitempty"`
	StateVersion *StateVersion   `json:"stateVersion,omitempty"`
}

// StateVersion counts changes of the two snapshots that clients keep.
type StateVersion struct {
	Presence int `json:"presence"`
	Health   int `json:"health"`
}
