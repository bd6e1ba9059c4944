package config

import "slices"

// CodeMode is about programs that a model writes instead of calling tools one by
// one. Its numbers are within their bounds already.
type CodeMode struct {
	Enabled             bool     `json:"enabled"`
	Runtime             string   `json:"runtime"`   // quickjs-wasi
	Mode                string   `json:"mode"`      // only
	Languages           []string `json:"languages"` // javascript, typescript
	TimeoutMs           int      `json:"timeoutMs"`
	MemoryLimitBytes    int      `json:"memoryLimitBytes"`
	MaxOutputBytes      int      `json:"maxOutputBytes"`
	MaxSnapshotBytes    int      `json:"maxSnapshotBytes"`
	MaxPendingToolCalls int      `json:"maxPendingToolCalls"`
	SnapshotTTLSeconds  int      `json:"snapshotTtlSeconds"`
	SearchDefaultLimit  int      `json:"searchDefaultLimit"`
	MaxSearchLimit      int      `json:"maxSearchLimit"`
}

func defaultCodeMode() CodeMode {
	return CodeMode{
		Runtime: "quickjs-wasi", Mode: "only", Languages: []string{"javascript", "typescript"},
		TimeoutMs: 10_000, MemoryLimitBytes: 64 << 20, MaxOutputBytes: 64 << 10, MaxSnapshotBytes: 10 << 20,
		MaxPendingToolCalls: 16, SnapshotTTLSeconds: 900, SearchDefaultLimit: 8, MaxSearchLimit: 50,
	}
}

func (c CodeMode) clone() CodeMode {
	c.Languages = slices.Clone(c.Languages)
	return c
}
