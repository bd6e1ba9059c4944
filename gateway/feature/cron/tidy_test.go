package cron

import (
	"slices"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// Only conversations of isolated runs are taken away, when they are old and nothing
// is at work in them.
func TestOldSessions(t *testing.T) {
	id := uuid.New()
	row := func(key string, at int64) protocol.SessionRow { return protocol.SessionRow{Key: key, UpdatedAt: at} }
	own := "agent:main:cron:" + id
	got := oldSessions([]protocol.SessionRow{
		row(own+":1795507200000", 99), row(own+":1795507200000-1", 99), row("agent:ops:cron:"+id+":"+uuid.New(), 1),
		row(own+":new", 100), row(own+":open", 1), row(own, 1), row("agent:main:main", 1), row("agent:main:cron:mine:too", 1),
		row("agent:main:telegram:"+id+":cron:", 1),
	}, map[string]bool{own + ":open": true}, 100)
	if len(got) != 3 || slices.ContainsFunc(got, func(k string) bool { return !strings.Contains(k, ":cron:"+id+":") }) {
		t.Errorf("%q", got)
	}
}
