package gateway_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Clients are told whether Hearth was quit, is stopped, or comes back at once.
func TestLeavingSaysWhetherItComesBack(t *testing.T) {
	for said, want := range map[gateway.Farewell]map[string]any{
		gateway.FarewellNone:  {"reason": "gateway stopping"},
		gateway.FarewellQuit:  {"reason": "quit"},
		gateway.FarewellAgain: {"reason": "gateway restarting", "restartExpectedMs": 3000.},
	} {
		r := &gatewaytest.Rig{T: t, Dir: statedir.Dir(t.TempDir())}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		gw, err := gateway.New(ctx, gateway.Options{Dir: r.Dir, Env: gatewaytest.Env(t), Port: gatewaytest.FreePort(t), Version: "test",
			Farewell: func() gateway.Farewell { return said }})
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- gw.Serve(ctx) }()
		r.Gateway = gw
		p := r.Connect()
		stop()
		var got map[string]any
		p.Until("the last word", func(e protocol.Event) bool {
			return e.Event == protocol.EventShutdown && json.Unmarshal(e.Payload, &got) == nil
		})
		if err := <-served; err != nil {
			t.Error(err)
		}
		if len(got) != len(want) || got["reason"] != want["reason"] || got["restartExpectedMs"] != want["restartExpectedMs"] {
			t.Errorf("%q: %v", said, got)
		}
	}
}
