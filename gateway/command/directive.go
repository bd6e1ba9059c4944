package command

import (
	"slices"
	"strings"
)

// Directive is a level or a model that a message asks for beside what it says,
// for its own answer only: "/think high what is 1+1".
type Directive struct{ Name, Value string }

// isDirective tells the commands that may stand in a message.
func isDirective(name string) bool {
	return name == "think" || name == "verbose" || name == "reasoning" || name == "model"
}

// Directives takes the directives out of what a person typed. One counts where it
// stands by itself and its value is one that it can have; isModel says so of
// models. Anything else stays as it was written, and so does all that is code or
// a quotation. rest is "" where nothing else was said.
func Directives(text string, isModel func(name string) bool) (found []Directive, rest string) {
	lines := strings.Split(text, "\n")
	kept := lines[:0:0]
	fenced := false
	for _, line := range lines {
		t := strings.TrimSpace(line)
		if strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
			fenced = !fenced
		} else if !fenced && !strings.HasPrefix(t, ">") && strings.Contains(t, "/") {
			var of []Directive
			if of, line = inLine(line, isModel); len(of) > 0 && line == "" {
				found = append(found, of...)
				continue
			} else {
				found = append(found, of...)
			}
		}
		kept = append(kept, line)
	}
	if len(found) == 0 {
		return nil, text
	}
	return found, strings.TrimSpace(strings.Join(kept, "\n"))
}

// inLine takes the directives out of one line, which is otherwise left as it is.
func inLine(line string, isModel func(string) bool) (found []Directive, rest string) {
	var b strings.Builder
	done := 0 // of line, is in b
	for at := 0; at < len(line); {
		start, end := wordAt(line, at)
		if start == len(line) {
			break
		}
		at = end
		if strings.Count(line[:start], "`")%2 == 1 { // code
			continue
		}
		d, end, ok := directiveAt(line, start, end, isModel)
		if !ok {
			continue
		}
		found = append(found, d)
		before := strings.TrimRight(line[done:start], " \t")
		after := strings.TrimLeft(line[end:], " \t")
		if b.WriteString(before); b.Len() > 0 && after != "" {
			b.WriteByte(' ')
		}
		done, at = len(line)-len(after), len(line)-len(after)
	}
	if len(found) == 0 {
		return nil, line
	}
	b.WriteString(line[done:])
	return found, b.String()
}

// wordAt is the next word of a line, from at on.
func wordAt(line string, at int) (start, end int) {
	for start = at; start < len(line) && blank(line[start]); start++ {
	}
	for end = start; end < len(line) && !blank(line[end]); end++ {
	}
	return start, end
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// directiveAt reads the directive whose first word is line[start:end], as
// "/think high", "/think:high" or "/think: high", and tells where it ends.
func directiveAt(line string, start, end int, isModel func(string) bool) (d Directive, last int, ok bool) {
	head, found := strings.CutPrefix(line[start:end], "/")
	if !found {
		return d, 0, false
	}
	name, value, _ := strings.Cut(head, ":")
	name, _, _ = strings.Cut(name, "@") // as groups write it
	if name = strings.ToLower(name); !isDirective(name) {
		return d, 0, false
	}
	if last = end; value == "" {
		start, last = wordAt(line, end)
		value = line[start:last]
	}
	for _, v := range []string{value, strings.TrimRight(value, ".,;:!?")} {
		if v, ok = valueOf(name, v, isModel); ok {
			return Directive{name, v}, last, true
		}
	}
	return d, 0, false
}

// valueOf is a value as its command writes it.
func valueOf(name, value string, isModel func(string) bool) (string, bool) {
	if name == "model" {
		return value, value != "" && isModel(value)
	}
	value = strings.ToLower(value)
	return value, slices.Contains(Levels(name), value)
}

// Levels are the values of the directives that have a few ("think", "verbose",
// "reasoning"), the one that clears a level first; nil for all others.
func Levels(name string) []string {
	switch name {
	case "think":
		return []string{"off", "low", "medium", "high"}
	case "verbose":
		return []string{"off", "on", "full"}
	case "reasoning":
		return []string{"off", "on", "stream"}
	}
	return nil
}
