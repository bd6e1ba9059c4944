package protocol

// MCPServers lists the MCP servers of the settings.
type MCPServers struct {
	Servers []MCPServer `json:"servers"`
}

// MCPServer is how a server is.
type MCPServer struct {
	ID      string    `json:"id"`
	State   string    `json:"state"` // starting, ready, waiting, failed, off
	Problem string    `json:"problem,omitempty"`
	Name    string    `json:"name,omitempty"` // what it calls itself
	Version string    `json:"version,omitempty"`
	Tools   []MCPTool `json:"tools"`
	Skipped []string  `json:"skipped,omitempty"` // tools that are not offered, and why
	// Reads and Writes are what a program may use beside its own folder, as the
	// settings and its command line name it; only of one in a sandbox.
	Reads  []string `json:"reads,omitempty"`
	Writes []string `json:"writes,omitempty"`
	// Noise is about lines of a program that were no messages.
	Noise    string `json:"noise,omitempty"`
	Restarts int    `json:"restarts,omitempty"`
	Since    int64  `json:"since"`
	LoggedIn bool   `json:"loggedIn,omitempty"` // Hearth has a login at it
	Login    bool   `json:"login,omitempty"`    // it wants one
	Service  bool   `json:"service,omitempty"`  // it is a service, not a program
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

// MCPLogin is a login that has begun: the page to open.
type MCPLogin struct {
	LoginID   string `json:"loginId"`
	URL       string `json:"url"`
	ExpiresAt int64  `json:"expiresAt"`
}

// MCPLoginWaitParams wait for a login, or give it up.
type MCPLoginWaitParams struct {
	LoginID   string `json:"loginId"`
	TimeoutMs int    `json:"timeoutMs,omitempty"`
	Cancel    bool   `json:"cancel,omitempty"`
}

// MCPLoginState is how a login stands.
type MCPLoginState struct {
	State string `json:"state"` // pending, done, failed
	Error string `json:"error,omitempty"`
}

// MCPResources are what a server has to read.
type MCPResources struct {
	Resources []MCPResource `json:"resources"`
	More      bool          `json:"more,omitempty"` // not all of them are listed
}

// MCPResource is one of them.
type MCPResource struct {
	URI         string `json:"uri"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

// MCPReadParams name a resource.
type MCPReadParams struct {
	ID  string `json:"id"`
	URI string `json:"uri"`
}

// MCPText is words of a server.
type MCPText struct {
	Text string `json:"text"`
}

// MCPPrompts are texts that a server has ready.
type MCPPrompts struct {
	Prompts []MCPPrompt `json:"prompts"`
}

// MCPPrompt is one of them.
type MCPPrompt struct {
	Name        string        `json:"name"`
	Description string        `json:"description,omitempty"`
	Arguments   []MCPArgument `json:"arguments"`
}

// MCPArgument is a word that a prompt is filled in with.
type MCPArgument struct {
	Name     string `json:"name"`
	About    string `json:"about,omitempty"`
	Required bool   `json:"required,omitempty"`
}

// MCPPromptParams fill a prompt in.
type MCPPromptParams struct {
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments,omitempty"`
}
