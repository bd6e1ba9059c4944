package protocol

import "encoding/json"

// ToolsCatalogParams choose an agent.
type ToolsCatalogParams struct {
	AgentID        string `json:"agentId,omitempty"`
	IncludePlugins bool   `json:"includePlugins,omitempty"`
}

// ToolsCatalog is every tool there is, in groups.
type ToolsCatalog struct {
	AgentID  string         `json:"agentId"`
	Profiles []ToolsProfile `json:"profiles"`
	Groups   []ToolsGroup   `json:"groups"`
}

// ToolsProfile is a choice of tools by name.
type ToolsProfile struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// ToolsGroup is tools that belong together.
type ToolsGroup struct {
	ID     string     `json:"id"`
	Label  string     `json:"label"`
	Source string     `json:"source"` // "core"
	Tools  []ToolInfo `json:"tools"`
}

// ToolInfo is one tool; Allowed and Why are ours.
type ToolInfo struct {
	ID              string          `json:"id"`
	Label           string          `json:"label"`
	Description     string          `json:"description"`
	RawDescription  string          `json:"rawDescription,omitempty"`
	Source          string          `json:"source"`
	DefaultProfiles []string        `json:"defaultProfiles,omitempty"`
	Parameters      json.RawMessage `json:"parameters,omitempty"`
	Allowed         *bool           `json:"hearthAllowed,omitempty"`
	Why             string          `json:"hearthWhy,omitempty"`
}

// ToolsEffectiveParams name a session.
type ToolsEffectiveParams struct {
	SessionKey string `json:"sessionKey"`
	AgentID    string `json:"agentId,omitempty"`
}

// ToolsEffective is what a message of the owner in the session could use now.
type ToolsEffective struct {
	AgentID string       `json:"agentId"`
	Profile string       `json:"profile"`
	Groups  []ToolsGroup `json:"groups"`
	Denied  []ToolInfo   `json:"hearthDenied"` // and why
}

// ToolsInvokeParams run one tool.
type ToolsInvokeParams struct {
	Name           string          `json:"name"`
	Args           json.RawMessage `json:"args,omitempty"`
	SessionKey     string          `json:"sessionKey,omitempty"`
	AgentID        string          `json:"agentId,omitempty"`
	Confirm        bool            `json:"confirm,omitempty"` // changes nothing: what needs a yes asks for it
	IdempotencyKey string          `json:"idempotencyKey,omitempty"`
}

// ToolsInvokeResult is what it came to.
type ToolsInvokeResult struct {
	OK     bool         `json:"ok"`
	Name   string       `json:"toolName"`
	Output *ToolOutput  `json:"output,omitempty"`
	Source string       `json:"source,omitempty"` // "core"
	Error  *ToolFailure `json:"error,omitempty"`
}

// ToolOutput is text for people and models.
type ToolOutput struct {
	Content []Block         `json:"content"`
	Details json.RawMessage `json:"details,omitempty"`
}

// ToolFailure says why a tool did not do it.
type ToolFailure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}
