// Package prompt renders the system prompt. It is pure: what goes in decides
// every byte that comes out. It owns the sections, their order and their words,
// and how what others named (folders, hosts, chats, people) is written so that
// it stays data. It reads no file and no setting, and holds no clock: a time
// would change every byte that follows and defeat prompt caches.
//
// The prompt has two halves. What stays the same from turn to turn of an agent
// comes first; what depends on the chat, the model or the run stands behind the
// boundary, so that a cache keeps the first half.
package prompt

import (
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Mode says how much of the prompt a run gets.
type Mode string

const (
	Full    Mode = "full"    // "" means this
	Minimal Mode = "minimal" // sub-agents
	None    Mode = "none"    // who it is, and nothing else
)

// Delegation says how much the agent is told to hand work on.
type Delegation string

const (
	Suggest Delegation = "suggest" // "" means this
	Prefer  Delegation = "prefer"
)

// Input is everything that the prompt depends on.
type Input struct {
	Mode         Mode
	Name         string           // of the assistant, "" = Hearth
	Theme        string           // how it is, in a few words of the person's
	Tools        []model.ToolSpec // with those that only programs call
	Delegation   Delegation
	Contribution Contribution

	Skills  []SkillLine
	Memory  bool // there is memory to search
	Aliases []Alias

	Workspace string // absolute path
	Docs      string // folder with Hearth's documentation on this computer; "" = none
	Sandbox   *Sandbox
	TimeZone  string // IANA name, may be empty
	Files     []File // of the workspace, in order
	Warn      bool   // say that files were cut

	// What follows stands behind the boundary.
	Surface   Surface
	Silence   string // when an answer may be silence; "" = nothing is said
	Context   string // of the sub-agent or the group chat, written by Hearth
	Program   string // what a program that uses Hearth says about its answers
	Heartbeat string // what a heartbeat asks; "" = there are none
	Runtime   Runtime
	Reasoning string // off, on, stream; "" = off

	shown []model.ToolSpec // in code mode: all that the model calls directly
}

// Contribution is what a model service adds for its models. The named texts
// replace those sections.
type Contribution struct {
	StablePrefix, DynamicSuffix                    string
	InteractionStyle, ToolCallStyle, ExecutionBias string
}

// SkillLine is one skill that the model may read.
type SkillLine struct{ Name, Description, Location string }

// Alias is a short name of a model.
type Alias struct{ Name, Model string }

// Sandbox says where commands run.
type Sandbox struct {
	Kind    string   // landlock, seatbelt, …
	Writes  []string // folders that commands may change
	Network bool
}

// File is one file of the workspace as the model gets to see it.
type File struct {
	Name    string
	Text    string
	Missing bool
	Problem string // why it is not shown
	Chars   int    // that it has; Kept of them are in Text
	Kept    int
}

// Cut reports whether a part of the file is left out.
func (f File) Cut() bool { return f.Kept < f.Chars }

// Surface is where the words come from.
type Surface struct {
	Name   string // webchat, or a messaging network
	Chat   string // direct, group, channel; "" = direct
	Label  string // of the chat
	Sender string // who writes; "" = the owner on a paired device
	Owner  bool
}

// Runtime describes the run.
type Runtime struct {
	Agent, Host, OS, Version, Model, Thinking, Repo string
}

// Prompt is a rendered prompt. Its first Stable bytes are the half before the
// boundary; the parts' sizes add up to the text's.
type Prompt struct {
	Text   string
	Stable int
	Parts  []Part
}

// Part is one section.
type Part struct {
	Name  string
	Bytes int
	// Of says to which part this one belongs: files are listed apart. Their bytes
	// are counted there as well.
	Of string
	// Note says of a file how much of it is shown, when that is not all.
	Note string
}

// Render renders the prompt.
func Render(in Input) Prompt {
	if in.Name = oneLine(in.Name); in.Name == "" {
		in.Name = "Hearth"
	}
	if shown, hidden := split(in.Tools); len(hidden) > 0 {
		in.shown, in.Tools = shown, hidden
	}
	w := &writer{full: in.Mode != Minimal}
	w.b.Grow(8<<10 + sizeOf(in.Files) + 256*len(in.Skills))
	if in.Mode == None {
		in.Theme = ""
	}
	w.section("Identity", "", identity(in))
	if in.Mode == None {
		return w.done(w.b.Len())
	}
	w.stable(in)
	w.files(in)
	stable := w.b.Len()
	w.volatile(in)
	return w.done(stable)
}

func sizeOf(files []File) (n int) {
	for _, f := range files {
		n += len(f.Text) + 64
	}
	return n
}

// writer gathers sections.
type writer struct {
	b     strings.Builder
	parts []Part
	full  bool
}

// section writes one section; an empty one is left out.
func (w *writer) section(name, title, body string) {
	if body == "" {
		return
	}
	start := w.b.Len()
	if start > 0 {
		w.b.WriteByte('\n')
	}
	if title != "" {
		w.b.WriteString("## ")
		w.b.WriteString(title)
		w.b.WriteByte('\n')
	}
	w.b.WriteString(body)
	if body[len(body)-1] != '\n' {
		w.b.WriteByte('\n')
	}
	w.parts = append(w.parts, Part{Name: name, Bytes: w.b.Len() - start})
}

// titled is a section that is called what it is headed.
func (w *writer) titled(title, body string) { w.section(title, title, body) }

func (w *writer) done(stable int) Prompt {
	return Prompt{Text: w.b.String(), Stable: stable, Parts: w.parts}
}
