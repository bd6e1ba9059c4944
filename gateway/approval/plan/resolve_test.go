package plan

import (
	"strings"
	"testing"
)

func resolver(t *testing.T) *Resolver {
	t.Helper()
	return New(Options{Confined: true, Home: t.TempDir()})
}

func plan(t *testing.T, r *Resolver, command, dir string) Plan {
	t.Helper()
	p, err := r.Resolve(t.Context(), Request{Command: command, Dir: dir})
	if err != nil {
		t.Fatalf("%q: %v", command, err)
	}
	return p
}

func names(p Plan) string {
	var out []string
	for _, pr := range p.Programs {
		out = append(out, pr.Name)
	}
	return strings.Join(out, " ")
}

func TestKnown(t *testing.T) {
	r, dir := resolver(t), t.TempDir()
	for command, want := range map[string]string{
		`ls`:                         "ls",
		`ls -la | head -n 5`:         "ls head",
		`cat 'a b' "c d" e\ f`:       "cat",
		`ls && pwd; wc -l x || true`: "ls wc",
		"ls\nid":                     "ls id",
		`(cd / && ls) & { date; }`:   "ls date",
		`! ls`:                       "ls",
		`ls >out 2>&1 </dev/null`:    "ls",
		`echo hello world`:           "",
		`printf '%s\n' a`:            "",
		`nice -n 5 timeout 3 ls`:     "nice timeout ls",
		`env LC_ALL=C ls`:            "env ls",
		`LC_ALL=C ls`:                "ls",
		`command ls`:                 "ls",
		`exec ls`:                    "ls",
		`find . -name '*.go'`:        "find",
		`[ -f x ] && cat x`:          "cat",
		`cp a b`:                     "cp",
	} {
		p := plan(t, r, command, dir)
		if !p.Known || names(p) != want {
			t.Errorf("%q: known %v, programs %q, doubts %v", command, p.Known, names(p), p.Doubts)
		}
	}
}
