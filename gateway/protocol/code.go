package protocol

import "encoding/json"

// CodeRunParams are ours: run one program with the tools of an agent, as code
// mode runs a model's. With a RunID, what the program says comes as events that
// carry it.
type CodeRunParams struct {
	Code       string `json:"code"`
	Language   string `json:"language,omitempty"` // "javascript" (the default) or "typescript"
	SessionKey string `json:"sessionKey,omitempty"`
	AgentID    string `json:"agentId,omitempty"`
	RunID      string `json:"runId,omitempty"`
}

// CodeRunResult is what became of it.
type CodeRunResult struct {
	Status    string          `json:"status"` // completed or failed
	Value     json.RawMessage `json:"value,omitempty"`
	Error     string          `json:"error,omitempty"`
	Code      string          `json:"code,omitempty"`
	Line      int             `json:"line,omitempty"`
	Column    int             `json:"column,omitempty"`
	Output    []CodeOutput    `json:"output,omitempty"`
	Telemetry json.RawMessage `json:"telemetry,omitempty"`
	TookMs    int64           `json:"tookMs"`
}

// CodeOutput is one text() or json() of a program.
type CodeOutput struct {
	Type  string          `json:"type"`
	Text  string          `json:"text,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// CodeOutputEvent is the event hearth.code.output; Seq counts from 0.
type CodeOutputEvent struct {
	RunID  string     `json:"runId"`
	Seq    int        `json:"seq"`
	Output CodeOutput `json:"output"`
}
