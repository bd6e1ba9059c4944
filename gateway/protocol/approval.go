package protocol

import (
	"cmp"
	"strings"
)

// Decisions about a request as other gateways' clients name them.
const (
	DecisionAllowOnce   = "allow-once"
	DecisionAllowAlways = "allow-always"
	DecisionDeny        = "deny"
)

// ApprovalRequest is what is asked for, as people are to be shown it.
type ApprovalRequest struct {
	Command          string   `json:"command"` // for other kinds than exec: the title
	CommandArgv      []string `json:"commandArgv,omitempty"`
	Cwd              *string  `json:"cwd"`
	Host             string   `json:"host"` // "gateway"
	NodeID           *string  `json:"nodeId"`
	AgentID          string   `json:"agentId"`
	SessionKey       string   `json:"sessionKey"`
	SessionID        string   `json:"sessionId,omitempty"`
	RunID            string   `json:"runId,omitempty"`
	ToolCallID       string   `json:"toolCallId,omitempty"`
	Security         string   `json:"security"`
	Ask              string   `json:"ask"`
	AllowedDecisions []string `json:"allowedDecisions"`
	ResolvedPath     string   `json:"resolvedPath,omitempty"`
	WarningText      string   `json:"warningText,omitempty"`

	// What follows is ours.
	HearthKind  string `json:"hearthKind,omitempty"` // exec, file, send, config, network, install, tool
	HearthTitle string `json:"hearthTitle,omitempty"`
	// HearthSays is the title in plain words, HearthFacts are the lines taken apart. Both
	// are for the languages of people; nothing stands there that the lines do not say.
	HearthSays   *ApprovalSentence `json:"hearthSays,omitempty"`
	HearthFacts  []ApprovalFact    `json:"hearthFacts,omitempty"`
	HearthWhy    string            `json:"hearthWhy,omitempty"`
	HearthLines  []string          `json:"hearthLines,omitempty"` // all of it, one fact a line, safe to show
	HearthWarn   []string          `json:"hearthWarnings,omitempty"`
	HearthScopes []string          `json:"hearthScopes,omitempty"` // once, session, here, program, folder, deny, never
	HearthFolder string            `json:"hearthFolder,omitempty"` // of scope folder, as people write it
	HearthFrom   string            `json:"hearthFrom,omitempty"`   // who said the words that led here
	HearthAsked  int               `json:"hearthAsked,omitempty"`  // how many requests this run has made
	// HearthUnconfined: it would run outside of the sandbox. HearthLines say so too.
	HearthUnconfined bool `json:"hearthUnconfined,omitempty"`
	// HearthScripts are the files that decide what runs, as they were when it was asked.
	HearthScripts []ApprovalScript `json:"hearthScripts,omitempty"`
}

// ApprovalSentence says in one sentence what is asked for. A client that has no
// words for the code says the text.
type ApprovalSentence struct {
	Code   string            `json:"code"`
	Params map[string]string `json:"params,omitempty"` // safe to show; "who" asks
	Text   string            `json:"text"`             // in English
}

// ApprovalFact is one fact of a request.
type ApprovalFact struct {
	Code  string `json:"code,omitempty"`  // "" = the text speaks for itself
	Label string `json:"label,omitempty"` // the code's name in English
	Text  string `json:"text"`            // safe to show
	Block bool   `json:"block,omitempty"` // to be shown as it is, line by line
	// Detail: it says how it is done, not what. Clients may fold it.
	Detail bool `json:"detail,omitempty"`
}

// Says is what is asked for in one English sentence, also of a gateway that has no sentences.
func (r *ApprovalRequest) Says() string {
	if r.HearthSays != nil && r.HearthSays.Text != "" {
		return r.HearthSays.Text
	}
	return cmp.Or(r.HearthTitle, r.Command)
}

// ApprovalScript is a file that decides what a command does. The yes is for the
// content with this hash, and for no other.
type ApprovalScript struct {
	Path string `json:"path"`
	Hash string `json:"hash"` // SHA-256 of all of it, in hexadecimal
	Size int64  `json:"size"` // of all of it, in bytes
	Rows int    `json:"rows"` // lines of all of it
	Text string `json:"text"` // safe to show, while the request waits; "" = see why
	Cut  bool   `json:"cut"`  // there is more of it than text
	Why  string `json:"why"`  // there is no text
}

// Head is the first lines of a script, and one that says that there are more.
func (s ApprovalScript) Head(most int) (rows []string, more int) {
	if s.Text == "" {
		return nil, 0
	}
	rows = strings.Split(s.Text, "\n")
	rows = rows[:min(most, len(rows))]
	if more = s.Rows - len(rows); s.Cut {
		more = max(1, more)
	}
	return rows, more
}

// Approval is a pending request.
type Approval struct {
	ID           string          `json:"id"`
	Request      ApprovalRequest `json:"request"`
	CreatedAtMs  int64           `json:"createdAtMs"`
	ExpiresAtMs  int64           `json:"expiresAtMs"`
	ApprovalKind string          `json:"approvalKind,omitempty"` // "exec"
	// State and what follows is ours, for requests that are over.
	State       string `json:"hearthState,omitempty"` // pending, allowed, denied, expired, withdrawn
	Decision    string `json:"decision,omitempty"`
	HearthScope string `json:"hearthScope,omitempty"`
	ResolvedBy  string `json:"resolvedBy,omitempty"`
	Reason      string `json:"hearthReason,omitempty"`
}

