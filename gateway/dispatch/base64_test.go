package dispatch

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Encoded text is judged by its length before any of it is decoded.
func TestSec_A_FILE_09_HugeBase64(t *testing.T) {
	huge := strings.Repeat("A", 100<<20)
	for _, content := range []string{huge, "data:image/png;base64," + huge[:50<<20]} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := contentOf(protocol.Attachment{Content: content})
		runtime.ReadMemStats(&after)
		if !errors.Is(err, media.ErrLarge) {
			t.Errorf("%d bytes: %v", len(content), err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 2<<20 {
			t.Errorf("%d bytes of memory were used", used)
		}
	}
}
