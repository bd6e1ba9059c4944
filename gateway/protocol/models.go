package protocol

// ModelVerified is what a test has found out about a model.
type ModelVerified struct {
	// ContextWindow was seen to hold; 0: not tried.
	ContextWindow int `json:"contextWindow,omitempty"`
	// Less: the server holds less than was said of the model.
	Less  bool   `json:"less,omitempty"`
	Tools string `json:"tools,omitempty"` // work, fail; absent: not tried
	At    int64  `json:"at"`
}

// ModelsTestParams is ours: ask a model a few short questions. No model means
// the default one; Provider alone its first model.
type ModelsTestParams struct {
	Model     string `json:"model,omitempty"`
	Provider  string `json:"provider,omitempty"`
	ProfileID string `json:"profileId,omitempty"` // with this account only
	// Context also tries how much of a long text reaches the model: up to a
	// minute, for models that cost nothing.
	Context bool `json:"context,omitempty"`
}

// ModelsTestResult is how the test went.
type ModelsTestResult struct {
	Model     string         `json:"model"`
	OK        bool           `json:"ok"`
	TookMs    int64          `json:"tookMs,omitempty"` // of the first answer
	Claimed   int            `json:"claimed,omitempty"`
	Trained   int            `json:"trained,omitempty"`
	Verified  *ModelVerified `json:"verified,omitempty"`
	Line      string         `json:"line"`                // in a line for people
	Notes     []string       `json:"notes"`               // what follows from it
	Error     string         `json:"error,omitempty"`     // why it does not answer, and what to do
	ErrorKind string         `json:"errorKind,omitempty"` // auth, billing, connect, timeout and so on
}

// ModelsPullParams is ours: download a model of an Ollama server. Cancel ends a
// download that is under way; what came is kept.
type ModelsPullParams struct {
	Model    string `json:"model"`
	Provider string `json:"provider,omitempty"`
	Cancel   bool   `json:"cancel,omitempty"`
}

// ModelsPullProgress is the event hearth.models.pull.
type ModelsPullProgress struct {
	Model     string `json:"model"`
	State     string `json:"state"` // loading, done, failed
	Status    string `json:"status,omitempty"`
	Total     int64  `json:"total,omitempty"` // bytes of all parts known so far
	Completed int64  `json:"completed,omitempty"`
	Error     string `json:"error,omitempty"`
}

// Severities of a HealthCheck.
const (
	CheckOK   = "ok"
	CheckWarn = "warn"
	CheckFail = "fail"
)

// HealthCheck is one line of what the doctor says.
type HealthCheck struct {
	Area   string `json:"area"` // gateway, models, secrets, settings, folder, sandbox, audit
	State  string `json:"state"`
	What   string `json:"what"`
	Advice string `json:"advice,omitempty"` // what to do
	// Fixable: `hearth doctor --fix` mends it; Fixed: it just did.
	Fixable bool `json:"fixable,omitempty"`
	Fixed   bool `json:"fixed,omitempty"`
}

// DoctorParams is ours: Live asks the default model.
type DoctorParams struct {
	Live bool `json:"live,omitempty"`
}

// Doctor is how Hearth is.
type Doctor struct {
	OK     bool          `json:"ok"` // nothing failed
	Checks []HealthCheck `json:"checks"`
}
