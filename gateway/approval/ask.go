// Package approval decides whether a tool may do one thing that cannot be
// taken back: a rule of the owner allows it, or the owner is asked and the
// tool waits. It owns the requests, the decisions, the rules and the waiting,
// and keeps all of them in the store. It does not know what a command runs
// (gateway/approval/plan does), who may use which tool (gateway/tool/policy),
// or how people are shown a request (package gateway).
package approval

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/approval/sentence"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// Kind is what sort of thing is asked for.
type Kind string

const (
	KindExec    Kind = "exec"    // run a command
	KindFile    Kind = "file"    // change a file outside the workspace, or a protected one
	KindSend    Kind = "send"    // write to somebody for the first time
	KindConfig  Kind = "config"  // change the settings
	KindInstall Kind = "install" // add a skill, a plugin or a program
	KindTool    Kind = "tool"    // use a tool that is not ours
)

// MaxBytes is the most that a person can be asked to read (A-EXEC-13): the
// command, its arguments and its environment together.
const MaxBytes = 16 << 10

// maxWarnings and maxWords bound what is not part of the thing itself.
const (
	maxWarnings = 16
	maxWords    = 2 << 10
)

// Ask is one wish, with everything that decides about it. What is shown to a
// person is made of these fields and nothing else, and the decision is bound to
// all of them but the words (Title, Says, Why, Warnings, Lines).
type Ask struct {
	Kind       Kind   `json:"kind"`
	RunID      string `json:"runId,omitempty"`
	SessionKey string `json:"sessionKey,omitempty"`
	SessionID  string `json:"sessionId,omitempty"`
	AgentID    string `json:"agentId,omitempty"`
	CallID     string `json:"callId,omitempty"`
	Tool       string `json:"tool,omitempty"`
	Surface    string `json:"surface,omitempty"`
	Sender     string `json:"sender,omitempty"`
	Owner      bool   `json:"owner,omitempty"`

	Title string `json:"title"` // plain words: "Run git push in ~/site"
	// Says is the same for a person of any language.
	Says     sentence.Sentence `json:"says,omitzero"`
	Why      string            `json:"why,omitempty"` // the model's own words, or what rule made it ask
	Warnings []string          `json:"warnings,omitempty"`
	// Lines are the whole of it for a person, one fact a line, safe to print. What
	// they lack of the fields below and of Warnings is added.
	Lines []string `json:"lines,omitempty"`
	// Scripts are the files that decide what runs. Their text is kept while the
	// request waits.
	Scripts []plan.Text `json:"scripts,omitempty"`

	Command string   `json:"command,omitempty"` // text for a shell
	Argv    []string `json:"argv,omitempty"`    // or what is run without one
	Dir     string   `json:"dir,omitempty"`     // absolute and clean
	Env     []string `json:"env,omitempty"`     // NAME=value beyond the usual
	Writes  []string `json:"writes,omitempty"`  // files that redirections write
	Path    string   `json:"path,omitempty"`    // of a file: absolute and clean
	Host    string   `json:"host,omitempty"`    // of a request, or the recipient of a message
	// Folder is set when a yes may be about reading all that is in it: it holds
	// Path or is it. FolderTitle says that to a person: "Read files in
	// ~/Documents". Exact leaves both out: they follow from the path, and only a
	// yes for the folder looks at them.
	Folder      string `json:"folder,omitempty"`
	FolderTitle string `json:"folderTitle,omitempty"`
	// Unconfined asks to run outside the sandbox, or where there is none.
	Unconfined bool `json:"unconfined,omitempty"`

	// Digest is of the whole plan, so that what was approved is what is run.
	Digest [32]byte `json:"digest"`
	// Program and ProgramHash are set when exactly one program runs, in Dir.
	Program     string   `json:"program,omitempty"` // absolute and clean
	ProgramHash [32]byte `json:"programHash"`
	// Known: nothing else can come of it than what is shown.
	Known bool `json:"known,omitempty"`
	// Lasting: it may be allowed for longer than once.
	Lasting bool `json:"lasting,omitempty"`
}

// For is an Ask of a tool's call, to be filled in.
func For(kind Kind, call tool.Call) Ask {
	return Ask{
		Kind: kind, RunID: call.RunID, SessionKey: call.SessionKey, SessionID: call.SessionID, AgentID: call.AgentID, CallID: call.ID,
		Surface: call.Surface, Sender: call.Sender, Owner: call.Owner,
	}
}

// Exact is what a decision is bound to: a hash over everything that decides
// what happens. Two asks of one Exact are the same wish.
func (a Ask) Exact() [32]byte {
	h := sha256.New()
	put := func(parts ...string) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(parts)))
		h.Write(n[:])
		for _, p := range parts {
			binary.BigEndian.PutUint64(n[:], uint64(len(p)))
			h.Write(n[:])
			h.Write([]byte(p))
		}
	}
	put("hearth ask 1", string(a.Kind), a.AgentID, a.Command, a.Dir, a.Path, a.Host, a.Program)
	put(a.Argv...)
	put(a.Env...)
	put(a.Writes...)
	flags := byte(0)
	for i, on := range []bool{a.Unconfined, a.Known, a.Lasting} {
		if on {
			flags |= 1 << i
		}
	}
	h.Write([]byte{flags})
	h.Write(a.Digest[:])
	h.Write(a.ProgramHash[:])
	return [32]byte(h.Sum(nil))
}

