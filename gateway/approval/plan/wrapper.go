package plan

import "strings"

// grammar is how a wrapper's own arguments end. Options not in it are not
// understood, and neither is what comes after them.
type grammar struct {
	flags    string   // letters without a value
	values   string   // letters with one
	long     []string // --name, or --name= with a value
	operands int      // words between the options and the program
	doubt    string   // why it is never known, even when its program is
}

var wrappers = map[string]grammar{
	"env":   {},
	"nice":  {values: "n", long: []string{"--adjustment="}},
	"nohup": {},
	"timeout": {flags: "v", values: "ks", long: []string{"--kill-after=", "--signal=", "--preserve-status", "--foreground", "--verbose"},
		operands: 1},
	"stdbuf":  {values: "ioe", long: []string{"--input=", "--output=", "--error="}},
	"setsid":  {flags: "cfw", long: []string{"--ctty", "--fork", "--wait"}},
	"ionice":  {flags: "t", values: "cn", long: []string{"--class=", "--classdata=", "--ignore"}},
	"chrt":    {flags: "bfiorRv", long: []string{"--batch", "--fifo", "--idle", "--other", "--rr", "--verbose"}, operands: 1},
	"taskset": {flags: "c", long: []string{"--cpu-list"}, operands: 1},
	"time":    {flags: "p"},
	"flock": {flags: "sxeuno", values: "wE", long: []string{"--shared", "--exclusive", "--nonblock", "--nb", "--wait=", "--timeout=",
		"--close", "--no-fork"}, operands: 1},
	"xargs": {flags: "0rtx", values: "nLPIds", long: []string{"--null", "--no-run-if-empty", "--max-args=", "--max-procs=", "--delimiter="},
		doubt: "xargs takes arguments from its input, so they are decided only when it runs"},
}

// wrapped notes what a wrapper starts.
func (w *walker) wrapped(name string, argv []string, depth int) {
	g, ok := wrappers[name]
	if !ok {
		w.doubt("wrapper", Show(name)+" starts another program in a way that Hearth does not read")
		return
	}
	rest, ok := g.skip(argv[1:])
	if !ok {
		w.doubt("wrapper", Show(name)+" has options that Hearth does not read, so what it starts is not known")
		return
	}
	if name == "env" {
		rest = w.envWords(rest)
	}
	if g.doubt != "" {
		w.doubt("wrapper", g.doubt)
	}
	if len(rest) == 0 {
		if name != "env" {
			w.doubt("wrapper", Show(name)+" is told to start nothing")
		}
		return
	}
	if rest[0] == Unknown || rest[0] == "" {
		w.doubt("wrapper", Show(name)+" starts what is decided only when it runs")
		return
	}
	w.program(rest, depth+1)
}

// skip passes over a wrapper's own arguments, the way that getopt does when
// options end at the first operand.
func (g grammar) skip(args []string) (rest []string, ok bool) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		a := args[0]
		if a == "--" {
			args = args[1:]
			break
		}
		n := 0
		if strings.HasPrefix(a, "--") {
			n = g.longOption(a)
		} else {
			n = g.letters(a[1:])
		}
		if n == 0 || n > len(args) || n == 2 && args[1] == Unknown {
			return nil, false
		}
		args = args[n:]
	}
	if len(args) < g.operands {
		return nil, false
	}
	for _, a := range args[:g.operands] {
		// An option behind an operand would be the program's for one libc and the
		// wrapper's for another.
		if a == Unknown || strings.HasPrefix(a, "-") {
			return nil, false
		}
	}
	rest = args[g.operands:]
	if len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		return nil, false
	}
	return rest, true
}

// longOption says how many arguments a long option takes up, 0 if it is not
// known. Shortened ones are not.
func (g grammar) longOption(a string) int {
	name, _, value := strings.Cut(a, "=")
	for _, l := range g.long {
		switch {
		case l == name+"=" && value:
			return 1
		case l == name+"=":
			return 2
		case l == name && !value:
			return 1
		}
	}
	return 0
}

// letters does the same for a cluster of one-letter options.
func (g grammar) letters(cluster string) int {
	if cluster == "" {
		return 0
	}
	for i, c := range cluster {
		switch {
		case strings.ContainsRune(g.flags, c):
		case strings.ContainsRune(g.values, c):
			if i == len(cluster)-1 {
				return 2
			}
			return 1 // the rest of the word is the value
		default:
			return 0
		}
	}
	return 1
}

// envWords takes the assignments in front of env's program.
func (w *walker) envWords(args []string) []string {
	for len(args) > 0 {
		name, value, ok := strings.Cut(args[0], "=")
		if !ok {
			return args
		}
		if !harmless(name, value) {
			w.doubt("environment", "sets the variable "+Show(name)+", which may change what runs")
		}
		args = args[1:]
	}
	return args
}
