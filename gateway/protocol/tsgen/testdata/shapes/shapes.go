package shapes

import (
	"encoding/json"

	"example/base"
)

// Patch is generic and has no shape of its own.
type Patch[T any] struct{ Value *T }

// Level is a closed set.
type Level string

const (
	LevelLow  Level = "low"
	LevelHigh Level = "high" // as high as it goes
)

// Limits of everything.
const (
	MaxSize = 25 << 20
	Name    = "a \"name\""
	hidden  = 1
)

type Open string // no constants: any string

// All has one of each. It ends a comment: */ here.
type All struct {
	base.Count
	Text     string          `json:"text"`
	Maybe    string          `json:"maybe,omitempty"`
	N        int64           `json:"n"` // a trailing word
	Level    Level           `json:"level,omitempty"`
	Levels   []Level         `json:"levels"`
	Pointer  *All            `json:"pointer"`
	Absent   *All            `json:"absent,omitempty"`
	Nullable []*int          `json:"nullable"`
	Raw      json.RawMessage `json:"raw"`
	Map      map[string]any  `json:"map,omitempty"`
	Bytes    []byte          `json:"bytes"`
	Patched  Patch[bool]     `json:"patched,omitzero"`
	Dashed   string          `json:"-"`
	// Two lines
	// of words.
	Renamed bool `json:"__other"`
	private int
}

type Behaviour interface{ Do() }

type nothing struct{}
