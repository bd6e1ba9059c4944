// Package devices is the feature that looks after who may connect: the methods
// device.pair.*, device.token.* and hearth.tokens.*. Who is let in, and with what
// rights, is package pairing's.
package devices

import (
	"context"
	"time"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// Clients are the connected clients.
type Clients interface {
	Presence() []protocol.PresenceEntry
	Broadcast(server.Broadcast)
}

// Options are the parts that the feature needs; all of them.
type Options struct {
	Pairing  *pairing.Registry
	Programs *pairing.Clients // with tokens of their own
	Clients  Clients
	Audit    *audit.Log
	Secrets  *redact.Redactor
	Now      func() time.Time
	// Removed is told the id of a device that may not read any more.
	Removed func(ctx context.Context, deviceID string) error
	// Revoked is told the id of a program whose token was taken away, so that what
	// it began ends.
	Revoked func(ctx context.Context, id string)
}

type feature struct{ o Options }

// New makes the feature, which hears who asks to be let in from now on.
func New(o Options) host.Feature {
	f := &feature{o}
	o.Pairing.Observe(f.pairChanged)
	return host.Feature{Methods: []method.Method{
		method.Plain(protocol.MethodPairList, f.pairList),
		method.Plain(protocol.MethodPairRemove, f.pairRemove),
		method.Called(protocol.MethodPairApprove, f.pairApprove),
		method.Plain(protocol.MethodPairReject, f.pairReject),
		method.Plain(protocol.MethodPairRename, f.pairRename),
		method.Called(protocol.MethodTokenRotate, f.tokenRotate),
		method.Called(protocol.MethodTokenRevoke, f.tokenRevoke),
		method.Plain(protocol.MethodTokensList, f.tokensList),
		method.Plain(protocol.MethodTokensCreate, f.tokensCreate),
		method.Plain(protocol.MethodTokensRevoke, f.tokensRevoke),
	}}
}
