package file

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/internal/text"
)

// section is what a patch says about one file.
type section struct {
	kind  sectionKind
	path  string
	to    string // update: the file's new path, "" = it stays
	text  string // add
	hunks []hunk // update
}

type sectionKind int

const (
	addFile sectionKind = iota + 1
	updateFile
	deleteFile
)

// hunk is one place in a file.
type hunk struct {
	before   string   // a line that stands somewhere above, "" = none
	old, new []string // lines with those around
	keep     []int    // of new: which line of old it is, -1 = none
	atEnd    bool
}

var errNoPatch = errors.New(`the input is no patch: it must begin with "*** Begin Patch" and end with "*** End Patch"`)

// parsePatch reads a whole patch.
func parsePatch(input string) ([]section, error) {
	input = strings.TrimSpace(toLF(input))
	lines := strings.Split(input, "\n")
	if strings.HasPrefix(lines[0], "<<") && len(lines) > 2 { // a shell's here-document
		lines = lines[1 : len(lines)-1]
	}
	if len(lines) < 2 || strings.TrimSpace(lines[0]) != "*** Begin Patch" || strings.TrimSpace(lines[len(lines)-1]) != "*** End Patch" {
		return nil, errNoPatch
	}
	r := &patchReader{lines: lines[:len(lines)-1], at: 1}
	var out []section
	for r.at < len(r.lines) {
		if strings.TrimSpace(r.lines[r.at]) == "" {
			r.at++
			continue
		}
		s, err := r.section()
		if err != nil {
			return nil, fmt.Errorf("line %d of the patch: %w", r.at+1, err)
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, errors.New("the patch names no file")
	}
	return out, nil
}

type patchReader struct {
	lines []string
	at    int
}

func (r *patchReader) section() (section, error) {
	line := r.lines[r.at]
	for kind, head := range map[sectionKind]string{addFile: "*** Add File: ", updateFile: "*** Update File: ",
		deleteFile: "*** Delete File: "} {
		name, ok := strings.CutPrefix(line, head)
		if !ok {
			continue
		}
		r.at++
		s := section{kind: kind, path: strings.TrimSpace(name)}
		var err error
		switch kind {
		case addFile:
			s.text, err = r.added()
		case updateFile:
			err = r.updated(&s)
		}
		return s, err
	}
	return section{}, fmt.Errorf("%q is not expected here; a part begins with *** Add File:, *** Update File: or *** Delete File:",
		text.Ellipsis(line, 200))
}

// more reports whether the next line still belongs to the section.
func (r *patchReader) more() bool {
	return r.at < len(r.lines) && (!strings.HasPrefix(r.lines[r.at], "*** ") || r.lines[r.at] == endOfFile)
}

const endOfFile = "*** End of File"

func (r *patchReader) added() (string, error) {
	var b strings.Builder
	for ; r.more(); r.at++ {
		line, ok := strings.CutPrefix(r.lines[r.at], "+")
		switch {
		case ok:
			b.WriteString(line + "\n")
		case strings.TrimSpace(r.lines[r.at]) != "":
			return "", fmt.Errorf("each line of a new file begins with +, this one does not: %q", text.Ellipsis(r.lines[r.at], 200))
		}
	}
	return b.String(), nil
}

func (r *patchReader) updated(s *section) error {
	if r.at < len(r.lines) {
		if to, ok := strings.CutPrefix(r.lines[r.at], "*** Move to:"); ok {
			if s.to = strings.TrimSpace(to); s.to == "" {
				return errors.New("*** Move to: names no file")
			}
			r.at++
		}
	}
	for r.more() {
		if strings.TrimSpace(r.lines[r.at]) == "" && !r.inHunk() {
			r.at++
			continue
		}
		h, err := r.hunk(len(s.hunks) == 0)
		if err != nil {
			return err
		}
		s.hunks = append(s.hunks, h)
	}
	if len(s.hunks) == 0 && s.to == "" {
		return fmt.Errorf("the part for %s changes nothing", s.path)
	}
	return nil
}

// inHunk looks past empty lines for more of this section.
func (r *patchReader) inHunk() bool {
	for i := r.at; i < len(r.lines); i++ {
		if strings.TrimSpace(r.lines[i]) != "" {
			return !strings.HasPrefix(r.lines[i], "*** ") && !strings.HasPrefix(r.lines[i], "@@")
		}
	}
	return false
}

func (r *patchReader) hunk(first bool) (hunk, error) {
	var h hunk
	switch head, ok := strings.CutPrefix(r.lines[r.at], "@@"); {
	case ok:
		h.before = strings.TrimPrefix(head, " ")
		if strings.HasPrefix(h.before, "-") && strings.HasSuffix(h.before, "@@") { // line numbers of a common diff
			h.before = ""
		}
		r.at++
	case !first:
		return h, fmt.Errorf("%q is not expected here; a place begins with @@", text.Ellipsis(r.lines[r.at], 200))
	}
	changes := false
	for ; r.more() && !strings.HasPrefix(r.lines[r.at], "@@"); r.at++ {
		line := r.lines[r.at]
		switch {
		case line == endOfFile:
			h.atEnd = true
		case line == "" || line[0] == ' ':
			line = strings.TrimPrefix(line, " ")
			h.old, h.new, h.keep = append(h.old, line), append(h.new, line), append(h.keep, len(h.old))
		case line[0] == '-':
			h.old, changes = append(h.old, line[1:]), true
		case line[0] == '+':
			h.new, h.keep, changes = append(h.new, line[1:]), append(h.keep, -1), true
		default:
			return h, fmt.Errorf("each line begins with a space, - or +, this one does not: %q", text.Ellipsis(line, 200))
		}
	}
	if !changes {
		return h, errors.New("a place has no line with - or +")
	}
	return h, nil
}
