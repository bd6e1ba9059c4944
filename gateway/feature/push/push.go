// Package push is the feature that tells people who are not here that there is
// news, by the push services of their browsers (Web Push, RFC 8030, 8291, 8292):
// the methods push.web.* and hearth.push.open, who wants what, and sending it.
//
// A push is a hint and no message: what it is about is in the store and stays there
// when a push is lost. Unless a person allows more for a device, all that is sent,
// encrypted for the browser, is a number that only this gateway can read.
//
// It does not own who is paired (package pairing), what waits for a yes (approval)
// nor how an address may be reached (egress).
package push

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Devices are those that were let in.
type Devices interface{ Devices() []pairing.Device }

// Clients are the connected clients.
type Clients interface {
	Presence() []protocol.PresenceEntry
	// Overhear has hear told of every event, whoever gets it. It must not block.
	Overhear(hear func(server.Broadcast))
}

// Sessions are the conversations.
type Sessions interface {
	Get(key string) (row protocol.SessionRow, ok bool, err error)
	Why(key, runID string) (rec session.Run, err error)
}

// Web reaches addresses that others chose: public ones, and no others.
type Web interface {
	Fetch(ctx context.Context, req egress.Request) (egress.Page, error)
}

// Redactor hides secrets in words that leave the machine.
type Redactor interface{ Text(string) string }

// Options are the parts that the feature needs; all of them.
type Options struct {
	Store    *store.DB
	Secrets  secret.Store // keeps our key
	Redactor Redactor
	Devices  Devices
	Clients  Clients
	Sessions Sessions
	Web      Web
	Now      func() time.Time
	Log      *slog.Logger
}

// Push sends notifications. Its methods may be called from several goroutines.
type Push struct {
	o      Options
	keys   keys
	subs   *subscriptions
	places places
	queue  *queue
}

// Open reads who wants to be told. It is called before the server serves.
func Open(ctx context.Context, o Options) (*Push, error) {
	subs, err := openSubscriptions(ctx, o.Store)
	if err != nil {
		return nil, fmt.Errorf("read who wants notifications: %w", err)
	}
	p := &Push{o: o, keys: keys{store: o.Secrets}, subs: subs, places: places{db: o.Store, now: o.Now}}
	p.queue = newQueue(p, o.Now, o.Log)
	o.Clients.Overhear(p.hear)
	return p, nil
}

// Feature is what it adds to the gateway.
func (p *Push) Feature() host.Feature {
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodPushKey, p.key),
			method.Called(protocol.MethodPushSubscribe, p.subscribe),
			method.Called(protocol.MethodPushUnsubscribe, p.unsubscribe),
			method.Called(protocol.MethodPushTest, p.test),
			method.Called(protocol.MethodPushPreferencesGet, p.preferencesGet),
			method.Called(protocol.MethodPushPreferencesSet, p.preferencesSet),
			method.Plain(protocol.MethodPushOpen, p.open),
		},
		Run: p.queue.run,
	}
}

// Removed is told that a device may not read any more: it is told nothing either.
func (p *Push) Removed(ctx context.Context, deviceID string) error {
	return p.subs.forget(ctx, func(s subscription) bool { return s.DeviceID == deviceID })
}

// Hears reports whether a person who is away would be told that something waits for
// a yes, and may decide about it.
func (p *Push) Hears(event string) bool {
	if event != protocol.EventExecApprovalRequested {
		return false
	}
	return len(p.wanting(notice{kind: kindApproval})) > 0
}
