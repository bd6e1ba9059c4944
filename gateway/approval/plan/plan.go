// Package plan says what a command will run before it runs, so that a person
// can be asked about exactly that, and so that what was answered can be compared
// with what is about to happen. A shell parser decides, never a pattern on text.
//
// It owns the reading of commands: which programs they start, through which
// wrappers, from which files, and everything about a command that nobody can
// know beforehand (a Doubt). It starts nothing and decides nothing: who may run
// what is the approval's business, and running it the shell tool's.
//
// The claim. If Known, then every image that the shell or a wrapper starts is in
// Programs. Everything that is not understood in full is a Doubt instead; there
// is no list of dangerous things, only lists of understood ones.
package plan

import (
	"errors"
	"fmt"
)

const (
	// MaxBytes is the longest command that can be planned, its environment
	// included. Nobody reads more than that before answering.
	MaxBytes = 16 << 10
	// maxDepth is how many wrappers may stand around each other.
	maxDepth = 4
)

var (
	// ErrTooLong: longer than a person would read.
	ErrTooLong = fmt.Errorf("the command is longer than %d KiB, which nobody can check before it runs; put it into a script and run that",
		MaxBytes>>10)
	// ErrText: not text that can be shown and run as the same thing.
	ErrText = errors.New("the command holds a NUL or is not valid UTF-8, so what is shown would not be what runs")
	// ErrChanged: what would run now is not what was approved.
	ErrChanged = errors.New("what would run is no longer what was approved")
	// ErrRequest: the request itself is wrong.
	ErrRequest = errors.New("the command cannot be planned")
)

// Request is what somebody wants to run. Exactly one of Command and Argv is set.
type Request struct {
	Command string            // text for the shell
	Argv    []string          // exact arguments, no shell
	Dir     string            // absolute folder to start in
	Env     map[string]string // variables asked for on top of the fixed environment
	Shell   string            // absolute path of the shell for Command, "" = /bin/sh
	// Terminal: the command gets a terminal, where some programs start a pager.
	Terminal bool
}

// Plan is what will run.
type Plan struct {
	Command string   // the text as given, "" when Argv was
	Shell   string   // the shell that reads Command; "" = no shell, Argv is started itself
	Argv    []string // what is started when there is no shell
	Dir     string   // absolute, without symbolic links
	Env     []EnvChange
	// Programs is every image that will run, in the order of the text: wrappers
	// and what they wrap. The shell itself is not among them.
	Programs []Program
	Scripts  []File // files that interpreters were told to run
	Writes   []string
	// OnlyWrites: the command changes nothing but the files in Writes.
	OnlyWrites bool
	// Known: Programs is complete and exact. If not, Doubts say why, and only a
	// person who read the whole command can say yes.
	Known  bool
	Doubts []Doubt
	// Lasting: a yes may be remembered. Never for shells, interpreters, wrappers,
	// package runners, build tools, and programs outside the system's folders. If
	// the plan is not Known, one of its programs is a stranger, which may do what
	// files in the folder say: then for the session only.
	Lasting bool
	// Alone: it is one program with its arguments, in Dir, and nothing around it:
	// no cd, no variable and no other command.
	Alone bool
	// Digest is over everything above, the contents of programs and scripts, and
	// the identity of Dir.
	Digest [32]byte

	shellHash [32]byte
	dirID     identity
	request   Request
}

// EnvChange is a variable that differs from the fixed environment.
type EnvChange struct{ Name, Value string }

// Program is one image that will run.
type Program struct {
	Argv []string // as the program will see it
	Name string   // what it is called without its folder
	Path string   // absolute, symbolic links followed; "" if it was not found
	Hash [32]byte // SHA-256 of its content
	// Named is the absolute path by which it is started, links and all; "" as Path.
	Named string
}

// File is a file whose content decides what happens.
type File struct {
	Path  string // absolute, symbolic links followed
	Hash  [32]byte
	Named string // the absolute path by which the command knows it
}

// Doubt is a reason why a plan is not Known.
type Doubt struct {
	Code  string // for programs: substitution, expansion, wrapper, …
	Words string // for people, a whole clause: "uses $(…), so …"
}

// Exec is exactly what must be started for the plan: the file and its argv.
// Starting anything else makes the plan untrue.
func (p Plan) Exec() (path string, argv []string) {
	if p.Shell == "" {
		if len(p.Programs) == 0 {
			return "", p.Argv
		}
		return p.Programs[0].Path, p.Argv
	}
	// "--" so that a text that begins with a dash is never an option.
	if shellName(p.Shell) == "bash" {
		// bash reads ~/.bashrc when it believes that a network daemon started it.
		return p.Shell, []string{p.Shell, "--norc", "--noprofile", "-c", "--", p.Command}
	}
	return p.Shell, []string{p.Shell, "-c", "--", p.Command}
}

// Request is what the plan was made from.
func (p Plan) Request() Request { return p.request }
