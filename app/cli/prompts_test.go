package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// At a terminal the fields that are missing are asked for, each until it is said.
func TestFieldsAreAskedFor(t *testing.T) {
	const month = "the \x1b[31mmonth"
	p := protocol.PromptTemplate{Name: "trip", Fields: []string{"city", month, "year"}}
	all := map[string]string{"city": "Bern", month: "May", "year": "31"}
	for name, c := range map[string]struct {
		typed    string
		given    map[string]string
		terminal bool
		want     map[string]string // nil = refused
		asked    string
	}{
		"all":         {"Bern\n\nMay \n31\n", map[string]string{}, true, all, "city: "},
		"one":         {"Bern\n", map[string]string{month: "May", "year": "31"}, true, all, "city: "},
		"no line end": {"Bern\nMay\n31", map[string]string{}, true, all, "year: "},
		"it ends":     {"Bern\n", map[string]string{}, true, nil, "the month"},
		"no terminal": {"Bern\nMay\n31\n", map[string]string{}, false, nil, ""},
	} {
		var errs bytes.Buffer
		a := &app{World: World{In: strings.NewReader(c.typed), Err: &errs, InTerminal: c.terminal, Env: func(string) string { return "dumb" }}}
		err := a.askFields(t.Context(), p, c.given)
		var f *failure
		switch {
		case c.want == nil && (!errors.As(err, &f) || f.code != exitUsage || !strings.Contains(f.message, "year")):
			t.Errorf("%s: %v", name, err)
		case c.want != nil && (err != nil || !maps.Equal(c.given, c.want)):
			t.Errorf("%s: %q, %v", name, c.given, err)
		}
		if got := errs.String(); !strings.Contains(got, c.asked) || strings.Contains(got, "\x1b") || !c.terminal && got != "" {
			t.Errorf("%s: asked %q", name, got)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	r, w := io.Pipe() // nobody types
	defer w.Close()
	a := &app{World: World{In: r, Err: io.Discard, InTerminal: true, Env: func(string) string { return "" }}}
	if err := a.askFields(ctx, p, map[string]string{}); !errors.Is(err, errInterrupted) {
		t.Errorf("Ctrl-C: %v", err)
	}
}

// The name of a field may have any sign in it.
func TestFieldValues(t *testing.T) {
	p := protocol.PromptTemplate{Name: "x", Fields: []string{"a", "a=b", "to whom"}}
	got, err := fieldValues(p, []string{"a=1=2", "a=b=3", "to whom=\"x\""})
	if want := map[string]string{"a": "1=2", "a=b": "3", "to whom": `"x"`}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}
