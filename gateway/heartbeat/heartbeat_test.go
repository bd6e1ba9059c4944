package heartbeat_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/heartbeat"
)

func TestSays(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "# Heartbeat\n\n## Now\n": false, "- \n* [ ]\n": false, "<!-- water the plants -->\n# x": false, "<!-- open": false, "```\n" +
			"```\n": false,
		"water the plants": true, "# Now\n- [ ] look at the mail": true, "<!-- a -->b": true, "\r\n\t\r\n": false,
	} {
		if got := heartbeat.Says(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestTells(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for _, c := range []struct {
		answer, text string
		ok           bool
	}{
		{"HEARTBEAT_OK", "", false}, {" **HEARTBEAT_OK**\n", "", false}, {"`HEARTBEAT_OK`", "", false}, {"", "", false},
		{"HEARTBEAT_OK: all is quiet.", "", false}, {"All is quiet. HEARTBEAT_OK", "", false},
		{"HEARTBEAT_OK " + long, strings.TrimSpace(long), true}, {long + "HEARTBEAT_OK", strings.TrimSpace(long), true},
		{"The plumber comes at 9.", "The plumber comes at 9.", true},
		{"What does HEARTBEAT_OK mean?", "What does HEARTBEAT_OK mean?", true}, {"HEARTBEAT_OKAY then", "HEARTBEAT_OKAY then", true},
	} {
		if text, ok := heartbeat.Tells(c.answer, heartbeat.DefaultAck); text != c.text || ok != c.ok {
			t.Errorf("%q: %q %v", c.answer, text, ok)
		}
	}
	if _, ok := heartbeat.Tells("HEARTBEAT_OK hm", 0); !ok {
		t.Error("with no room beside the token, words are told")
	}
}

func FuzzTells(f *testing.F) {
	f.Add("HEARTBEAT_OK", 3)
	f.Fuzz(func(t *testing.T, s string, n int) {
		text, ok := heartbeat.Tells(s, n)
		if ok != (text != "") || len(text) > len(s) {
			t.Errorf("%q: %q %v", s, text, ok)
		}
		heartbeat.Says(s)
	})
}

func TestHours(t *testing.T) {
	at := func(s string) time.Time {
		v, err := time.Parse("15:04", s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	east := time.FixedZone("east", 2*3600)
	for _, c := range []struct {
		from, to int
		zone     *time.Location
		at       string
		want     bool
	}{
		{0, 0, nil, "03:00", true}, {540, 1320, nil, "08:59", false}, {540, 1320, nil, "09:00", true}, {540, 1320, nil, "22:00", false},
		{1320, 360, nil, "23:00", true}, {1320, 360, nil, "05:59", true}, {1320, 360, nil, "06:00", false}, {540, 1320, east, "07:30", true},
		{0, 1440, nil, "23:59", true},
	} {
		if got := (heartbeat.Hours{From: c.from, To: c.to, Zone: c.zone}).Open(at(c.at)); got != c.want {
			t.Errorf("%d to %d at %s: %v", c.from, c.to, c.at, got)
		}
	}
}
