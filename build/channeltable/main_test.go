package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/conformance"
)

const pkg = "example.org/x/gateway/channel/irc/client"

// said is the output of a run in which every row passed but those that differ.
func said(differ map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"Action":"attr","Package":%q,"Test":"TestChannel","Key":"channel-suite","Value":"in the process"}`+"\n", pkg)
	for _, row := range conformance.Rows() {
		end := `"pass"`
		if d, ok := differ[row.Name]; ok {
			end = d
		}
		if end != "" {
			fmt.Fprintf(&b, `{"Package":%q,"Test":"TestChannel/%s","Action":%s}`+"\n", pkg, row.Name, end)
		}
	}
	return b.String()
}

// TestTable: what went wrong is in the table, and is a failure.
func TestTable(t *testing.T) {
	output := func(words string) string {
		return fmt.Sprintf(`"output","Output":%q}`+"\n"+`{"Package":%q,"Test":"TestChannel/Identity","Action"`, words, pkg)
	}
	for name, tc := range map[string]struct {
		in      string
		others  string
		want    []string
		failure bool
	}{
		"all well": {in: said(nil), want: []string{"  1  irc", "Identity                    ✓"}},
		"a failure": {in: said(map[string]string{"Identity": output("    x.go:1: no id\n") + `:"fail"`}),
			want: []string{"✗", "no id"}, failure: true},
		"cannot": {in: said(map[string]string{"Identity": output("    x.go:1: cannot: no names\n") + `:"skip"`}),
			want: []string{"Identity cannot be tried\n    1: no names"}},
		"skipped":       {in: said(map[string]string{"Identity": `"skip"`}), want: []string{"skipped without a word"}, failure: true},
		"not tried":     {in: said(map[string]string{"RunAgain": ""}), want: []string{"RunAgain", "it was not tried"}, failure: true},
		"nothing there": {in: said(nil), others: "example.org/x/other", want: []string{"no test of it was run"}, failure: true},
		"no end":        {in: said(map[string]string{"RunAgain": `"run"`}), want: []string{"it did not end"}, failure: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := read(strings.NewReader(tc.in))
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			packages := []string{pkg}
			if tc.others != "" {
				packages = append(packages, tc.others)
			}
			if err := got.print(&out, packages); (err != nil) != tc.failure {
				t.Errorf("%v:\n%s", err, out.String())
			}
			for _, want := range tc.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not in\n%s", want, out.String())
				}
			}
		})
	}
}
