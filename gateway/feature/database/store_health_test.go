package database_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/recovery"
	"github.com/hearth-assistant/hearth/gateway/startup"
)

// TestFault_F_DB_02_DamageStopsTheGateway: damage that is met while the gateway
// runs ends it in words, and neither panics nor is taken for a moment's problem.
func TestFault_F_DB_02_DamageStopsTheGateway(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Say("main", "one", "remember the bread")
	f, err := os.OpenFile(r.Dir.Store(), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	st, _ := f.Stat()
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, int(st.Size())-8192), 8192); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	var h protocol.ChatHistory
	err = p.Call(t.Context(), protocol.MethodChatHistory, protocol.ChatHistoryParams{SessionKey: "main"}, &h)
	if err != nil && strings.Contains(err.Error(), "internal problem") {
		t.Error(err)
	}
	select {
	case err = <-r.Served:
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
	r.Stop = nil
	var se *startup.Error
	if !errors.As(err, &se) || !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), "hearth store export") {
		t.Errorf("it ended with %v", err)
	}
}

// TestFault_F_DB_02_LastGoodCopyComesBack: what can be read is exported, the copy
// takes the place of a damaged store, and the gateway starts with it.
func TestFault_F_DB_02_LastGoodCopyComesBack(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Say("main", "one", "remember the bread")
	if _, err := recovery.Look(r.Dir); !errors.Is(err, recovery.ErrRunning) {
		t.Errorf("a running gateway's store was looked at: %v", err)
	}
	r.Shutdown()
	if err := copyFile(r.Dir.Store(), r.Dir.LastGood()); err != nil {
		t.Fatal(err)
	}
	said := func() (n int) {
		_, err := recovery.Export(r.Dir.Store(), func(m recovery.Message) error {
			if m.SessionKey == "agent:main:main" && strings.Contains(m.Message.Text(), "bread") {
				n++
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return n
	}
	if n := said(); n == 0 {
		t.Error("nothing was exported")
	}
	if err := os.Truncate(r.Dir.Store(), 0); err != nil {
		t.Fatal(err)
	}
	_, err := gateway.New(t.Context(), gateway.Options{Dir: r.Dir, Env: gatewaytest.Env(t), Port: gatewaytest.FreePort(t), Version: "test"})
	var se *startup.Error
	if !errors.As(err, &se) || !strings.Contains(se.Fix, "hearth store restore") {
		t.Fatalf("an emptied store: %v", err)
	}
	if rep, err := recovery.Look(r.Dir); err != nil || rep.OK || rep.LastGood == "" {
		t.Errorf("%+v, %v", rep, err)
	}
	kept, err := recovery.Restore(r.Dir, time.Unix(1_800_000_000, 0))
	if err != nil || filepath.Base(kept) != "hearth.db.replaced-20270115-080000" {
		t.Fatalf("%q, %v", kept, err)
	}
	if rep, err := recovery.Look(r.Dir); err != nil || !rep.OK {
		t.Errorf("%+v, %v", rep, err)
	}
	r.Start()
	var h protocol.ChatHistory
	if err := r.Connect().Call(context.WithoutCancel(t.Context()), protocol.MethodChatHistory, protocol.ChatHistoryParams{SessionKey: "main"},
		&h); err != nil || len(h.Messages) < 2 {
		t.Errorf("%d messages came back, %v", len(h.Messages), err)
	}
}

func copyFile(from, to string) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, raw, 0o600)
}
