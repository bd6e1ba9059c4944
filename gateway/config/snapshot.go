package config

import (
	"github.com/hearth-assistant/hearth/gateway/protocol"

	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Origin says where the settings in use come from.
type Origin string

const (
	FromFile     Origin = "file"      // the file as it is on disk
	FromDefaults Origin = "defaults"  // there is no file, or no usable one
	FromLastGood Origin = "last-good" // the file is broken; the kept copy is used
	FromRunning  Origin = "running"   // the file is broken or gone; what ran before goes on
	FromPart     Origin = "part"      // some settings of the file are wrong; the others are used
)

// Snapshot is the file and the settings in use at one moment. It never changes.
type Snapshot struct {
	Path     string
	Exists   bool
	Valid    bool    // what is on disk is in use (a missing file is valid)
	Raw      string  // what is on disk, secrets included: never send it, see Redacted
	Hash     string  // SHA-256 of Raw, the baseHash of an edit
	Config   Config  // the settings in use
	Origin   Origin  // where Config comes from
	Issues   []Issue // why the file is not in use
	Warnings []Issue

	doc      *document // of Raw; nil when it does not parse
	known    *known
	part     *Config // what can be used of a file that has issues; nil when nothing can
	doubtful []Issue // what would be wrong if it were written now
}

// Redacted is a snapshot that may be shown: secrets are replaced by
// RedactedMarker. Raw is nil when the file does not parse, because then
// nobody can tell where its secrets are.
type Redacted struct {
	Raw    *string
	Parsed json.RawMessage // the file as standard JSON; null when it does not parse
	Config json.RawMessage // the settings in use
}

// Redacted returns what may be shown of the snapshot.
func (s *Snapshot) Redacted() (Redacted, error) {
	r := Redacted{Parsed: json.RawMessage("null")}
	cfg, err := json.Marshal(s.Config)
	if err != nil {
		return r, fmt.Errorf("show the settings in use: %w", err)
	}
	r.Config = cfg
	if s.doc == nil {
		if !s.Exists {
			empty := ""
			r.Raw, r.Parsed = &empty, json.RawMessage("{}")
		}
		return r, nil
	}
	raw := s.doc.redacted(s.known)
	shown, err := parseObject(raw)
	if err != nil {
		return r, fmt.Errorf("hide the secrets of the settings: %w", err)
	}
	r.Raw, r.Parsed = &raw, shown.standard()
	return r, nil
}

// Get returns the value that the file sets at a path, as standard JSON with
// secrets replaced; ok is false when the file does not set it.
func (s *Snapshot) Get(path string) (value json.RawMessage, ok bool, err error) {
	p, err := ParsePath(path)
	if err != nil || s.doc == nil {
		return nil, false, err
	}
	shown, err := parseObject(s.doc.redacted(s.known))
	if err != nil {
		return nil, false, fmt.Errorf("hide the secrets of the settings: %w", err)
	}
	n, ok := shown.find(p)
	if !ok {
		return nil, false, nil
	}
	return appendJSON(nil, n), true, nil
}

// Problem is something about the file that a person should know.
type Problem = protocol.Problem

// Codes of problems.
const (
	ProblemBroken   = "CONFIG_BROKEN"
	ProblemMissing  = "CONFIG_MISSING"
	ProblemAccess   = "CONFIG_PERMISSIONS"
	ProblemWarnings = "CONFIG_WARNINGS"
)

// Problems lists what is not well with the file, in plain words.
func (s *Snapshot) Problems() []Problem {
	var out []Problem
	name := filepath.Base(s.Path)
	if !s.Valid && len(s.Issues) > 0 {
		used := "was not used"
		if s.Origin == FromPart {
			used = "was used in part"
		}
		msg := fmt.Sprintf("%s %s: %s.", name, used, s.Issues[0])
		if more := len(s.Issues) - 1; more > 0 {
			msg = fmt.Sprintf("%s %s: %s (and %d more: `hearth config check`).", name, used, s.Issues[0], more)
		}
		code := ProblemBroken
		if !s.Exists {
			code = ProblemMissing
		}
		out = append(out, Problem{Code: code, Message: msg + " " + s.fallback()})
	}
	for _, w := range s.Warnings {
		code := ProblemWarnings
		if w.Line == 0 {
			code = ProblemAccess
		}
		out = append(out, Problem{Code: code, Message: name + ": " + sentence(w.String())})
	}
	return out
}

// sentence ends a text that does not end by itself.
func sentence(s string) string {
	if strings.HasSuffix(s, "?") || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// fallback says what runs instead and what to do.
func (s *Snapshot) fallback() string {
	const fix = "Your file was left as it is: correct it in " // and it is read again
	what := ""
	switch s.Origin {
	case FromLastGood:
		what = "Hearth runs on the last good copy of it. "
	case FromPart:
		what = "What is wrong there has its default, everything else holds. "
	case FromRunning:
		what = "Hearth goes on with the settings it had before. "
	default:
		what = "Hearth runs on its defaults. "
	}
	if !s.Exists {
		return what
	}
	return what + fix + s.Path + ", it is read again as soon as you save it."
}

// mends makes a file with issues usable when one with these issues, or more, is in
// use in part already: whoever corrects it does so step by step. It reports whether
// it is.
func (s *Snapshot) mends(old *Snapshot) bool {
	if old.Origin != FromPart || s.part == nil {
		return false
	}
	for _, i := range s.Issues {
		known := slices.ContainsFunc(old.Issues, func(o Issue) bool { return o.Path == i.Path && o.Message == i.Message })
		if !known || s.textAt(i.Path) != old.textAt(i.Path) {
			return false
		}
	}
	s.Config, s.Origin = *s.part, FromPart
	return true
}

// textAt is what the file writes at a path, "" when it cannot be told.
func (s *Snapshot) textAt(path string) string {
	p, err := ParsePath(path)
	if err != nil || s.doc == nil {
		return ""
	}
	n, ok := s.doc.find(p)
	if !ok {
		return ""
	}
	return s.doc.src[n.start:n.end]
}
