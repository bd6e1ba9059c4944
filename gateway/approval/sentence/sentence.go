// Package sentence says in plain words what is asked for, as a code with its
// parameters, which clients say in the language of their person, and in English.
// It decides nothing, and a yes is never bound to it: it stands above what is
// asked for, which is shown whole. What it says of a command comes from what
// gateway/approval/plan understood to its end; all else is "a command".
package sentence

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
)

// Code is which sentence it is. English has all of them.
type Code string

// Sentence is one of them. The parameters are safe to show.
type Sentence struct {
	Code   Code              `json:"code"`
	Params map[string]string `json:"params,omitempty"`
}

// Who is the parameter that names whoever asks.
const Who = "who"

// assistant is who asks when nobody has a name.
const assistant = "Hearth"

// maxParam bounds what stands in a sentence; the whole is shown below it.
const maxParam = 240

// english has a sentence for each code. The page has the same ones, and those of
// its other languages, in frontend/src/i18n/*/asks.json.
func english(c Code) (string, bool) {
	s, ok := all()[c]
	return s, ok
}

// Count is how many there are.
func Count() int { return len(all()) }

func all() map[Code]string {
	return map[Code]string{
		"command":       "{who} wants to run a command",
		"command.names": "{who} wants to run a command that starts {programs}",
		"command.write": "{who} wants to run a command that starts {programs} and writes to {files}",
		"write":         "{who} wants to write to {files}",
		"program":       "{who} wants to run {program} in {folder}",
		"list":          "{who} wants to list {paths}",
		"read":          "{who} wants to read {paths}",
		"size":          "{who} wants to see how large {paths} is",
		"search":        "{who} wants to search for {text} in {paths}",
		"find":          "{who} wants to look for files in {paths}",
		"look":          "{who} wants to look something up about this computer ({program})",
		"git.look":      "{who} wants to look at the history or the state of a project ({program}) in {folder}",
		"copy":          "{who} wants to copy {paths} to {to}",
		"move":          "{who} wants to move or rename {paths} to {to}",
		"delete":        "{who} wants to delete {paths}",
		"delete.all":    "{who} wants to delete {paths}, with all that is in it",
		"folder.make":   "{who} wants to make the folder {paths}",
		"touch":         "{who} wants to make a file or set its time: {paths}",
		"rights":        "{who} wants to change who may use {paths}",
		"end":           "{who} wants to end programs that run: {which}",
		"type":          "{who} wants to type into a program that runs: {program}",
		"client":        "The program {who} wants to run a command",
		"device.run":    "{who} wants to run a command on another machine, {device}",
		"device":        "{who} wants to use the device {device}: {what}",
		"file.read":     "{who} wants to read {paths}",
		"file.make":     "{who} wants to make the file {paths}",
		"file.change":   "{who} wants to change the file {paths}",
		"file.delete":   "{who} wants to delete {paths}",
		"file.folder":   "{who} wants to read what is in {paths}",
		"send":          "{who} wants to write to {to}",
		"send.file":     "{who} wants to send a file to {to}",
		"msg.edit":      "{who} wants to change a message to {to}",
		"msg.delete":    "{who} wants to delete a message of {to}",
		"msg.react":     "{who} wants to put an emoji on a message of {to}",
		"msg.poll":      "{who} wants to make a poll for {to}",
		"msg.pin":       "{who} wants to pin a message of {to}",
		"msg.unpin":     "{who} wants to unpin a message of {to}",
		"msg.read":      "{who} wants to read what was said in {to}",
		"setting":       "{who} wants to change the setting {name}",
		"restart":       "{who} wants to restart Hearth",
		"mcp":           "{who} wants to use {tool} of the MCP server {server}",
		"other":         "{who} wants to do this: {title}",
	}
}

// New is a sentence with parameters as they came, in pairs of name and value; they
// are made safe to show. It panics with a code that has no words: they are constants.
func New(c Code, pairs ...string) Sentence {
	if _, ok := english(c); !ok || len(pairs)%2 != 0 {
		panic("no such sentence: " + string(c))
	}
	s := Sentence{Code: c}
	for i := 0; i+1 < len(pairs); i += 2 {
		s = s.With(pairs[i], show(pairs[i+1]))
	}
	return s
}

// With is the sentence with one parameter more, which is safe to show.
func (s Sentence) With(name, shown string) Sentence {
	s.Params = maps.Clone(s.Params)
	if s.Params == nil {
		s.Params = map[string]string{}
	}
	s.Params[name] = shown
	return s
}

// By is the sentence about somebody with a name, which a person gave: letters of
// every script stay, what cannot be seen does not.
func (s Sentence) By(name string) Sentence {
	name = strings.TrimSpace(name)
	if name == "" || !utf8.ValidString(name) {
		name = assistant
	}
	var b strings.Builder
	for _, r := range name {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return s.With(Who, bound(b.String()))
}

// Sound reports whether the sentence has words for all its parameters.
func (s Sentence) Sound() bool {
	text, ok := english(s.Code)
	if !ok {
		return false
	}
	for _, name := range slots(text) {
		if _, has := s.Params[name]; !has && name != Who {
			return false
		}
	}
	return true
}

// English is the sentence in English.
func (s Sentence) English() string {
	text, ok := english(s.Code)
	if !ok {
		text, _ = english("command")
	}
	params := s.Params
	if params[Who] == "" {
		params = s.With(Who, assistant).Params
	}
	pairs := make([]string, 0, 2*len(params))
	for name, v := range params {
		pairs = append(pairs, "{"+name+"}", v)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// slots are the parameters of a sentence.
func slots(text string) (out []string) {
	for {
		_, after, ok := strings.Cut(text, "{")
		if !ok {
			return out
		}
		name, rest, _ := strings.Cut(after, "}")
		out, text = append(out, name), rest
	}
}

// show makes a value safe to stand in a sentence: one line, nothing invisible.
func show(v string) string {
	return bound(strings.ReplaceAll(plan.Show(v), "\n", `\u{a}`))
}

func bound(v string) string {
	if len(v) <= maxParam {
		return v
	}
	return strings.ToValidUTF8(v[:maxParam], "") + "…"
}

// Path is an absolute path as people write it, in quotes where it could be
// taken for something else.
func Path(path, home string) string {
	if home != "" && filepath.IsAbs(path) {
		for _, h := range []string{home, real(home)} {
			if rel, err := filepath.Rel(h, path); err == nil && filepath.IsLocal(rel) {
				path = filepath.Join("~", rel)
				break
			}
		}
	}
	s := show(path)
	if strings.ContainsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '\'' || r == '"' || r == '(' || r == ')' }) {
		return "“" + s + "”"
	}
	return s
}

func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}
