package sentence

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
)

func itoa(n int) string { return strconv.Itoa(n) }

// recipe is how the arguments of a program are read: letters are its options that
// take no argument, words the long ones. What is not listed is not understood.
type recipe struct {
	code        Code
	letters     string
	words       []string
	numbers     string // letters that take a number
	least, most int    // words beside the options; most 0: any number
	first, last string // the parameter that the first or the last word is
	more        string // with one of these letters it is moreCode
	moreCode    Code
	plain       func(name string, args []string, dir, home string) (Sentence, bool)
}

// recipes is what is known of the programs that change or show files.
func recipes(name string) (recipe, bool) {
	r, ok := map[string]recipe{
		"ls": {code: "list", letters: "aAlhrtSRFGgnodi1pxXUCksBNqQLHc",
			words: []string{"--all", "--almost-all", "--recursive", "--human-readable", "--color"}},
		"cat":      {code: "read", letters: "bnsAEevTtu", words: []string{"--number"}, least: 1},
		"head":     {code: "read", letters: "qv", numbers: "nc", least: 1},
		"tail":     {code: "read", letters: "qv", numbers: "nc", least: 1},
		"wc":       {code: "read", letters: "clmwL", least: 1},
		"stat":     {code: "read", letters: "Lt", least: 1},
		"du":       {code: "size", letters: "shackmx", numbers: "d", words: []string{"--human-readable", "--summarize"}},
		"grep":     {code: "search", letters: "rRinlLwcEFovHhsqIxaP", numbers: "ABCm", least: 2, first: "text"},
		"find":     {plain: find},
		"cp":       {code: "copy", letters: "aRrpvnuifdPLH", least: 2, last: "to"},
		"mv":       {code: "move", letters: "fivnu", least: 2, last: "to"},
		"rm":       {code: "delete", letters: "rRfivdI", words: []string{"--recursive", "--force"}, least: 1, more: "rR", moreCode: "delete.all"},
		"rmdir":    {code: "delete", letters: "pv", least: 1},
		"unlink":   {code: "delete", least: 1, most: 1},
		"mkdir":    {code: "folder.make", letters: "pv", least: 1},
		"touch":    {code: "touch", letters: "acm", least: 1},
		"chmod":    {plain: rights},
		"chown":    {plain: rights},
		"kill":     {plain: ends},
		"git":      {plain: git},
		"df":       {plain: look},
		"date":     {plain: look},
		"uname":    {plain: look},
		"uptime":   {plain: look},
		"whoami":   {plain: look},
		"id":       {plain: look},
		"free":     {plain: look},
		"nproc":    {plain: look},
		"lscpu":    {plain: look},
		"lsblk":    {plain: look},
		"hostname": {plain: look},
		"ps":       {plain: look},
		"who":      {plain: look},
		"users":    {plain: look},
	}[name]
	return r, ok
}

// read parts the options from the other words. options holds the letters that
// were given; long options count as their first letter.
func (r recipe) read(args []string) (options string, rest []string, ok bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return options, append(rest, args[i+1:]...), true
		case strings.HasPrefix(a, "--"):
			if !slices.Contains(r.words, a) {
				return "", nil, false
			}
			options += a[2:3]
		case len(a) > 1 && a[0] == '-':
			number, known := r.cluster(a[1:])
			if !known {
				return "", nil, false
			}
			options += a[1:]
			if number { // the number is the next word
				if i++; i >= len(args) || !digits(args[i]) {
					return "", nil, false
				}
			}
		default:
			rest = append(rest, a)
		}
	}
	return options, rest, true
}

// cluster reads the letters behind a dash. number: the next word belongs to it.
func (r recipe) cluster(s string) (number, known bool) {
	for i, c := range s {
		switch {
		case strings.ContainsRune(r.numbers, c):
			return i+1 == len(s), i+1 == len(s) || digits(s[i+1:])
		case r.numbers != "" && i == 0 && digits(s): // head -5
			return false, true
		case !strings.ContainsRune(r.letters, c):
			return false, false
		}
	}
	return false, true
}

func digits(s string) bool {
	return s != "" && !strings.ContainsFunc(strings.TrimPrefix(s, "+"), func(r rune) bool { return r < '0' || r > '9' })
}

// find looks; the plan doubts what starts programs and names what writes.
func find(_ string, args []string, dir, home string) (Sentence, bool) {
	var in []string
	for i, a := range args {
		if strings.HasPrefix(a, "-files0") || a == plan.Unknown {
			return Sentence{}, false
		}
		if strings.HasPrefix(a, "-") || a == "(" || a == "!" {
			if slices.ContainsFunc(args[i:], func(a string) bool { return strings.HasPrefix(a, "-files0") || a == plan.Unknown }) {
				return Sentence{}, false
			}
			break
		}
		in = append(in, absolute(a, dir))
	}
	if len(in) == 0 {
		in = []string{dir}
	}
	return New("find").With("paths", paths(in, home)), true
}

// rights is chmod and chown: who, then what.
func rights(_ string, args []string, dir, home string) (Sentence, bool) {
	_, rest, ok := recipe{letters: "Rvcf"}.read(args)
	if !ok || len(rest) < 2 || slices.Contains(rest, plan.Unknown) {
		return Sentence{}, false
	}
	var of []string
	for _, p := range rest[1:] {
		of = append(of, absolute(p, dir))
	}
	return New("rights").With("paths", paths(of, home)), true
}

func ends(_ string, args []string, _, _ string) (Sentence, bool) {
	if len(args) == 0 || slices.Contains(args, plan.Unknown) {
		return Sentence{}, false
	}
	return New("end", "which", strings.Join(args, " ")), true
}

// git is what the plan knows of it: it looks.
func git(name string, args []string, dir, home string) (Sentence, bool) {
	if len(args) > 0 && args[0] == "--no-pager" {
		args = args[1:]
	}
	if len(args) == 0 || !word(args[0]) {
		return Sentence{}, false
	}
	return New("git.look", "program", name+" "+args[0]).With("folder", Path(dir, home)), true
}

// look is a fact about this computer; arguments that are no options might be
// what to set.
func look(name string, args []string, _, _ string) (Sentence, bool) {
	for _, a := range args {
		option := strings.HasPrefix(a, "-") && !strings.Contains(a, "=") && (name != "date" && name != "hostname")
		if !option && (name != "date" || !strings.HasPrefix(a, "+") && a != "-u" && a != "-R") && (name != "ps" || !word(a)) {
			return Sentence{}, false
		}
	}
	return New("look", "program", name), true
}
