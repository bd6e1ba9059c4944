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

// ModelServices is ours: the services that are known by name.
type ModelServices struct {
	Services []ModelService `json:"services"`
}

// ModelService is one of them.
type ModelService struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	KeyPage string `json:"keyPage,omitempty"` // where a person gets a key, without https://
	Local   bool   `json:"local,omitempty"`   // it runs on one's own machines
	// Address is where it is asked, with a {NAME} for each of Needs.
	Address string   `json:"address"`
	Needs   []string `json:"needs"` // what only its person knows
	// Deployment: its models have the names that their person gave them there.
	Deployment bool `json:"deployment,omitempty"`
}

// ModelsLookParams is ours: the address of a server of models as a person types it,
// and its key. Nothing is kept.
type ModelsLookParams struct {
	Address string `json:"address"`
	Key     string `json:"key,omitempty"`
}

// ModelsLook is what was found there; an address of no use is an error whose code
// says why.
type ModelsLook struct {
	Address string        `json:"address"`        // for models.providers.<name>.baseUrl
	API     string        `json:"api"`            // for models.providers.<name>.api
	Kind    string        `json:"kind,omitempty"` // the known service that it seems to be
	Name    string        `json:"name"`           // a name for it that is free
	Models  []ServedModel `json:"models"`
}

// ServedModel is a model of such a server.
type ServedModel struct {
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	ContextWindow int      `json:"contextWindow,omitempty"`
	Input         []string `json:"input,omitempty"`
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
	// Repair names what hearth.doctor.repair does about it, where the gateway itself
	// can mend it.
	Repair string `json:"repair,omitempty"`
}

// StoreStatus is how the database is: its size, when all of it was read last since
// the start, how the last compaction ended, and how far the work is that is under way.
type StoreStatus struct {
	Bytes       int64  `json:"bytes"`
	Free        int64  `json:"free"` // of them: not in use; `hearth store compact` gives it back
	CopiedAtMs  int64  `json:"copiedAtMs,omitempty"`
	CheckedAtMs int64  `json:"checkedAtMs,omitempty"`
	Records     int    `json:"records,omitempty"`
	Problem     string `json:"problem,omitempty"` // that the check found
	TaskID      string `json:"taskId,omitempty"`  // of the check or compaction that is under way
	TaskKind    string `json:"taskKind,omitempty"`
	Done        int64  `json:"done,omitempty"` // bytes
	Total       int64  `json:"total,omitempty"`

	CompactedAtMs  int64  `json:"compactedAtMs,omitempty"`
	GivenBack      int64  `json:"givenBack,omitempty"`      // bytes
	CompactProblem string `json:"compactProblem,omitempty"` // why the last compaction did not come to its end
}

// DoctorRepairParams name a repair that a check offered.
type DoctorRepairParams struct {
	Repair string `json:"repair"`
}

// DoctorRepaired says what was done.
type DoctorRepaired struct {
	Said string `json:"said"`
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
