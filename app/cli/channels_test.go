package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func TestChannelState(t *testing.T) {
	for want, s := range map[string]protocol.ChannelAccountStatus{
		"switched off": {},
		"not set up":   {Enabled: true},
		"connected":    {Enabled: true, Configured: true, Running: true, Connected: true},
		"connecting":   {Enabled: true, Configured: true, Running: true},
		"stopped":      {Enabled: true, Configured: true},
	} {
		if got := channelState(s); got != want {
			t.Errorf("%+v is %q, want %q", s, got, want)
		}
	}
}

// Names of strangers are theirs to choose: they fit one line of the table and
// bring no escapes.
func TestPersonIsOneCleanLine(t *testing.T) {
	name := person("Eve\x1b[2J\nAPPROVED "+strings.Repeat("x", 200), "@eve")
	var out bytes.Buffer
	s := screen{&out, true}
	if err := s.table([]string{"CODE", "NAME"}, [][]string{{"A", name}}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Count(got, "\n") != 2 || strings.Contains(got, "\x1b[2J") || len([]rune(name)) > 80 {
		t.Errorf("got %q", got)
	}
	if got := person("", "@bob"); got != "(@bob)" {
		t.Errorf("got %q", got)
	}
}
