package database_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// waste leaves much in the database that is not in use.
func waste(t *testing.T, path string, mb int) {
	t.Helper()
	db, err := store.Open(path, store.Options{ReserveBytes: -1, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	rows := store.NewBucket[string]("waste")
	for _, drop := range []bool{false, true} {
		for n := range mb {
			err := db.Update(t.Context(), store.Write{Do: func(tx *store.Tx) error {
				if drop {
					return rows.Delete(tx, store.Uint64Key(uint64(n)))
				}
				return rows.Put(tx, store.Uint64Key(uint64(n)), strings.Repeat("x", 1<<20))
			}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := db.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// TestCompactedBesideTalk: what the database does not use is given back while somebody
// talks, as a task, and nothing that was said is lost, also after a restart.
func TestCompactedBesideTalk(t *testing.T) {
	if !store.CompactsOpen {
		t.Skip("an open file cannot be replaced here")
	}
	r := gatewaytest.New(t, "chat/echo")
	r.Shutdown()
	waste(t, r.Dir.Store(), 90)
	r.Start()
	p := r.Connect()
	p.Say("main", "before", "remember the bread")
	var st protocol.StoreStatus
	p.Do(protocol.MethodStoreStatus, nil, &st)
	if st.Free < 80<<20 {
		t.Fatalf("it was not wasteful: %+v", st)
	}
	p.Do(protocol.MethodStoreCompact, nil, &st)
	for n := 0; st.TaskID != ""; n++ {
		p.Say("main", fmt.Sprint("meanwhile-", n), "and the butter")
		st = protocol.StoreStatus{}
		p.Do(protocol.MethodStoreStatus, nil, &st)
	}
	if st.CompactedAtMs == 0 || st.CompactProblem != "" || st.GivenBack < 80<<20 || st.Bytes > 10<<20 {
		t.Errorf("it ended with %+v", st)
	}
	if info, err := os.Stat(r.Dir.Store()); err != nil || info.Size() > 40<<20 {
		t.Errorf("the file: %v, %v", info.Size(), err)
	}
	said := len(p.History("main").Messages)
	r.Shutdown()
	r.Start()
	p = r.Connect()
	if h := p.History("main").Messages; said < 4 || len(h) != said || h[0].Text() != "remember the bread" {
		t.Errorf("after a restart there are %d of %d messages", len(h), said)
	}
	var list protocol.TaskViews
	p.Do(protocol.MethodTaskViews, protocol.TasksListParams{}, &list)
	for _, one := range list.Tasks {
		if one.Kind == protocol.TaskStoreCompact && one.Status == protocol.TaskCompleted && strings.Contains(one.TerminalSummary, "MB now") {
			return
		}
	}
	t.Errorf("it is not among the tasks: %+v, at %v", list.Tasks, time.Now())
}
