// Command channeltable makes a table of what the suite of channels says of each
// network: it reads the output of go test -json, and every cell is the result of a
// test in it. Its arguments are the packages that have the suite; one that said
// nothing is a failure, as is a row that was not tried.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel/conformance"
)

func main() {
	t, err := read(os.Stdin)
	if err == nil {
		err = t.print(os.Stdout, os.Args[1:])
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output, Key, Value string
}

// result is what became of a test.
type result struct {
	action string // pass, fail, skip
	output []string
}

// id is a test of a package.
type id struct{ pkg, test string }

// table is what was read.
type table struct {
	results map[id]*result
	suites  []suite
	outside map[string][]string // what packages said outside of tests, a compiler for one
}

// suite is a run of the suite.
type suite struct {
	id
	how string
}

// The words with which a suite makes itself known, and a row says why it was not tried.
const (
	suiteKey = "channel-suite"
	cannot   = "cannot: "
	// realServer is the test of a network's client against a server that others wrote.
	realServer = "TestRealServer"
)

func read(r io.Reader) (*table, error) {
	t := &table{results: map[id]*result{}, outside: map[string][]string{}}
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadString('\n')
		if strings.HasPrefix(line, "{") {
			var e event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				return nil, fmt.Errorf("read the output of go test: %w", err)
			}
			t.take(e)
		}
		if err == io.EOF {
			return t, nil
		} else if err != nil {
			return nil, err
		}
	}
}

func (t *table) take(e event) {
	at := id{e.Package, e.Test}
	if e.Test == "" {
		if e.Action == "output" || e.Action == "build-output" {
			t.outside[e.Package] = append(t.outside[e.Package], e.Output)
		}
		return
	}
	r := t.results[at]
	if r == nil {
		r = &result{}
		t.results[at] = r
	}
	switch e.Action {
	case "output":
		r.output = append(r.output, e.Output)
	case "pass", "fail", "skip":
		r.action = e.Action
	case "attr":
		if e.Key == suiteKey {
			t.suites = append(t.suites, suite{at, e.Value})
		}
	}
}

// label names a suite: by the folder of its network, and what its test adds to the name.
func (s suite) label() string {
	name := s.pkg
	if _, below, ok := strings.Cut(s.pkg, "/gateway/channel/"); ok {
		name, _, _ = strings.Cut(below, "/")
	} else if i := strings.LastIndex(s.pkg, "/docs/"); i >= 0 {
		name = s.pkg[i+1:]
	}
	what := strings.TrimPrefix(s.test, "TestChannel")
	if what == "AsProgram" {
		what = "as a program"
	}
	if language, ok := strings.CutPrefix(what, "In"); ok {
		what = "in " + language
	}
	return strings.TrimSpace(name + " " + what)
}

// cell is the result of a row; why is what a person has to know of it.
func (t *table) cell(s suite, row string) (sign, why string) {
	r := t.results[id{s.pkg, s.test + "/" + row}]
	if r == nil {
		return failed, "it was not tried"
	}
	said := strings.TrimSpace(strings.Join(slices.DeleteFunc(slices.Clone(r.output), func(line string) bool {
		line = strings.TrimSpace(line)
		return strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ")
	}), ""))
	switch r.action {
	case "pass":
		return passed, ""
	case "skip":
		if _, why, ok := strings.Cut(said, cannot); ok {
			return cannotSign, why
		}
		return failed, "it was skipped without a word: " + said
	}
	return failed, cmp.Or(said, "it did not end")
}

// Signs of the table.
const (
	passed, cannotSign, failed = "✓", "–", "✗"
)

func (t *table) print(w io.Writer, packages []string) error {
	slices.SortFunc(t.suites, func(a, b suite) int { return strings.Compare(a.label(), b.label()) })
	var bad []string
	for i, s := range t.suites {
		_, _ = fmt.Fprintf(w, "%3d  %s\n", i+1, s.label())
	}
	_, _ = fmt.Fprintf(w, "\n%-26s", "")
	for i := range t.suites {
		_, _ = fmt.Fprintf(w, "%3d", i+1)
	}
	_, _ = fmt.Fprintln(w)
	var reasons []reason
	for _, row := range conformance.Rows() {
		_, _ = fmt.Fprintf(w, "%-26s", row.Name)
		for i, s := range t.suites {
			sign, why := t.cell(s, row.Name)
			_, _ = fmt.Fprintf(w, "%3s", sign)
			switch sign {
			case failed:
				bad = append(bad, fmt.Sprintf("%s, %s: %s\n%s", s.label(), row.Name, row.What, indented(why)))
			case cannotSign:
				reasons = noted(reasons, row.Name, why, i+1)
			}
		}
		_, _ = fmt.Fprintln(w)
	}
	bad = append(bad, t.printServers(w)...)
	_, _ = fmt.Fprintf(w, "\n%s passed   %s cannot   %s FAILED\n", passed, cannotSign, failed)
	for i, r := range reasons {
		if i == 0 || reasons[i-1].row != r.row {
			_, _ = fmt.Fprintf(w, "\n%s cannot be tried", r.row)
		}
		_, _ = fmt.Fprintf(w, "\n    %s: %s", strings.Trim(fmt.Sprint(r.suites), "[]"), r.why)
	}
	_, _ = fmt.Fprintln(w)
	for _, pkg := range packages {
		if !slices.ContainsFunc(t.suites, func(s suite) bool { return s.pkg == pkg }) {
			bad = append(bad, fmt.Sprintf("%s has the suite, and no test of it was run:\n%s", pkg, indented(strings.Join(t.outside[pkg], ""))))
		}
	}
	for _, what := range bad {
		_, _ = fmt.Fprintf(w, "\nFAILED  %s\n", what)
	}
	if len(bad) > 0 {
		return fmt.Errorf("%d of the results above are failures", len(bad))
	}
	return nil
}

// reason is why a row cannot be tried, and on which suites.
type reason struct {
	row, why string
	suites   []int
}

func noted(all []reason, row, why string, suite int) []reason {
	i := slices.IndexFunc(all, func(r reason) bool { return r.row == row && r.why == why })
	if i < 0 {
		return append(all, reason{row, why, []int{suite}})
	}
	all[i].suites = append(all[i].suites, suite)
	return all
}

// printServers is the line of those that were tried with a server of others.
func (t *table) printServers(w io.Writer) (bad []string) {
	_, _ = fmt.Fprintf(w, "%-26s", "with a real server")
	for _, s := range t.suites {
		sign := " "
		if r := t.results[id{s.pkg, realServer}]; r != nil && s.test == "TestChannel" {
			switch r.action {
			case "pass":
				sign = passed
			case "skip":
				sign = cannotSign
			default:
				sign = failed
				bad = append(bad, s.label()+", with a real server\n"+indented(strings.Join(r.output, "")))
			}
		}
		_, _ = fmt.Fprintf(w, "%3s", sign)
	}
	_, _ = fmt.Fprintln(w)
	return bad
}

func indented(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}
