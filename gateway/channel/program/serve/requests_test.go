package serve

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/channel/program/wire"
)

// A program that is told to stop in the middle of a send does not say that it failed.
func TestAStopDuringASendIsUncertain(t *testing.T) {
	net := loopback.NewNet()
	net.Script(loopback.Fault{On: loopback.OpSend, Kind: loopback.OK, After: time.Hour})
	ctx, stop := context.WithCancel(t.Context())
	sent := make(chan error, 1)
	go func() {
		_, err := (&served{}).send(ctx, net.Channel("loopback", "default", channel.Limits{}), wire.SendParams{
			To: wire.Recipient{Conversation: "c1"}, Text: "on its way"})
		sent <- err
	}()
	stop()
	if err := <-sent; !errors.Is(err, channel.ErrUncertain) || wire.ErrorOf(err).Code != wire.CodeUncertain {
		t.Errorf("%v", err)
	}
}
