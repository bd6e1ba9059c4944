// Package messaging is the feature that looks after people and deliveries on
// messaging networks, and after our accounts there: the methods channels.*,
// hearth.channels.*, web.login.*, hearth.contacts.* and hearth.deliveries.*, those by which
// clients write (send, poll, message.action), the tool
// message, the menus of commands there, and what is said of them in status and doctor.
// How a network is spoken is its channel's, which accounts there are is package
// channel/hub's, who
// may write is package inbound's, and what is sent is package outbound's.
package messaging

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/answers"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/outbound/once"
	"github.com/hearth-assistant/hearth/gateway/outbound/sendfile"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
	"github.com/hearth-assistant/hearth/gateway/tool/message"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Store     *store.DB
	Networks  *hub.Hub
	Settings  *config.File
	Contacts  *contact.Book
	Messages  *inbound.Gate
	Deliverer *outbound.Deliverer
	Answers   *answers.Networks
	Files     *sendfile.Files
	Sessions  *session.Manager
	Dispatch  *dispatch.Dispatcher
	Gate      *gate.Gate
	Secrets   *redact.Redactor
	Keys      *lookup.Secrets
	Agents    *agents.Directory
	Audit     *audit.Log
	Now       func() time.Time
	Log       *slog.Logger
}

type feature struct {
	o        Options
	acts     *once.Book // of clients, but for messages
	accounts sync.Mutex // one change of them at a time
}

// New makes the feature.
func New(o Options) host.Feature {
	f := &feature{o: o, acts: once.New(o.Store, o.Now, o.Log)}
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodChannelsStatus, f.channelsStatus),
			method.Plain(protocol.MethodWebLoginStart, f.loginStart),
			method.Plain(protocol.MethodWebLoginWait, f.loginWait),
			method.Plain(protocol.MethodChannelsStart, f.start),
			method.Plain(protocol.MethodChannelsStop, f.stop),
			method.Called(protocol.MethodChannelsLogout, f.logout),
			method.Called(protocol.MethodSend, f.send),
			method.Called(protocol.MethodPoll, f.poll),
			method.Called(protocol.MethodMessageAction, f.action),
			method.Plain(protocol.MethodChannelsPairingList, f.pairingList),
			method.Called(protocol.MethodChannelsPairingApprove, f.pairingApprove),
			method.Plain(protocol.MethodChannelsPairingDismiss, f.pairingDismiss),
			method.Plain(protocol.MethodChannelsKinds, f.kinds),
			method.Plain(protocol.MethodChannelsAdd, f.add),
			method.Plain(protocol.MethodChannelsRemove, f.remove),
			method.Plain(protocol.MethodContactsList, f.contactsList),
			method.Plain(protocol.MethodContactsResolve, f.contactsResolve),
			method.Plain(protocol.MethodContactsRemove, f.contactsRemove),
			method.Plain(protocol.MethodContactsSet, f.contactsSet),
			method.Plain(protocol.MethodDeliveriesList, f.deliveriesList),
			method.Plain(protocol.MethodDeliveriesResolve, f.deliveriesResolve),
		},
		Commands: f.commands(),
		Tools:    []tool.Tool{&message.Tool{Post: post{o}, Secret: o.Secrets.Has}},
		Checks:   f.checks,
		Problems: func() []protocol.Problem {
			return slices.Concat(f.ownerlessProblem(), f.o.Networks.Problems(), f.stuckProblem())
		},
		Run: func(ctx context.Context) error {
			for _, p := range f.ownerlessProblem() {
				o.Log.Warn(p.Message)
			}
			f.menus(ctx)
			return nil
		},
	}
}
