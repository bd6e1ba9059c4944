package channel_test

import (
	"bytes"
	"testing"
	"testing/fstest"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// A file is read whole, and no more than one byte beyond what may be sent.
func TestReadFile(t *testing.T) {
	files := fstest.MapFS{"empty": {}, "small": {Data: []byte("abc")}, "large": {Data: bytes.Repeat([]byte("x"), 5000)}}
	for name, want := range map[string]int{"empty": 0, "small": 3, "large": 1001} {
		f, err := files.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := channel.ReadFile(f, 1000)
		if err != nil || len(b) != want || !bytes.HasPrefix(files[name].Data, b) {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
}
