package messaging

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/openaiserver"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// deliveries on the wire.

// maxDeliveries bounds one list.
const maxDeliveries = 200

func (f *feature) deliveriesList(context.Context, method.None) (protocol.DeliveriesList, error) {
	out := protocol.DeliveriesList{Deliveries: []protocol.DeliveryInfo{}, Incomplete: []protocol.DeliveryInfo{},
		Aside: []protocol.AsideMessage{}}
	all, err := f.o.Deliverer.Undelivered(maxDeliveries)
	for _, d := range all {
		out.Deliveries = append(out.Deliveries, deliveryInfo(d))
	}
	if err != nil {
		return out, err
	}
	less, err := f.o.Deliverer.Incomplete(maxDeliveries)
	for _, d := range less {
		out.Incomplete = append(out.Incomplete, deliveryInfo(d))
	}
	if err != nil {
		return out, err
	}
	aside, err := f.o.Messages.Quarantine()
	for _, q := range aside {
		out.Aside = append(out.Aside, protocol.AsideMessage{
			ID: asideID(q.ID), Channel: q.Channel, Account: q.Account, Conversation: q.Conversation, SenderID: q.SenderID,
			Reason: f.o.Secrets.Text(q.Reason), Text: f.o.Secrets.Text(q.Preview), At: q.At,
		})
	}
	return out, err
}

// deliveryInfo is a delivery on the wire. Where a file could not be sent, or the
// beginning of it not removed, that is its reason, however far the rest has come.
func deliveryInfo(d outbound.Delivery) protocol.DeliveryInfo {
	reason := d.Reason
	if p := d.Problem(); p != "" {
		reason = strings.TrimPrefix(reason+"; a file was not sent: "+p, "; ")
	}
	if d.Stale != "" {
		reason = strings.TrimPrefix(reason+"; what was shown of it while it was written may still stand there: "+d.Stale, "; ")
	}
	return protocol.DeliveryInfo{
		ID: d.ID, Channel: d.Channel, Account: d.To.Account, Conversation: d.To.Conversation, SessionKey: d.Session, RunID: d.RunID,
		State: string(d.State), Reason: reason, Text: d.Text, Sent: d.Sent(), Parts: len(d.Parts), CreatedAt: d.CreatedAt, NextAt: d.NextAt,
		Draft: d.Draft, Stale: d.Stale != "",
	}
}

// stuckProblem says that answers wait for a person to decide about them.
func (f *feature) stuckProblem() []protocol.Problem {
	n, err := f.o.Deliverer.Stuck()
	if err != nil {
		f.o.Log.Warn("the deliveries that wait for a person could not be counted", "err", err)
	}
	switch {
	case err != nil || n == 0:
		return nil
	case n == 1:
		return []protocol.Problem{{Code: "DELIVERIES",
			Message: "1 answer failed or may not have arrived: `hearth deliveries` shows it, and what can be decided."}}
	}
	return []protocol.Problem{{Code: "DELIVERIES",
		Message: fmt.Sprintf("%d answers failed or may not have arrived: `hearth deliveries` shows them, and what can be decided.", n)}}
}

// asidePrefix tells the ids of messages that were put aside from those of
// answers.
const asidePrefix = "aside-"

func asideID(n uint64) string { return asidePrefix + strconv.FormatUint(n, 10) }

// resolveAside decides about a message that could not be handled.
func (f *feature) resolveAside(ctx context.Context, p protocol.DeliveryResolveParams) error {
	n, err := strconv.ParseUint(strings.TrimPrefix(p.ID, asidePrefix), 10, 64)
	switch {
	case err != nil || !strings.HasPrefix(p.ID, asidePrefix):
		return inbound.ErrNotAside
	case p.Decision == "drop":
		return f.o.Messages.Drop(ctx, n)
	}
	return f.o.Messages.Retry(ctx, n)
}

func (f *feature) deliveriesResolve(ctx context.Context, p protocol.DeliveryResolveParams) (protocol.OKResult, error) {
	var err error
	switch p.Decision {
	case "resend":
		err = f.o.Deliverer.Resend(ctx, p.ID)
	case "arrived":
		err = f.o.Deliverer.Arrived(ctx, p.ID)
	case "retry", "drop":
		err = f.resolveAside(ctx, p)
	default:
		return protocol.OKResult{}, protocol.InvalidParams(protocol.MethodDeliveriesResolve, "decision must be resend or arrived, or for a "+
			"message that was put aside retry or drop")
	}
	if method.ErrorIs(err, outbound.ErrNoDelivery, outbound.ErrNotStuck, outbound.ErrDraft, inbound.ErrNotAside, inbound.ErrNotWhole) {
		return protocol.OKResult{}, protocol.Invalid("%v", err)
	}
	return protocol.OKResult{OK: err == nil}, err
}

// channelsStatus is what clients show of channels.
func (f *feature) channelsStatus(context.Context, method.None) (protocol.ChannelsStatus, error) {
	out := protocol.ChannelsStatus{
		TS: f.o.Now().UnixMilli(), ChannelOrder: []string{}, ChannelLabels: map[string]string{}, Channels: map[string]any{},
		ChannelAccounts: map[string][]protocol.ChannelAccountStatus{}, ChannelDefaultAccountID: map[string]string{},
	}
	if e := openaiserver.Section.Of(f.o.Settings.Snapshot().Config); e.Chat || e.Responses {
		out.ChannelLabels[channel.API] = "API" // no network, but chats come from there
	}
	for _, a := range f.o.Networks.Status() {
		id := a.Network
		if len(out.ChannelAccounts[id]) == 0 {
			out.ChannelOrder = append(out.ChannelOrder, id)
			out.ChannelLabels[id], out.ChannelDefaultAccountID[id], out.Channels[id] = f.o.Networks.Kinds.Label(id), "default",
				map[string]any{"configured": true}
		}
		out.ChannelAccounts[id] = append(out.ChannelAccounts[id], a.ChannelAccountStatus)
	}
	return out, nil
}
