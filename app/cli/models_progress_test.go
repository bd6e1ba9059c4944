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
func TestProgressBar(t *testing.T) {
	show := func(terminal bool, steps ...protocol.ModelsPullProgress) string {
		var errs bytes.Buffer
		a := &app{World: World{Err: &errs, ErrTerminal: terminal, Env: func(string) string { return "dumb" }}}
		b := &progressBar{a: a, model: "m", last: make(chan struct{})}
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
