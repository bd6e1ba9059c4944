// Package model holds the words that the engine and every model provider
// share: messages, tool calls, requests, stream events and the Provider
// interface. It owns no behaviour beyond small helpers on those values, knows
// no wire dialect (gateway/provider/* do) and no storage.
package model

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
)

// Role says who speaks in a Message.
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // carries exactly one ToolResult block
)

// Message is one entry of the conversation given to a model.
type Message struct {
	Role   Role
	Blocks []Block
	Kept   *Kept // of a message that is sent again; nil: nothing is remembered
}

// Block is one part of a message: exactly one field is set, but that reasoning
// is Thinking and Signature together.
type Block struct {
	Text     string
	Thinking string
	// Signature is what a service wants back with reasoning of its own, opaque to
	// everybody else: "dialect:payload". With an empty Thinking it is reasoning
	// that the service keeps to itself. A dialect leaves others' out.
	Signature  string
	Image      *Image
	ToolCall   *ToolCall
	ToolResult *ToolResult
}

// Image is a picture for a model that can see.
type Image struct {
	MIME string // image/png, image/jpeg, image/gif or image/webp
	Data []byte // without it, the model is told that there was a picture
	ID   string // where the gateway keeps it; no service is told
}

// ToolCall is a model's wish to run a tool.
type ToolCall struct {
	ID        string          // unique within the run
	Name      string          // a ToolSpec.Name
	Arguments json.RawMessage // a JSON object; never empty ("{}" when the model sent nothing)
	// Problem says why the call cannot be run at all, for the model: its
	// arguments were no JSON object. Arguments are {} then.
	Problem string
}

// ToolResult answers one ToolCall.
type ToolResult struct {
	CallID  string
	Name    string
	Text    string
	Images  []Image
	IsError bool
	// Details are for surfaces (a diff, an exit code): a JSON object that no
	// model is sent.
	Details json.RawMessage
}

// ToolSpec describes a tool to a model.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments object
	// Hidden: no service is told of it; programs of the model may call it.
	Hidden bool
}

// Request is one model call.
type Request struct {
	Model  string // the provider's own model id, without the provider prefix
	System string
	// Stable is how many bytes of System are the same in every turn: a boundary
	// for caches. 0 = all of it.
	Stable    int
	Messages  []Message
	Tools     []ToolSpec
	MaxTokens int // 0 = the provider's default
	// Thinking is how long to reason before the answer: low, medium, high, or
	// off. "" leaves it to the model. A model that cannot be told goes without.
	Thinking string
	// Exact: the request may only leave with the tools of these names and no
	// others. It is checked on the bytes that are sent. nil: any.
	Exact []string
	// Options are a program's wishes; nil = none.
	Options *Options
}

// Levels of Request.Thinking.
const (
	ThinkingOff    = "off"
	ThinkingLow    = "low"
	ThinkingMedium = "medium"
	ThinkingHigh   = "high"
)

// SystemParts are the two halves of System: what stays the same, and the rest.
func (r Request) SystemParts() (stable, rest string) {
	if r.Stable <= 0 || r.Stable >= len(r.System) {
		return r.System, ""
	}
	return r.System[:r.Stable], r.System[r.Stable:]
}

// Thinks reports whether the person asked for reasoning.
func (r Request) Thinks() bool {
	return r.Thinking == ThinkingLow || r.Thinking == ThinkingMedium || r.Thinking == ThinkingHigh
}

// Usage counts tokens of one model call or a sum of calls. A provider that
// reports nothing leaves all fields 0.
type Usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cacheRead"`
	CacheWrite int `json:"cacheWrite"`
}

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite}
}

// Total is the number of tokens that were read or written.
func (u Usage) Total() int { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// StopReason says why a model stopped; providers map their own words to these.
type StopReason string

const (
	StopEnd     StopReason = "stop"    // the model was done
	StopTool    StopReason = "toolUse" // it waits for tool results
	StopLength  StopReason = "length"  // it hit its output limit
	StopRefusal StopReason = "refusal" // the provider or model declined
)

// EventKind tells which fields of an Event are set.
type EventKind int

const (
	EventText     EventKind = iota + 1 // Text: new words of the answer
	EventThinking                      // Text: new words of the reasoning
	EventToolCall                      // Call: one complete tool call
	EventUsage                         // Usage: replaces an earlier usage event of this stream
	EventStop                          // Stop: the last event of a stream that ended well
)

// Event is one step of a model's stream.
type Event struct {
	Kind  EventKind
	Text  string
	Call  *ToolCall
	Usage Usage
	Stop  StopReason
	// Signature ends a piece of reasoning (EventThinking, then Text is empty):
	// see Block.Signature.
	Signature string
}

// Provider talks to one model service.
//
// Stream yields events in order and ends either after one EventStop or with
// exactly one non-nil error, which is an *Error (or ctx's error when ctx
// ended). Text that was yielded before an error stays valid. Breaking out of
// the loop, or ending ctx, releases the connection before Stream returns.
type Provider interface {
	Stream(ctx context.Context, req Request) iter.Seq2[Event, error]
}

// Ref names a model as people and config write it: "provider/model-id". The
// model id may itself hold slashes.
type Ref struct{ Provider, Model string }

// ParseRef splits "provider/model"; ok is false when either part is missing.
func ParseRef(s string) (r Ref, ok bool) {
	p, m, found := strings.Cut(strings.TrimSpace(s), "/")
	if !found || p == "" || m == "" {
		return Ref{}, false
	}
	return Ref{Provider: p, Model: m}, true
}

func (r Ref) String() string {
	if r.Provider == "" {
		return r.Model
	}
	return r.Provider + "/" + r.Model
}