// ApprovalResolved is the event that ends one.
type ApprovalResolved struct {
	ID          string          `json:"id"`
	Decision    string          `json:"decision"` // "deny" also when it expired
	ResolvedBy  string          `json:"resolvedBy,omitempty"`
	TS          int64           `json:"ts"`
	Request     ApprovalRequest `json:"request"`
	HearthScope string          `json:"hearthScope,omitempty"`
	State       string          `json:"hearthState"`
	Reason      string          `json:"hearthReason,omitempty"`
}

// ApprovalIDParams name a request.
type ApprovalIDParams struct {
	ID string `json:"id"`
}

// ApprovalRequestParams ask on behalf of a client.
type ApprovalRequestParams struct {
	ID          string            `json:"id,omitempty"` // not taken over: ours cannot be guessed
	Command     string            `json:"command,omitempty"`
	CommandArgv []string          `json:"commandArgv,omitempty"`
	Cwd         *string           `json:"cwd,omitempty"`
	Env         map[string]string `json:"env,omitempty"`
	Host        *string           `json:"host,omitempty"`
	AgentID     *string           `json:"agentId,omitempty"`
	SessionKey  *string           `json:"sessionKey,omitempty"`
	TimeoutMs   int64             `json:"timeoutMs,omitempty"`
	TwoPhase    bool              `json:"twoPhase,omitempty"`
}

// ApprovalRequestResult: accepted at once (two phases), or with the decision.
type ApprovalRequestResult struct {
	Status      string  `json:"status,omitempty"` // "accepted"
	ID          string  `json:"id"`
	Decision    *string `json:"decision"` // null: nobody decided
	CreatedAtMs int64   `json:"createdAtMs"`
	ExpiresAtMs int64   `json:"expiresAtMs"`
}

// ApprovalResolveParams decide. HearthScope is ours and goes before Decision.
type ApprovalResolveParams struct {
	ID          string `json:"id"`
	Decision    string `json:"decision"`
	HearthScope string `json:"hearthScope,omitempty"`
}

// ApprovalRule is a decision that holds for longer than once.
type ApprovalRule struct {
	ID         string `json:"id"`
	Scope      string `json:"scope"` // session, here, program, folder, never
	Kind       string `json:"kind"`
	Title      string `json:"title"`
	AgentID    string `json:"agentId"`
	SessionKey string `json:"sessionKey,omitempty"`
	Dir        string `json:"dir,omitempty"`
	Program    string `json:"program,omitempty"`
	// AnyArguments: the program may be started with any arguments in Dir.
	AnyArguments bool `json:"anyArguments,omitempty"`
	// Unconfined: outside of the sandbox.
	Unconfined  bool   `json:"unconfined,omitempty"`
	By          string `json:"by"`
	CreatedAtMs int64  `json:"createdAtMs"`
	ExpiresAtMs int64  `json:"expiresAtMs"`
}

// ApprovalRules lists them, the newest first.
type ApprovalRules struct {
	Rules []ApprovalRule `json:"rules"`
}

// ExecApprovals is the file of other gateways, made from the settings and the
// rules. Agents hold the rules as an allowlist, to be read.
type ExecApprovals struct {
	Path             string            `json:"path"`
	Exists           bool              `json:"exists"`
	Hash             string            `json:"hash"`
	File             ExecApprovalsFile `json:"file"`
	ResolvedDefaults ExecDefaults      `json:"resolvedDefaults"`
}

// ExecApprovalsFile is its content.
type ExecApprovalsFile struct {
	Version  int                           `json:"version"`
	Defaults ExecDefaults                  `json:"defaults"`
	Agents   map[string]ExecApprovalsAgent `json:"agents"`
}

// ExecDefaults are how commands are decided.
type ExecDefaults struct {
	Security        string `json:"security,omitempty"`
	Ask             string `json:"ask,omitempty"`
	AskFallback     string `json:"askFallback,omitempty"`
	AutoAllowSkills bool   `json:"autoAllowSkills,omitempty"`
}

// ExecApprovalsAgent are the rules of one agent.
type ExecApprovalsAgent struct {
	Security        string              `json:"security,omitempty"`
	Ask             string              `json:"ask,omitempty"`
	AskFallback     string              `json:"askFallback,omitempty"`
	AutoAllowSkills bool                `json:"autoAllowSkills,omitempty"`
	Allowlist       []ExecAllowlistItem `json:"allowlist,omitempty"`
}

// ExecAllowlistItem is one rule.
type ExecAllowlistItem struct {
	ID         string `json:"id,omitempty"`
	Pattern    string `json:"pattern"`
	LastUsedAt int64  `json:"lastUsedAt,omitempty"`
}

// ExecApprovalsSetParams change the settings of commands and remove rules that
// are missing. Rules are made by decisions, not written.
type ExecApprovalsSetParams struct {
	File     ExecApprovalsFile `json:"file"`
	BaseHash string            `json:"baseHash,omitempty"`
}
