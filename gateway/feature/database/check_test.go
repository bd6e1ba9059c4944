package database_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// All of the database is read in the background, as a task with its progress, and
// nobody who talks meanwhile waits for it.
func TestCheckInTheBackground(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	for range 3 {
		p.Say("main", time.Now().String(), strings.Repeat("remember the bread. ", 400))
	}
	var st protocol.StoreStatus
	p.Do(protocol.MethodStoreStatus, nil, &st)
	if st.Bytes < 1<<16 || st.CheckedAtMs != 0 {
		t.Errorf("before it: %+v", st)
	}
	var all protocol.Status
	if p.Do(protocol.MethodStatus, nil, &all); all.Hearth.StoreBytes != st.Bytes {
		t.Errorf("the database has %d bytes, and status counts %d", st.Bytes, all.Hearth.StoreBytes)
	}
	p.Do(protocol.MethodStoreCheck, nil, &st)
	id := st.TaskID
	gatewaytest.WaitFor(t, "the end of the check", func() bool {
		st = protocol.StoreStatus{}
		p.Do(protocol.MethodStoreStatus, nil, &st)
		return st.TaskID == "" && st.CheckedAtMs > 0
	})
	if st.Records < 6 || st.Problem != "" {
		t.Errorf("it found %+v", st)
	}
	var list protocol.TaskViews
	p.Do(protocol.MethodTaskViews, protocol.TasksListParams{}, &list)
	for _, one := range list.Tasks {
		if one.Kind == protocol.TaskStoreCheck && one.Status == protocol.TaskCompleted && strings.Contains(one.TerminalSummary, "can be read") &&
			(id == "" || one.ID == id) {
			return
		}
	}
	t.Errorf("it is not among the tasks: %+v", list.Tasks)
}
