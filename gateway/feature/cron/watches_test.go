package cron_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// A new file in a watched folder is told in the conversation, once, and no model is
// asked; what was there before is not told.
func TestWatchedFolder(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	dir := t.TempDir()
	old := filepath.Join(dir, "old.txt")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	j := addJob(p, protocol.CronSpec{
		Name: "the folder", SessionTarget: protocol.CronMain, Hearth: &protocol.CronOwn{Reminder: true},
		Schedule: protocol.CronSchedule{
			Kind: protocol.CronWatch, Watch: &protocol.CronWatched{Source: protocol.WatchFile, Path: dir, EveryMs: 5000},
		},
		Payload: protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: "look"},
	})
	gatewaytest.WaitFor(t, "the first look", func() bool {
		var now protocol.CronJob
		p.Do(protocol.MethodCronGet, protocol.CronIDParams{ID: j.ID}, &now)
		return now.Hearth.Watching != nil && now.Hearth.Watching.LookedAtMs > 0
	})
	if err := os.WriteFile(filepath.Join(dir, "new.txt"), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if run := ran(p, t, j.ID); run.Status != protocol.CronOK || run.DeliveryStatus != protocol.CronDelivered {
		t.Errorf("the run: %+v", run)
	}
	var said []string
	for _, m := range p.History("main").Messages {
		said = append(said, m.Text())
	}
	if len(said) != 1 || !strings.Contains(said[0], "new: new.txt") || strings.Contains(said[0], "old.txt") {
		t.Errorf("the conversation: %q", said)
	}
	if n := r.Model.Snapshot().Requests; n != 0 {
		t.Errorf("a model was asked %d times", n)
	}
}
