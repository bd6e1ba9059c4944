package guide

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pretty"
	"github.com/hearth-assistant/hearth/internal/text"
)

// maxShown bounds how much of a tool result is shown.
const maxShown = 16 << 10

// toolRequest understands "/tool name {json}" and "call name {json}"; ok is
// false when the person wants something else.
func (g *guide) toolRequest(c conversation) (r reply, ok bool) {
	said := strings.TrimSpace(c.user)
	rest, command := strings.CutPrefix(said, "/tool")
	if command && rest != "" && !strings.ContainsAny(rest[:1], " \t\n") {
		command = false // another command, such as /tools
	}
	if !command {
		if rest, ok = afterVerb(said); !ok {
			return reply{}, false
		}
	}
	name, args, known := c.splitCall(rest)
	if !known && !command {
		return reply{}, false
	}
	if name == "" {
		return say("Write `/tool NAME {\"argument\": \"value\"}`. %s", c.toolList()), true
	}
	if !known {
		return say("There is no tool called `%s` here. %s", text.Ellipsis(name, 80), c.toolList()), true
	}
	object, valid := asObject(args)
	if !valid {
		return say("I did not run `%s`: what stands behind its name is not a JSON object. Write it like this:\n\n```\n"+
			"/tool %s {\"argument\": \"value\"}\n```", name, name), true
	}
	return reply{text: fmt.Sprintf("Running `%s`.", name), call: c.call(name, object)}, true
}

// afterVerb takes "call", "please use the" and the like off.
func afterVerb(text string) (rest string, ok bool) {
	words := strings.Fields(text)
	for len(words) > 0 {
		switch w := strings.ToLower(words[0]); w {
		case "please", "now", "the", "tool":
		case "call", "run", "use", "invoke", "execute":
			ok = true
		default:
			if !ok {
				return "", false
			}
			return text[strings.Index(text, words[0]):], true
		}
		text = text[strings.Index(text, words[0])+len(words[0]):]
		words = words[1:]
	}
	return "", false
}

// splitCall separates the tool's name from its arguments.
func (c conversation) splitCall(s string) (name, args string, known bool) {
	s = strings.TrimSpace(s)
	end := strings.IndexAny(s, " \t\n{")
	if end < 0 {
		end = len(s)
	}
	name, args = strings.TrimRight(s[:end], ".,!?:"), strings.TrimSpace(s[end:])
	for _, filler := range []string{"tool", "with"} {
		args = strings.TrimSpace(strings.TrimPrefix(args, filler))
	}
	known = slices.ContainsFunc(c.tools, func(t model.ToolSpec) bool { return t.Name == name })
	return name, strings.TrimRight(args, ".!? "), known
}

func asObject(args string) (json.RawMessage, bool) {
	if args == "" {
		return json.RawMessage("{}"), true
	}
	var b bytes.Buffer
	if args[0] != '{' || json.Compact(&b, []byte(args)) != nil {
		return nil, false
	}
	return b.Bytes(), true
}

// abilities says in plain words what a model could do here with the tools that
// there are. Their names are for who asks for them.
func (c conversation) abilities() string {
	var b strings.Builder
	other := len(c.tools)
	for _, a := range []struct {
		words string
		tools []string
	}{
		{"read and change files in your Hearth folder; elsewhere it asks first", []string{"read", "write", "edit", "apply_patch"}},
		{"run commands, after you have seen them and said yes", []string{"exec", "process"}},
		{"read web pages, and search the web", []string{"web_fetch", "web_search"}},
		{"remember what you tell it, in files that you can read", []string{"memory_search", "memory_get", "memory_note"}},
		{"remind you, and do things at fixed times", []string{reminders}},
		{"look at pictures", []string{"image"}},
		{"write to people that you let in", []string{"message"}},
		{"give parts of the work to helpers, and keep a plan", []string{"sessions_spawn", "sessions_send", "sessions_list", "sessions_history",
			"agents_list", "subagents", "sessions_yield", "update_plan"}},
		{"use your other devices", []string{"nodes", "canvas"}},
		{"tell how this chat stands", []string{"session_status"}},
		{"look after its own settings, when you say so", []string{"gateway"}},
	} {
		has := 0
		for _, t := range c.tools {
			if slices.Contains(a.tools, t.Name) {
				has++
			}
		}
		if has > 0 {
			other -= has
			fmt.Fprintf(&b, "\n- %s", a.words)
		}
	}
	switch {
	case other == 1:
		b.WriteString("\n- use one more tool that was added here")
	case other > 1:
		fmt.Fprintf(&b, "\n- use %d more tools that were added here", other)
	}
	if b.Len() == 0 {
		return ""
	}
	return " It can then\n" + b.String() + "\n\nAsk **which tools are there?** for their names."
}

