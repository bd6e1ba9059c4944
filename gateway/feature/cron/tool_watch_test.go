package cron

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// A model sets up what it could look at by itself, and nothing that runs commands,
// reads mail or leaves its workspace, by whatever way.
func TestSec_WatchersOfTheAssistant(t *testing.T) {
	ws, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(ws, "out")); err != nil {
		t.Fatal(err)
	}
	call := tool.Call{Scope: tool.Scope{Workspace: ws, Owner: true}}
	for name, c := range map[string]struct {
		w   *protocol.CronWatched
		may bool
	}{
		"nothing":          {nil, true},
		"a page":           {&protocol.CronWatched{Source: protocol.WatchPage, URL: "https://example.org"}, true},
		"a page near":      {&protocol.CronWatched{Source: protocol.WatchPage, URL: "http://127.0.0.1", Near: true}, false},
		"a feed":           {&protocol.CronWatched{Source: protocol.WatchFeed, URL: "https://example.org"}, true},
		"its workspace":    {&protocol.CronWatched{Source: protocol.WatchFile, Path: ws}, true},
		"another folder":   {&protocol.CronWatched{Source: protocol.WatchFile, Path: outside}, false},
		"a link out of it": {&protocol.CronWatched{Source: protocol.WatchFile, Path: filepath.Join(ws, "out")}, false},
		"dots":             {&protocol.CronWatched{Source: protocol.WatchFile, Path: ws + "/../" + filepath.Base(outside)}, false},
		"a command":        {&protocol.CronWatched{Source: protocol.WatchOutput, Argv: []string{"id"}}, false},
		"mail":             {&protocol.CronWatched{Source: protocol.WatchMail, URL: "imaps://example.org"}, false},
		"a calendar":       {&protocol.CronWatched{Source: protocol.WatchCalendar, Path: "/etc/passwd"}, false},
	} {
		if err := mayWatch(call, c.w); (err == nil) != c.may {
			t.Errorf("%s: %v", name, err)
		}
	}
}
