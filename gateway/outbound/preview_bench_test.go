package outbound

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// What a preview costs on a disk that is flushed: wait-ms is how much later the first
// words are seen, all-ms until its message is known for good, in which nobody waits.
func BenchmarkPreviewRecord(b *testing.B) {
	db, err := store.Open(filepath.Join(b.TempDir(), "h.db"), store.Options{ReserveBytes: -1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close(b.Context()) })
	d := NewDeliverer(db, DelivererOptions{})
	p := PreviewRow{Key: "7b0c3e52-9d1f-4c66-9f0e-0a4dd1a7e9b1", Channel: "telegram", To: to("", "777", "").To, Session: "agent:main:main",
		Text: "The beginning of an answer, as long as they are when they are shown first."}
	var waited, all time.Duration
	for b.Loop() {
		begun := time.Now()
		if err := d.Showing(b.Context(), p); err != nil {
			b.Fatal(err)
		}
		waited += time.Since(begun)
		d.Shown(b.Context(), p.Key, "1")
		err := db.Update(b.Context(), store.Write{Do: func(tx *store.Tx) error { // waits for what was posted before, and removes it
			_, _, err := d.TakePreview(tx, p.Key)
			return err
		}})
		if err != nil {
			b.Fatal(err)
		}
		all += time.Since(begun)
	}
	b.ReportMetric(float64(waited.Microseconds())/1000/float64(b.N), "wait-ms")
	b.ReportMetric(float64(all.Microseconds())/1000/float64(b.N), "all-ms")
}