// check refuses what cannot be shown or bound.
func (a *Ask) check() error {
	size := len(a.Command) + len(a.Path) + len(a.Host) + len(a.Folder)
	for _, list := range [][]string{a.Argv, a.Env, a.Writes} {
		for _, s := range list {
			size += len(s) + 1
		}
	}
	if size > MaxBytes {
		return ErrTooLong
	}
	for _, p := range []string{a.Dir, a.Path, a.Program, a.Folder} {
		if p != "" && (!filepath.IsAbs(p) || filepath.Clean(p) != p) {
			return fmt.Errorf("%w: the path %q is not absolute and clean", ErrMalformed, p)
		}
	}
	if a.Folder != "" && (a.Kind != KindFile || a.FolderTitle == "" || !within(a.Path, a.Folder)) {
		return fmt.Errorf("%w: the folder %q is not that of the file", ErrMalformed, a.Folder)
	}
	if a.Kind == "" || a.Title == "" {
		return fmt.Errorf("%w: kind and title are needed", ErrMalformed)
	}
	if a.SessionKey == "" || a.AgentID == "" {
		return fmt.Errorf("%w: nobody knows for which session it is", ErrMalformed)
	}
	for _, s := range append([]string{a.Command, a.Dir, a.Path, a.Host, a.Program, a.Folder}, a.Argv...) {
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			return fmt.Errorf("%w: it holds bytes that cannot be shown", ErrMalformed)
		}
	}
	a.Title, a.Why = cut(a.Title), cut(a.Why)
	a.whole()
	if !a.Says.Sound() {
		a.Says = a.plainly()
	}
	if len(a.Warnings) > maxWarnings {
		a.Warnings = append(a.Warnings[:maxWarnings:maxWarnings], "There is more to warn of than fits here.")
	}
	return nil
}

// plainly is the sentence of an ask that came without one.
func (a *Ask) plainly() sentence.Sentence {
	if a.Kind == KindExec {
		return sentence.New("command")
	}
	return sentence.New("other", "title", a.Title)
}

func cut(s string) string {
	if len(s) <= maxWords {
		return s
	}
	return strings.ToValidUTF8(s[:maxWords], "") + " …"
}

// Scope is how far a decision goes.
type Scope string

const (
	ScopeOnce    Scope = "once"    // this one time
	ScopeSession Scope = "session" // the same again in this session, until a restart
	ScopeHere    Scope = "here"    // exactly the same, in this folder, by this agent
	ScopeProgram Scope = "program" // this program in this folder, with any arguments
	ScopeFolder  Scope = "folder"  // reading what is in this folder and below, by this agent
	ScopeDeny    Scope = "deny"    // not this time
	ScopeNever   Scope = "never"   // never exactly this here
)

// Allows reports whether the scope is a yes.
func (s Scope) Allows() bool { return s != ScopeDeny && s != ScopeNever && s != "" }

// ParseScope reads a scope, or a decision of other gateways' clients.
func ParseScope(s string) (Scope, bool) {
	switch s {
	case "allow-once":
		return ScopeOnce, true
	case "allow-always":
		return ScopeHere, true
	case string(ScopeOnce), string(ScopeSession), string(ScopeHere), string(ScopeProgram), string(ScopeFolder), string(ScopeDeny),
		string(ScopeNever):
		return Scope(s), true
	}
	return "", false
}

// Scopes are those that a person may choose for an ask. What nobody can know
// in advance, and what runs other things, is allowed once at a time. A command
// that is Lasting without being Known names all that it starts, but a program
// among it is a stranger, which may run what the files of the folder say: a yes
// for it ends with the session, and is for one time outside of the sandbox.
func (a Ask) Scopes() []Scope {
	out := []Scope{ScopeOnce}
	if a.Known || a.stranger() && !a.Unconfined {
		out = append(out, ScopeSession)
	}
	if a.Known && a.Lasting {
		out = append(out, ScopeHere)
	}
	if a.oneProgram() {
		out = append(out, ScopeProgram)
	}
	if a.readsIn() {
		out = append(out, ScopeFolder)
	}
	return append(out, ScopeDeny, ScopeNever)
}

// stranger: a command whose programs are all named and bound by their content,
// one of which Hearth does not know. Plans are Lasting without being Known for
// no other reason.
func (a Ask) stranger() bool {
	return a.Kind == KindExec && a.Lasting && !a.Known && a.Digest != [32]byte{} && a.Dir != ""
}

// oneProgram: it is one known program that does nothing but itself, so that
// "this program in this folder" says all. Outside of the sandbox that would be
// every file of the person.
func (a Ask) oneProgram() bool {
	return a.Kind == KindExec && a.Known && a.Lasting && a.Program != "" && a.ProgramHash != [32]byte{} && a.Dir != "" &&
		len(a.Env) == 0 && len(a.Writes) == 0 && !a.Unconfined
}

// readsIn: the owner's own turn reads a file in a folder that one yes may be
// about. A change is never Lasting, nor has it a folder or content to show.
func (a Ask) readsIn() bool {
	return a.Kind == KindFile && a.Known && a.Lasting && a.Owner && a.Folder != "" && a.Command == "" && a.Digest == [32]byte{} &&
		within(a.Path, a.Folder)
}

// within reports whether path is folder or in it, name by name. Both are
// absolute, clean and without links.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}
