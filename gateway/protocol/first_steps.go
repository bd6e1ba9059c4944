package protocol

// Setup is a person's first steps with Hearth: the result of hearth.setup.get
// and hearth.setup.answer, and the event hearth.setup.
type Setup struct {
	Complete bool        `json:"complete"` // no step is open
	Steps    []SetupStep `json:"steps"`
	// Waiting is how many messages will be answered as soon as a model is ready.
	Waiting int `json:"waiting"`
	// Choices is what this computer has that could answer, best first.
	Choices []SetupChoice `json:"choices"`
	// Downloads is what could be fetched, the one to take first.
	Downloads []SetupDownload `json:"downloads"`
	// Ollama would download it: running, or where to get it.
	Ollama     bool           `json:"ollama"`
	OllamaHint string         `json:"ollamaHint,omitempty"` // why it cannot be used yet, when it runs
	RAM        int64          `json:"ram,omitempty"`        // bytes; absent: not known
	SignIns    []SetupSignIn  `json:"signIns"`
	Programs   []SetupProgram `json:"programs"` // other assistants that are set up here
	Doing      *SetupDoing    `json:"doing,omitempty"`
	// Problem is why the last try failed, and what to do; Retry can be used to try
	// it again.
	Problem string       `json:"problem,omitempty"`
	Retry   string       `json:"retry,omitempty"`
	Model   *SetupResult `json:"model,omitempty"` // that was chosen
	// AtLogin: whether Hearth starts at login; absent where nobody can say.
	AtLogin *bool `json:"atLogin,omitempty"`
}

// SetupStep is one step: model, name, phone, telegram, leave.
type SetupStep struct {
	ID    string `json:"id"`
	State string `json:"state"` // open, done, skipped, again (to choose anew; nothing waits for it)
	Pane  string `json:"pane"`  // of the settings, where it can be changed later
}

// SetupChoice is something that could answer.
type SetupChoice struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"` // local, login, key
	Name    string `json:"name"` // of the model or program, for people
	Service string `json:"service"`
	Model   string `json:"model,omitempty"`
	Caution string `json:"caution,omitempty"`
}

// SetupDownload is a model that Ollama has.
type SetupDownload struct {
	Model   string `json:"model"`
	Name    string `json:"name"`
	Bytes   int64  `json:"bytes"`
	Seconds int64  `json:"seconds"` // on an ordinary line of 50 Mbit/s
}

// SetupSignIn is a service where one can log in.
type SetupSignIn struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// SetupProgram is another assistant whose settings are on this computer.
type SetupProgram struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// SetupDoing is what goes on: test, download, or window (how much of a long text
// reaches the model, after the first answer).
type SetupDoing struct {
	What    string `json:"what"`
	Name    string `json:"name"`
	Model   string `json:"model,omitempty"`
	Done    int64  `json:"done,omitempty"`
	Total   int64  `json:"total,omitempty"`
	Seconds int64  `json:"seconds,omitempty"` // that are left, where that is known
}

// SetupResult is how the test of the chosen model went.
type SetupResult struct {
	Model    string   `json:"model"`
	Line     string   `json:"line,omitempty"`
	Notes    []string `json:"notes"`
	ChatOnly bool     `json:"chatOnly,omitempty"` // it cannot use tools
}

// SetupGetParams: Look looks at this computer again first, for less than a second.
type SetupGetParams struct {
	Look bool `json:"look,omitempty"`
}

// SetupAnswerParams answer one step. Do is done or skip for every step, again to
// open it anew, and:
//
//	model   use (Choice), key (Key, Service), download (Model), cancel; skip: the
//	        built-in guide answers until a model is there
//	name    save (Name, Style)
//	leave   atLogin (On)
type SetupAnswerParams struct {
	Step    string `json:"step"`
	Do      string `json:"do"`
	Choice  string `json:"choice,omitempty"`
	Key     string `json:"key,omitempty"`
	Service string `json:"service,omitempty"`
	Model   string `json:"model,omitempty"`
	Name    string `json:"name,omitempty"`
	Style   string `json:"style,omitempty"`
	On      bool   `json:"on,omitempty"`
}
