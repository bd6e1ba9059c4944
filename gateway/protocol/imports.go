package protocol

// ImportParams say what is imported: From is the program, "" when what lies at
// Path tells; Path is on the gateway's computer, "" for where the program has it.
type ImportParams struct {
	From string `json:"from,omitempty"`
	Path string `json:"path,omitempty"`
}

// ImportSource is a program that Hearth can import from. Path is where it was
// found on this computer.
type ImportSource struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Takes string `json:"takes"` // in words
	Path  string `json:"path,omitempty"`
}

// ImportSources are all of them.
type ImportSources struct {
	Sources []ImportSource `json:"sources"`
}

// ImportRow counts what there is of one kind: chat, memory, file, skill, job,
// server, key, person, setting, other.
type ImportRow struct {
	Kind     string   `json:"kind"`
	Found    int      `json:"found"`
	New      int      `json:"new"`
	Grown    int      `json:"grown"` // here already, and more came
	Here     int      `json:"here"`  // here already
	Left     int      `json:"left"`  // not taken
	Messages int      `json:"messages,omitempty"`
	NewSaid  int      `json:"newMessages,omitempty"`
	Names    []string `json:"names,omitempty"`     // the new ones; of very many, some
	Kept     []string `json:"hereNames,omitempty"` // those that are here already
}

// ImportLeft is what is not taken for one reason.
type ImportLeft struct {
	Kind  string   `json:"kind"`
	Names []string `json:"names"` // of very many, some
	Many  int      `json:"many"`
	Why   string   `json:"why"`
}

// ImportReport is what an import would do, or did.
type ImportReport struct {
	From    string       `json:"from"`
	Program string       `json:"program"`
	Path    string       `json:"path"`
	Dry     bool         `json:"dry"` // nothing was written
	TaskID  string       `json:"taskId,omitempty"`
	Rows    []ImportRow  `json:"rows"`
	Left    []ImportLeft `json:"left"`
	Notes   []string     `json:"notes,omitempty"`
	Error   string       `json:"error,omitempty"` // why it ended early
}

// ImportStarted names the task of an import.
type ImportStarted struct {
	TaskID string `json:"taskId"`
}

// ImportReportParams ask for the report of an import that was started.
type ImportReportParams struct {
	TaskID string `json:"taskId"`
}
