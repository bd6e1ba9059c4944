package protocol

// MCPServers lists the MCP servers that are on.
type MCPServers struct {
	Servers []MCPServer `json:"servers"`
}

// MCPServer is how a server is.
type MCPServer struct {
	ID       string    `json:"id"`
	State    string    `json:"state"` // starting, ready, waiting, failed
	Problem  string    `json:"problem,omitempty"`
	Name     string    `json:"name,omitempty"` // what it calls itself
	Version  string    `json:"version,omitempty"`
	Tools    []MCPTool `json:"tools"`
	Skipped  []string  `json:"skipped,omitempty"` // tools that are not offered, and why
	Restarts int       `json:"restarts,omitempty"`
	Since    int64     `json:"since"`
}

// MCPTool is a tool of a server.
type MCPTool struct {
	Name        string `json:"name"` // for models and rules
	Own         string `json:"own"`  // the server's own
	Description string `json:"description,omitempty"`
	Changed     bool   `json:"changed,omitempty"` // it is not what was allowed
}

// MCPServerParams name a server.
type MCPServerParams struct {
	ID string `json:"id"`
}
