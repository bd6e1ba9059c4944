package watchtest

import (
	"os"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/egress"
)

// Missing skips a test for which a program is not there; where everything is to be
// tried it fails.
func Missing(t *testing.T, program string) {
	t.Helper()
	if os.Getenv("HEARTH_REQUIRE_SERVERS") != "" {
		t.Fatalf("%s is not installed, and HEARTH_REQUIRE_SERVERS is set", program)
	}
	t.Skipf("%s is not installed; on Debian: sudo apt-get install radicale dovecot-imapd", program)
}

// Answers waits until a server can be reached.
func Answers(t *testing.T, address string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(patience); time.Now().Before(limit); <-tick.C {
		if c, err := egress.DialNamed(t.Context(), address); err == nil {
			_ = c.Close()
			return
		}
	}
	t.Fatalf("%s does not answer", address)
}
