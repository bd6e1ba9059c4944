package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

// Info is one session as sessions_list tells it.
type Info struct {
	Key       string    `json:"key"`
	Kind      string    `json:"kind"` // main, group, subagent, other
	Label     string    `json:"label,omitempty"`
	Title     string    `json:"title,omitempty"`
	Channel   string    `json:"channel,omitempty"`
	Model     string    `json:"model,omitempty"`
	Messages  int       `json:"messageCount"`
	Running   bool      `json:"running,omitempty"`
	UpdatedAt time.Time `json:"updatedAt"`
	Last      []Said    `json:"messages,omitempty"`
}

// Said is one entry of a transcript.
type Said struct {
	Role string `json:"role"`
	Tool string `json:"tool,omitempty"`
	Text string `json:"text"`
}

// Query is what sessions_list asks for.
type Query struct {
	Limit         int      `json:"limit"`
	ActiveMinutes int      `json:"activeMinutes"`
	Kinds         []string `json:"kinds"`
	MessageLimit  int      `json:"messageLimit"`
}

// Answer is what came of a message to another session.
type Answer struct {
	RunID  string `json:"runId"`
	Status string `json:"status"` // ok, accepted, timeout, error
	Reply  string `json:"reply,omitempty"`
	Error  string `json:"error,omitempty"`
}

// SubAgent is a sub-agent that is to be started.
type SubAgent struct {
	Task           string  `json:"task"`
	Label          string  `json:"label"`
	Model          string  `json:"model"`
	Thinking       string  `json:"thinking"`
	TimeoutSeconds float64 `json:"runTimeoutSeconds"`
	Cleanup        string  `json:"cleanup"`
}

// Child is a sub-agent.
type Child struct {
	RunID  string    `json:"runId"`
	Key    string    `json:"childSessionKey"`
	Label  string    `json:"label,omitempty"`
	Status string    `json:"status"` // queued, running, answered, failed, aborted, …
	Since  time.Time `json:"since"`
}

// Sessions are the other conversations. They decide which of them a call may see;
// one that it may not see is not there.
type Sessions interface {
	List(ctx context.Context, call tool.Call, q Query) ([]Info, error)
	History(ctx context.Context, call tool.Call, key string, limit int, tools bool) ([]Said, error)
	// Send waits for the answer; 0: it does not.
	Send(ctx context.Context, call tool.Call, key, text string, wait time.Duration) (Answer, error)
}

// Children are the sub-agents of conversations.
type Children interface {
	Spawn(ctx context.Context, call tool.Call, w SubAgent) (Child, error)
	Children(ctx context.Context, call tool.Call) ([]Child, error)
	Kill(ctx context.Context, call tool.Call, runID string) error
	Steer(ctx context.Context, call tool.Call, c Child, text string) error
}

// New returns the tools that look at other sessions.
func New(s Sessions) []tool.Tool {
	var w untrusted.Wrapper
	return []tool.Tool{&listTool{s, w}, &historyTool{s, w}, &sendTool{s, w}}
}

// NewChildren returns the tools of sub-agents.
func NewChildren(c Children) []tool.Tool { return []tool.Tool{&spawnTool{c}, &subagentsTool{c}} }

func spec(name, description, schema string) model.ToolSpec {
	return model.ToolSpec{Name: name, Description: strings.TrimSpace(description), Schema: json.RawMessage(schema)}
}

func readArgs(raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("the arguments are not what this tool takes: %w", err)
	}
	return nil
}

// inJSON is a value for the model and for surfaces.
func inJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("{}")
	}
	return b
}
