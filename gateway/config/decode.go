package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Issue points at one place of the file and says what is wrong there and what
// to do.
type Issue struct {
	Path    string
	Message string
	Line    int
	Column  int
	Idle    bool // of a warning: the key has no effect, as Hearth does not know it or not use it yet
}

func (i Issue) String() string {
	switch {
	case i.Line == 0:
		return i.Message
	case i.Path == "":
		return fmt.Sprintf("line %d, column %d: %s", i.Line, i.Column, i.Message)
	}
	return fmt.Sprintf("line %d, column %d (%s): %s", i.Line, i.Column, i.Path, i.Message)
}

// maxIssues bounds what one file can make us say.
const maxIssues = 50

// decoder turns a document into a Config. An issue makes the whole file
// invalid; a warning does not.
type decoder struct {
	doc      *document
	env      func(string) (string, bool)
	sections Sections
	path     Path
	issues   []Issue
	wrong    []Path // where the issues are
	warnings []Issue
	doubts   []Issue // what a value may be in a file, and not when it is written now

	bound []*bound        // the sections at this reading
	tree  *branch         // where they are
	off   map[string]bool // features that the file switches off
	late  []func()        // what is read when the rest of its object was
}

// field is a known key of an object; a nil read marks one that other versions
// know and this one keeps without using it.
type field struct {
	name string
	read func(*node)
}

func later(names ...string) []field {
	fs := make([]field, len(names))
	for i, n := range names {
		fs[i].name = n
	}
	return fs
}

func (d *decoder) issue(at int, format string, args ...any) {
	d.issues = d.add(d.issues, at, fmt.Sprintf(format, args...))
	if len(d.wrong) < maxIssues {
		d.wrong = append(d.wrong, slices.Clone(d.path))
	}
}

func (d *decoder) warn(at int, format string, args ...any) {
	d.warnings = d.add(d.warnings, at, fmt.Sprintf(format, args...))
}

// idle says of the warning about the key at hand, if there was still room for it, that
// the key has no effect.
func (d *decoder) idle() {
	if n := len(d.warnings); n > 0 && d.warnings[n-1].Path == d.path.shown() {
		d.warnings[n-1].Idle = true
	}
}

func (d *decoder) add(list []Issue, at int, msg string) []Issue {
	if len(list) >= maxIssues {
		return list
	}
	line, col := position(d.doc.src, at)
	return append(list, Issue{Path: d.path.shown(), Message: msg, Line: line, Column: col})
}

func (d *decoder) wrongKind(n *node, want string) {
	if n.kind == kindNull {
		d.issue(n.start, "expected %s, found null; remove the key to get its default", want)
		return
	}
	d.issue(n.start, "expected %s, found %s", want, n.kind)
}

// object hands every member to its field and reports the unknown ones.
func (d *decoder) object(n *node, fields ...field) {
	if n.kind != kindObject {
		d.wrongKind(n, kindObject.String())
		return
	}
	if at := d.tree.find(d.path); at != nil {
		fields = d.sectionFields(at, fields)
		defer d.whole(n, at, len(d.issues))
	}
	before := len(d.late)
	for _, it := range n.items {
		d.path = append(d.path, Key(it.key))
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == it.key })
		switch {
		case i < 0:
			d.warn(it.keyStart, "%s", unknownKey(it.key, fields))
			d.idle()
		case fields[i].read == nil:
			d.warn(it.keyStart, "this version of Hearth does not use this key yet; it is kept as it is")
			d.idle()
		default:
			fields[i].read(it.value)
		}
		d.path = d.path[:len(d.path)-1]
	}
	for _, read := range d.late[before:] {
		read()
	}
	d.late = d.late[:before]
}

const unknownWords = "this key is not known and has no effect"

func unknownKey(key string, fields []field) string {
	if near := nearest(key, fields); near != "" {
		return unknownWords + "; did you mean " + near + "?"
	}
	return unknownWords + "; it is kept as it is"
}

// each walks the members of an object whose keys are names that people choose.
func (d *decoder) each(n *node, read func(key string, keyAt int, v *node)) {
	if n.kind != kindObject {
		d.wrongKind(n, kindObject.String())
		return
	}
	for _, it := range n.items {
		d.path = append(d.path, Key(it.key))
		read(it.key, it.keyStart, it.value)
		d.path = d.path[:len(d.path)-1]
	}
}

func (d *decoder) list(n *node, read func(*node)) {
	if n.kind != kindArray {
		d.wrongKind(n, kindArray.String())
		return
	}
	for i, it := range n.items {
		d.path = append(d.path, Index(i))
		read(it.value)
		d.path = d.path[:len(d.path)-1]
	}
}

// text reads a text of at most limit bytes without control characters.
// ${NAME} takes the value of an environment variable.
func (d *decoder) text(n *node, limit int) string {
	if n.kind != kindString {
		d.wrongKind(n, "a text in quotation marks")
		return ""
	}
	s := d.short(n, limit)
	if strings.ContainsFunc(s, isControl) {
		d.issue(n.start, "line breaks and control characters are not allowed here")
		return ""
	}
	return s
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f }

