package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// A bar fits into a narrow terminal, cleans what comes from outside, and is
// written over.
func TestPullProgress(t *testing.T) {
	show := func(terminal bool, steps ...protocol.ModelsPullProgress) string {
		var errs bytes.Buffer
		a := &app{World: World{Err: &errs, ErrTerminal: terminal, Env: func(string) string { return "dumb" }}}
		b := &pullProgress{model: "m", bar: progress{a: a}, last: make(chan struct{})}
		for _, s := range append(steps, protocol.ModelsPullProgress{Model: "m", State: "done"}) {
			raw, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			b.event(protocol.Event{Event: protocol.EventModelsPull, Payload: raw})
		}
		b.end()
		return errs.String()
	}
	loading := func(status string, done, total int64) protocol.ModelsPullProgress {
		return protocol.ModelsPullProgress{Model: "m", State: "loading", Status: status, Completed: done, Total: total}
	}
	steps := []protocol.ModelsPullProgress{
		loading("pulling \x1b[31mmanifest"+strings.Repeat("!", 200), 0, 0), loading("", 0, 2<<30), loading("", 1<<30, 2<<30),
		loading("", 2<<30, 2<<30),
		{Model: "another", State: "loading", Completed: 1, Total: 3},
	}
	got := show(true, steps...)
	if strings.Contains(got, "\x1b") || !strings.HasSuffix(got, "\n") || strings.Count(got, "\n") != 1 {
		t.Errorf("%q", got)
	}
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\r")
	for _, l := range lines {
		if n := len([]rune(l)); n > 60 {
			t.Errorf("%d columns: %q", n, l)
		}
	}
	if want := "████████████░░░░░░░░░░░░  50 %  1.0 GB of 2.0 GB"; strings.TrimRight(lines[3], " ") != want {
		t.Errorf("%q, want %q", lines[3], want)
	}
	if got, want := show(false, steps...), "50 % of 2.0 GB\n100 % of 2.0 GB\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What is done one after the other has lines of its own, and where nobody knows of how
// much, some lines say how much there is.
func TestProgress(t *testing.T) {
	show := func(terminal, asJSON bool) string {
		var errs bytes.Buffer
		p := progress{a: &app{asJSON: asJSON, World: World{Err: &errs, ErrTerminal: terminal, Env: func(string) string { return "dumb" }}}}
		for _, have := range []int64{0, 1 << 20, 130 << 20, 131 << 20} {
			p.show("packed", have, 0)
		}
		for _, have := range []int64{0, 5 << 20, 6 << 20, 10 << 20} {
			p.show("brought", have, 10<<20)
		}
		p.end()
		return errs.String()
	}
	want := "\rpacked 0 B\rpacked 1.0 MB\rpacked 130.0 MB\rpacked 131.0 MB\n" +
		"\rbrought ░░░░░░░░░░░░░░░░░░░░░░░░   0 %  0 B of 10.0 MB" +
		"\rbrought ████████████░░░░░░░░░░░░  50 %  5.0 MB of 10.0 MB" +
		"\rbrought ██████████████░░░░░░░░░░  60 %  6.0 MB of 10.0 MB" +
		"\rbrought ████████████████████████ 100 %  10.0 MB of 10.0 MB\n"
	if got := show(true, false); got != want {
		t.Errorf("%q, not\n%q", got, want)
	}
	want = "packed 0 B\npacked 130.0 MB\nbrought 0 % of 10.0 MB\nbrought 50 % of 10.0 MB\nbrought 60 % of 10.0 MB\nbrought 100 % of 10.0 MB\n"
	if got := show(false, false); got != want {
		t.Errorf("%q, not\n%q", got, want)
	}
	if got := show(true, true); got != "" {
		t.Errorf("%q", got)
	}
}
