package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
)

// Inspect reads and checks a settings file and touches nothing. The Config of
// a file that is not valid is empty. Of o it takes Env and Sections.
func Inspect(path string, o Options) (*Snapshot, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	c, err := readFile(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, opts: Options{Logger: slog.New(slog.DiscardHandler), Env: o.Env, Sections: o.Sections}}
	return f.judge(c), nil
}

// Read judges a text as if it were the file. Of o it takes Env and
// Sections.
func Read(text string, o Options) *Snapshot {
	f := &File{opts: Options{Logger: slog.New(slog.DiscardHandler), Env: o.Env, Sections: o.Sections}}
	return f.judge(content{raw: text, exists: true})
}

// InUse returns the value at a path with defaults filled in, as standard JSON
// with secrets replaced; ok is false when there is no such setting.
func (s *Snapshot) InUse(path string) (value json.RawMessage, ok bool, err error) {
	p, err := ParsePath(path)
	if err != nil {
		return nil, false, err
	}
	b, err := json.Marshal(s.Config)
	if err != nil {
		return nil, false, fmt.Errorf("show the settings in use: %w", err)
	}
	doc, err := parseObject(string(b))
	if err != nil {
		return nil, false, fmt.Errorf("show the settings in use: %w", err)
	}
	n, ok := doc.find(p)
	if !ok {
		return nil, false, nil
	}
	return appendJSON(nil, n), true, nil
}

// Unknown says why nobody reads a setting, with what may be meant; "" when it is
// known, or is a name that people choose.
func Unknown(path string, o Options) string {
	p, err := ParsePath(path)
	if err != nil || len(p) == 0 {
		return ""
	}
	patch, ok, err := PathPatch(path, "0")
	if err != nil || !ok {
		return ""
	}
	doc, err := parseObject(patch)
	if err != nil {
		return ""
	}
	d := &decoder{doc: doc, env: func(string) (string, bool) { return "", false }, sections: o.Sections}
	d.decode()
	for _, w := range d.warnings {
		if strings.HasPrefix(w.Message, unknownWords) && strings.HasPrefix(p.String(), w.Path) {
			return w.Path + ": " + w.Message
		}
	}
	return ""
}

// PathPatch is the merge patch that sets one value, written as JSON5. ok is
// false when a merge patch cannot say it: a path with an index, or an object
// as the value, which would be merged instead of set.
func PathPatch(path, value string) (patch string, ok bool, err error) {
	p, err := ParsePath(path)
	if err != nil {
		return "", false, err
	}
	v, err := parse(value)
	if err != nil {
		return "", false, fmt.Errorf("the value for %s is not valid: %w", p, err)
	}
	if v.root.kind == kindObject || len(p) == 0 {
		return "", false, nil
	}
	b := appendJSON(nil, v.root)
	for i := len(p) - 1; i >= 0; i-- {
		if p[i].index >= 0 {
			return "", false, nil
		}
		b = append(appendString([]byte{'{'}, p[i].key), append([]byte{':'}, append(b, '}')...)...)
	}
	return string(b), true, nil
}