// toolList names the tools that can be run now.
func (c conversation) toolList() string {
	if len(c.tools) == 0 {
		return "No tools are switched on in this chat."
	}
	var b strings.Builder
	b.WriteString("These tools are here:\n")
	for _, t := range c.tools {
		fmt.Fprintf(&b, "\n- `%s`", t.Name)
		if d := firstSentence(t.Description); d != "" {
			fmt.Fprintf(&b, ": %s", d)
		}
	}
	return b.String()
}

func firstSentence(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if head, _, ok := strings.Cut(s, ". "); ok {
		s = head + "."
	}
	if len(s) > 160 { // a clause that is whole, rather than half a sentence
		if i := strings.LastIndexAny(s[:160], ",;:("); i > 30 {
			s = strings.TrimRight(s[:i], " ,;:(") + "."
		}
	}
	return text.Ellipsis(strings.TrimSuffix(s, ":"), 200)
}

// report shows the results of the tools that the person asked for.
func (g *guide) report(c conversation) reply {
	var b strings.Builder
	for i, r := range c.results {
		if i > 0 {
			b.WriteString("\n\n")
		}
		if said, ok := planned(r); ok {
			b.WriteString(said)
			continue
		}
		if r.IsError {
			fmt.Fprintf(&b, "`%s` did not work. It said:\n\n%s", r.Name, fenced(r.Text))
			continue
		}
		fmt.Fprintf(&b, "`%s` answered:\n\n%s", r.Name, readable(r.Text))
	}
	return reply{text: b.String()}
}

// readable shows a flat JSON object as a list and everything else as it is.
func readable(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return "_nothing_"
	}
	if list, ok := asList(s); ok {
		return list
	}
	if list, ok := asPairs(s); ok {
		return list
	}
	return fenced(string(pretty.JSON([]byte(s), "  ", 2*len(s)+maxShown)))
}

// asList writes the members of a JSON object in their order; ok is false for
// anything else, or if a member is itself a list or an object.
func asList(s string) (list string, ok bool) {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return "", false
	}
	var b strings.Builder
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return "", false
		}
		value, err := dec.Token()
		if _, nested := value.(json.Delim); err != nil || nested {
			return "", false
		}
		fmt.Fprintf(&b, "- **%v**: %s\n", key, plain(value))
	}
	if _, err := dec.Token(); err != nil || dec.More() || b.Len() == 0 || b.Len() > maxShown {
		return "", false
	}
	return strings.TrimRight(b.String(), "\n"), true
}

// asPairs writes lines such as "model: guide" as a list; ok is false when a
// line is anything else.
func asPairs(s string) (list string, ok bool) {
	if len(s) > maxShown {
		return "", false
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		key, value, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found || key == "" || len(key) > 30 || strings.ContainsAny(key, "`*_[]<>{}|\"\\/") {
			return "", false
		}
		fmt.Fprintf(&b, "- **%s**: %s\n", key, inline(value))
	}
	return strings.TrimRight(b.String(), "\n"), true
}

// inline shows a value as it is: as code when it holds Markdown.
func inline(s string) string {
	if strings.ContainsAny(s, "`*_[]<>|\\#") {
		return "`" + strings.ReplaceAll(s, "`", "'") + "`"
	}
	return s
}

func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return "–"
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case string:
		if v == "" {
			return "–"
		}
		return inline(strings.Join(strings.Fields(v), " "))
	}
	return fmt.Sprint(v)
}

// fenced shows text as code, in a fence longer than any it holds.
func fenced(s string) string {
	s = text.Ellipsis(s, maxShown)
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "\n" + s + "\n" + fence
}
