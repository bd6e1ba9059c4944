package status_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
)

// Timezone page: session_status tells the time of the person's zone, as they
// read it, and not the gateway's.
func TestStatusTellsThePersonsTime(t *testing.T) {
	r := gatewaytest.New(t, "chat/tool-session_status")
	p := r.Connect()
	for _, tc := range []struct {
		format any
		want   string
	}{{12, "PM "}, {"auto", "(Asia/Kathmandu)"}} {
		p.Patch(map[string]any{"agents": map[string]any{"defaults": map[string]any{"userTimezone": "Asia/Kathmandu", "timeFormat": tc.format}}})
		id := "a" + tc.want
		said := p.Say("main", id, "what time is it?").Message.Text()
		at, err := time.LoadLocation("Asia/Kathmandu")
		if err != nil {
			t.Skip(err)
		}
		hour := time.Now().In(at).Format("PM ")
		if want := strings.Replace(tc.want, "PM ", hour, 1); !strings.Contains(said, want) || !strings.Contains(said, "+0545") {
			t.Errorf("timeFormat %v: %q", tc.format, said)
		}
	}
}
