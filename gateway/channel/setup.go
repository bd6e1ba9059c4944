package channel

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Manifest is a file that describes an application to a network, which makes it of
// that; the zero one: the network takes none.
type Manifest struct {
	Name, Text string
	// Fill are the keys of settings, by the words in Text that their values take the place
	// of.
	Fill map[string]string
	// Pack makes the archive that the network takes instead, of a filled Text; nil: it
	// takes the file itself.
	Pack func(text string) ([]byte, error)
}

// Filled is the text with the values of settings, and the keys of those that are missing.
func (m Manifest) Filled(values map[string]string) (text string, missing []string) {
	text = m.Text
	for _, word := range slices.Sorted(maps.Keys(m.Fill)) {
		if v := values[m.Fill[word]]; v != "" {
			text = strings.ReplaceAll(text, word, v)
		} else {
			missing = append(missing, m.Fill[word])
		}
	}
	return text, missing
}

// IsNeeded reports whether no account is connected without a setting.
func (k Kind) IsNeeded(s Setting) bool { return s.Needed || s.Key == k.Connects }

// OneOf are the keys of the settings of which one is needed.
func (k Kind) OneOf() (keys []string) {
	for _, s := range k.Settings {
		if s.OneOf {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// Lacks says what is wrong when none of the settings is typed of which one is needed.
func (k Kind) Lacks(typed map[string]string) (why string) {
	keys := k.OneOf()
	if len(keys) == 0 || slices.ContainsFunc(keys, func(key string) bool { return strings.TrimSpace(typed[key]) != "" }) {
		return ""
	}
	return "one of these is needed: " + strings.Join(keys, ", ")
}

// Answers are the settings of an account as a person typed them, ready for the
// file; secrets are kept elsewhere.
type Answers struct {
	Values  map[string]any    // by their keys
	Secrets map[string]string // likewise
	Wrong   map[string]string // what is wrong with which, for people
}

// Answers reads what a person typed for the settings of an account, by their keys.
func (k Kind) Answers(typed map[string]string) Answers {
	a := Answers{Values: map[string]any{}, Secrets: map[string]string{}, Wrong: map[string]string{}}
	for _, s := range k.Settings {
		value, why := k.Answer(s, typed[s.Key])
		switch {
		case why != "":
			a.Wrong[s.Key] = why
		case value == nil:
		case s.inFile(value):
			a.Values[s.File] = value
		case s.Form == SecretText:
			a.Secrets[s.Key] = value.(string)
		default:
			a.Values[s.Key] = value
		}
	}
	if why := k.Lacks(typed); why != "" {
		a.Wrong[k.OneOf()[0]] = why
	}
	for key := range typed {
		if !slices.ContainsFunc(k.Settings, func(s Setting) bool { return s.Key == key }) {
			a.Wrong[key] = "there is no such setting"
		}
	}
	return a
}

// Answer reads what a person typed for one setting: nil for nothing, and why says
// what is wrong with it.
func (k Kind) Answer(s Setting, typed string) (value any, why string) {
	word := strings.TrimSpace(typed)
	help := s.Help
	if help == "" {
		help = s.About
	}
	fits := func(part string) bool { return s.Valid == nil || s.Valid(part) }
	switch {
	case word == "" && k.IsNeeded(s):
		return nil, "without " + s.Key + " it is not connected"
	case word == "":
		return nil, ""
	case s.inFile(word):
		return word, ""
	case s.Form == OnOff:
		switch strings.ToLower(word) {
		case "y", "yes", "true":
			return true, ""
		case "n", "no", "false":
			return false, ""
		}
		return nil, "type yes or no"
	case s.Form == PortNumber:
		p, err := strconv.Atoi(word)
		if err != nil || p < 1 || p > 65535 {
			return nil, "a port is a number from 1 to 65535"
		}
		return p, ""
	case s.Form == WordList:
		list := parts(word)
		if len(list) == 0 || slices.ContainsFunc(list, func(p string) bool { return !fits(p) }) {
			return nil, help + " (several with a comma between)"
		}
		return list, ""
	case !fits(word):
		return nil, help
	}
	return word, ""
}

// inFile reports whether what was typed for a secret is the path of a file with it.
func (s Setting) inFile(typed any) bool {
	word, ok := typed.(string)
	return ok && s.File != "" && (strings.HasPrefix(word, "/") || strings.HasPrefix(word, "~/"))
}

// parts of a list have commas between them.
func parts(word string) (out []string) {
	for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return r == ',' || r == '\n' }) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
