package protocol

// AgentsCreateParams: the id is made of the name.
type AgentsCreateParams struct {
	Name      string `json:"name"`
	Workspace string `json:"workspace,omitempty"` // default: beside the main one
	Model     string `json:"model,omitempty"`
	Emoji     string `json:"emoji,omitempty"`
	Avatar    string `json:"avatar,omitempty"`
}

type AgentsCreateResult struct {
	OK        bool   `json:"ok"`
	AgentID   string `json:"agentId"`
	Name      string `json:"name"`
	Workspace string `json:"workspace"`
	Model     string `json:"model,omitempty"`
}

// AgentsUpdateParams changes what is named.
type AgentsUpdateParams struct {
	AgentID   string        `json:"agentId"`
	Name      string        `json:"name,omitempty"`
	Workspace string        `json:"workspace,omitempty"`
	Model     Patch[string] `json:"model,omitzero"` // null: as the defaults say
	Emoji     string        `json:"emoji,omitempty"`
	Avatar    string        `json:"avatar,omitempty"`
}

type AgentsUpdateResult struct {
	OK      bool   `json:"ok"`
	AgentID string `json:"agentId"`
}

// AgentsDeleteParams: DeleteFiles is refused; folders are a person's to delete.
type AgentsDeleteParams struct {
	AgentID     string `json:"agentId"`
	DeleteFiles bool   `json:"deleteFiles,omitempty"`
}

type AgentsDeleteResult struct {
	OK              bool   `json:"ok"`
	AgentID         string `json:"agentId"`
	RemovedBindings int    `json:"removedBindings"`
}

// AgentFile is a file of an agent's workspace. Content is only in answers about
// one file.
type AgentFile struct {
	Name           string  `json:"name"`
	Path           string  `json:"path"`
	Missing        bool    `json:"missing"`
	ExpectedAbsent bool    `json:"expectedAbsent,omitempty"`
	Size           int64   `json:"size,omitempty"`
	UpdatedAtMs    int64   `json:"updatedAtMs,omitempty"`
	Hash           string  `json:"hash,omitempty"`
	Content        *string `json:"content,omitempty"`
	Problem        string  `json:"hearthProblem,omitempty"` // ours: why it cannot be read
}

type AgentFilesParams struct {
	AgentID string `json:"agentId"`
}

type AgentFiles struct {
	AgentID   string      `json:"agentId"`
	Workspace string      `json:"workspace"`
	Files     []AgentFile `json:"files"`
}

type AgentFileParams struct {
	AgentID string `json:"agentId"`
	Name    string `json:"name"`
}

type AgentFileResult struct {
	OK        bool      `json:"ok,omitempty"`
	AgentID   string    `json:"agentId"`
	Workspace string    `json:"workspace"`
	File      AgentFile `json:"file"`
}

// AgentFileSetParams: with ExpectedHash, a file that changed since is refused.
type AgentFileSetParams struct {
	AgentID      string `json:"agentId"`
	Name         string `json:"name"`
	Content      string `json:"content"`
	ExpectedHash string `json:"expectedHash,omitempty"`
}