// lines is text that may have several lines.
func (d *decoder) lines(n *node, limit int) string {
	if n.kind != kindString {
		d.wrongKind(n, "a text in quotation marks")
		return ""
	}
	s := d.short(n, limit)
	if strings.ContainsFunc(s, func(r rune) bool { return isControl(r) && r != '\n' && r != '\r' && r != '\t' }) {
		d.issue(n.start, "control characters are not allowed here")
		return ""
	}
	return s
}

// short is a text with the variables in it, when it is no longer than that.
func (d *decoder) short(n *node, limit int) string {
	s := d.expand(n)
	if len(s) > limit {
		d.issue(n.start, "this text is longer than %d bytes", limit)
		return ""
	}
	return s
}

// filled is text that may not be empty.
func (d *decoder) filled(n *node, limit int) string {
	if n.kind == kindString && strings.TrimSpace(n.text) == "" {
		d.issue(n.start, "this may not be empty; remove the key to get its default")
		return ""
	}
	return d.text(n, limit)
}

// expand replaces ${NAME}; $${NAME} stands for the text itself.
func (d *decoder) expand(n *node) string {
	var b strings.Builder
	rest := n.text
	for {
		i := strings.Index(rest, "${")
		if i < 0 {
			b.WriteString(rest)
			return b.String()
		}
		name, tail, ok := strings.Cut(rest[i+2:], "}")
		if !ok || !envName(name) {
			b.WriteString(rest[:i+2])
			rest = rest[i+2:]
			continue
		}
		if i > 0 && rest[i-1] == '$' {
			b.WriteString(rest[:i-1] + "${" + name + "}")
			rest = tail
			continue
		}
		v, set := "", false
		if d.env != nil {
			v, set = d.env(name)
		}
		if !set || v == "" {
			d.warn(n.start, "the environment variable %s is not set; set it before you start Hearth, or write the value here", name)
		}
		b.WriteString(rest[:i] + v)
		rest = tail
	}
}

func envName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 128
}

func (d *decoder) choice(n *node, allowed ...string) string {
	if n.kind != kindString {
		d.wrongKind(n, "one of "+strings.Join(allowed, ", "))
		return ""
	}
	if !slices.Contains(allowed, n.text) {
		d.issue(n.start, "this is not a known choice; allowed: %s", strings.Join(allowed, ", "))
		return ""
	}
	return n.text
}

func (d *decoder) integer(n *node, lo, hi int) int {
	if n.kind != kindNumber {
		d.wrongKind(n, fmt.Sprintf("a whole number from %d to %d", lo, hi))
		return lo
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil || f != math.Trunc(f) || f < float64(lo) || f > float64(hi) {
		d.issue(n.start, "expected a whole number from %d to %d", lo, hi)
		return lo
	}
	return int(f)
}

// clamped reads a number and moves one that is out of bounds to the nearest.
func (d *decoder) clamped(n *node, lo, hi int) int {
	if n.kind != kindNumber {
		d.wrongKind(n, "a whole number")
		return lo
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil || f != math.Trunc(f) {
		d.issue(n.start, "expected a whole number")
		return lo
	}
	out := int(min(max(f, float64(lo)), float64(hi)))
	if float64(out) != f {
		d.warn(n.start, "this is outside of %d to %d; %d is used", lo, hi, out)
	}
	return out
}

// number is from lo, or where above is true greater than lo, up to hi.
func (d *decoder) number(n *node, lo, hi float64, above bool) float64 {
	if n.kind != kindNumber {
		d.wrongKind(n, "a number")
		return 0
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil || math.IsNaN(f) || f < lo || above && f == lo || f > hi {
		if above {
			d.issue(n.start, "expected a number greater than %s, %s at most", plain(lo), plain(hi))
		} else {
			d.issue(n.start, "expected a number from %s, %s at most", plain(lo), plain(hi))
		}
		return 0
	}
	return f
}

// plain is a number as people write it, without an exponent.
func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func (d *decoder) boolean(n *node) bool {
	if n.kind != kindBool {
		d.wrongKind(n, kindBool.String())
		return false
	}
	return n.text == "true"
}

// nearest finds the known key that a mistyped one probably means.
func nearest(key string, fields []field) string {
	best, bestDist := "", 3
	for _, f := range fields {
		if strings.EqualFold(f.name, key) {
			return f.name
		}
		if dist := distance(strings.ToLower(key), strings.ToLower(f.name)); dist < bestDist && dist*3 <= len(f.name) {
			best, bestDist = f.name, dist
		}
	}
	return best
}

// distance is the number of changes that turn a into b (a swap of neighbours
// counts as one). Keys are short; a long one is never near.
func distance(a, b string) int {
	if len(a) > 40 || len(b) > 40 {
		return 40
	}
	var d [41][41]int
	for i := 0; i <= len(a); i++ {
		for j := 0; j <= len(b); j++ {
			if i == 0 || j == 0 {
				d[i][j] = i + j
				continue
			}
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
