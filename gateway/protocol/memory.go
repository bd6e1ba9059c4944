package protocol

// Memory is what the assistant remembers: MEMORY.md and memory/*.md. Paths begin
// at the workspace. These are the owner's methods; All reaches the notes about
// others as well, Person those of one of them: a folder as MemoryFile.Person
// names it or the beginning of its name, a sender (network:42), a contact's name,
// or a session key.

// MemoryListParams: all are optional.
type MemoryListParams struct {
	AgentID string `json:"agentId,omitempty"`
	All     bool   `json:"all,omitempty"`
	Person  string `json:"person,omitempty"`
}

type MemoryFiles struct {
	Workspace string       `json:"workspace"`
	Files     []MemoryFile `json:"files"`
}

type MemoryFile struct {
	Path      string `json:"path"`
	Person    string `json:"person,omitempty"` // people/NAME or groups/NAME; "" = the owner's
	Size      int64  `json:"size"`
	UpdatedAt int64  `json:"updatedAt"`
	Chunks    int    `json:"chunks"`
	Skipped   string `json:"skipped,omitempty"` // why it cannot be found
}

// MemorySearchParams: Limit 0 and MinScore 0 mean as the settings say.
type MemorySearchParams struct {
	Query    string  `json:"query"`
	AgentID  string  `json:"agentId,omitempty"`
	Limit    int     `json:"limit,omitempty"`
	MinScore float64 `json:"minScore,omitempty"`
	All      bool    `json:"all,omitempty"`
	Person   string  `json:"person,omitempty"`
}

type MemoryFound struct {
	AgentID    string      `json:"agentId"`
	Provider   string      `json:"provider"`   // of vectors, "none"
	SearchMode string      `json:"searchMode"` // fts-only, hybrid
	Results    []MemoryHit `json:"results"`
	Partial    string      `json:"partial,omitempty"` // why there may be more
}

type MemoryHit struct {
	Path      string  `json:"path"`
	StartLine int     `json:"startLine"`
	EndLine   int     `json:"endLine"`
	Score     float64 `json:"score"`
	Snippet   string  `json:"snippet"`
	Citation  string  `json:"citation"`
}

type MemoryGetParams struct {
	Path    string `json:"path"`
	AgentID string `json:"agentId,omitempty"`
}

// MemoryContent is a whole file; Hash goes back with a change.
type MemoryContent struct {
	Path string `json:"path"`
	Text string `json:"text"`
	Hash string `json:"hash"` // "" = there is no such file yet
}

// MemorySetParams replaces a file, when Hash is that of what it holds.
type MemorySetParams struct {
	Path    string `json:"path"`
	Text    string `json:"text"`
	Hash    string `json:"hash,omitempty"`
	AgentID string `json:"agentId,omitempty"`
}

// MemoryForgetParams: a file, lines of it (then Text is what stands there), or
// all notes of a Source: a conversation, a run, or channel:id.
type MemoryForgetParams struct {
	Path      string `json:"path,omitempty"`
	StartLine int    `json:"startLine,omitempty"`
	EndLine   int    `json:"endLine,omitempty"`
	Text      string `json:"text,omitempty"`
	Source    string `json:"source,omitempty"`
	AgentID   string `json:"agentId,omitempty"`
}

// MemoryChange says what was changed. UndoID takes it back (hearth.undo.apply);
// "" when nothing was changed.
type MemoryChange struct {
	UndoID string   `json:"undoId,omitempty"`
	Paths  []string `json:"paths"`
	Notes  int      `json:"notes,omitempty"` // of a source
}

type MemoryStatusParams struct {
	AgentID string `json:"agentId,omitempty"`
}

// MemoryIndexParams: the index is brought up to date, with Rebuild made anew.
type MemoryIndexParams struct {
	AgentID string `json:"agentId,omitempty"`
	Rebuild bool   `json:"rebuild,omitempty"`
}

type MemoryStatus struct {
	AgentID   string          `json:"agentId"`
	Enabled   bool            `json:"enabled"`
	Workspace string          `json:"workspace"`
	Files     int             `json:"files"`
	Bytes     int64           `json:"bytes"`
	Chunks    int             `json:"chunks"`
	Vectors   int             `json:"vectors"`
	Skipped   []MemorySkipped `json:"skipped"`
	Indexing  string          `json:"indexing,omitempty"` // the file that is read now
	Problem   string          `json:"problem,omitempty"`
	Embedding MemoryEmbedding `json:"embedding"`
}

type MemorySkipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

type MemoryEmbedding struct {
	Model   string `json:"model,omitempty"` // "" = none, only words are compared
	Problem string `json:"problem,omitempty"`
}
