package gateway

import (
	"context"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// channelPolicy is who may write to an account, as the settings say. Who may
// write is one list and who is the owner another: a list of a family, brought
// from elsewhere, makes no owners.
func channelPolicy(c config.Config, channelID, account string) inbound.Policy {
	a, ok := c.Channels.Telegram.Accounts[account]
	if channelID != telegramID || !ok {
		return inbound.Policy{DM: inbound.DMDisabled, Group: inbound.GroupDisabled}
	}
	p := inbound.Policy{
		DM: inbound.DMPolicy(a.DMPolicy), AllowFrom: a.AllowFrom, Owners: c.Commands.OwnerAllowFrom, Group: inbound.GroupPolicy(a.GroupPolicy),
		GroupAllowFrom: a.GroupAllowFrom, Groups: map[string]inbound.GroupRule{}, HistoryLimit: a.HistoryLimit,
	}
	for id, r := range a.Groups {
		p.Groups[id] = inbound.GroupRule{RequireMention: r.RequireMention, AllowFrom: r.AllowFrom, Disabled: !r.Enabled}
	}
	return p
}

// deliveries on the wire.

// maxDeliveries bounds one list.
const maxDeliveries = 200

func (g *Gateway) deliveriesList(context.Context, method.None) (protocol.DeliveriesList, error) {
	out := protocol.DeliveriesList{Deliveries: []protocol.DeliveryInfo{}, Incomplete: []protocol.DeliveryInfo{}, Aside: []protocol.AsideMessage{}}
	all, err := g.deliverer.Undelivered(maxDeliveries)
	for _, d := range all {
		out.Deliveries = append(out.Deliveries, deliveryInfo(d))
	}
	if err != nil {
		return out, err
	}
	less, err := g.deliverer.Incomplete(maxDeliveries)
	for _, d := range less {
		out.Incomplete = append(out.Incomplete, deliveryInfo(d))
	}
	if err != nil {
		return out, err
	}
	aside, err := g.gate.Quarantine()
	for _, q := range aside {
		out.Aside = append(out.Aside, protocol.AsideMessage{
			ID: asideID(q.ID), Channel: q.Channel, Account: q.Account, Conversation: q.Conversation, SenderID: q.SenderID,
			Reason: g.redactor.Text(q.Reason), Text: g.redactor.Text(q.Preview), At: q.At,
		})
	}
	return out, err
}

// deliveryInfo is a delivery on the wire. Where a file could not be sent, that is
// its reason, however far the rest has come.
func deliveryInfo(d outbound.Delivery) protocol.DeliveryInfo {
	reason := d.Reason
	if p := d.Problem(); p != "" {
		reason = strings.TrimPrefix(reason+"; a file was not sent: "+p, "; ")
	}
	return protocol.DeliveryInfo{
		ID: d.ID, Channel: d.Channel, Account: d.To.Account, Conversation: d.To.Conversation, SessionKey: d.Session, RunID: d.RunID,
		State: string(d.State), Reason: reason, Text: d.Text, Sent: d.Sent(), Parts: len(d.Parts), CreatedAt: d.CreatedAt, NextAt: d.NextAt,
	}
}

// asidePrefix tells the ids of messages that were put aside from those of
// answers.
const asidePrefix = "aside-"

func asideID(n uint64) string { return asidePrefix + strconv.FormatUint(n, 10) }

// resolveAside decides about a message that could not be handled.
func (g *Gateway) resolveAside(ctx context.Context, p protocol.DeliveryResolveParams) error {
	n, err := strconv.ParseUint(strings.TrimPrefix(p.ID, asidePrefix), 10, 64)
	switch {
	case err != nil || !strings.HasPrefix(p.ID, asidePrefix):
		return inbound.ErrNotAside
	case p.Decision == "drop":
		return g.gate.Drop(ctx, n)
	}
	return g.gate.Retry(ctx, n)
}

func (g *Gateway) deliveriesResolve(ctx context.Context, p protocol.DeliveryResolveParams) (protocol.OKResult, error) {
	var err error
	switch p.Decision {
	case "resend":
		err = g.deliverer.Resend(ctx, p.ID)
	case "arrived":
		err = g.deliverer.Arrived(ctx, p.ID)
	case "retry", "drop":
		err = g.resolveAside(ctx, p)
	default:
		return protocol.OKResult{}, protocol.InvalidParams(protocol.MethodDeliveriesResolve, "decision must be resend or arrived, or for a message that was put aside retry or drop")
	}
	if isAny(err, outbound.ErrNoDelivery, outbound.ErrNotStuck, inbound.ErrNotAside, inbound.ErrNotWhole) {
		return protocol.OKResult{}, protocol.Invalid("%v", err)
	}
	return protocol.OKResult{OK: err == nil}, err
}

// channelsStatus is what clients show of channels.
func (g *Gateway) channelsStatus(context.Context, method.None) (protocol.ChannelsStatus, error) {
	out := protocol.ChannelsStatus{
		TS: g.opts.Now().UnixMilli(), ChannelOrder: []string{}, ChannelLabels: map[string]string{}, Channels: map[string]any{},
		ChannelAccounts: map[string][]protocol.ChannelAccountStatus{}, ChannelDefaultAccountID: map[string]string{},
	}
	if e := g.config.Snapshot().Config.Gateway.HTTP.Endpoints; e.ChatCompletions.Enabled || e.Responses.Enabled {
		out.ChannelLabels[channel.API] = "API" // no network, but chats come from there
	}
	g.channels.mu.Lock()
	defer g.channels.mu.Unlock()
	for _, a := range g.channels.list {
		id := a.ID()
		if _, seen := out.ChannelLabels[id]; !seen {
			out.ChannelOrder = append(out.ChannelOrder, id)
			out.ChannelLabels[id], out.ChannelDefaultAccountID[id], out.Channels[id] = "Telegram", "default", map[string]any{"configured": true}
		}
		st := protocol.ChannelAccountStatus{AccountID: a.Account(), Enabled: true, Configured: true, Linked: true, Running: a.err == nil}
		if t, ok := a.Channel.(*telegram.Channel); ok {
			s := t.Status()
			st.Connected, st.LastError = s.State == telegram.Receiving, s.Problem
		}
		if a.err != nil {
			st.LastError = a.err.Error()
		}
		out.ChannelAccounts[id] = append(out.ChannelAccounts[id], st)
	}
	for _, account := range g.channels.unused() {
		if len(out.ChannelAccounts[telegramID]) == 0 {
			out.ChannelOrder = append(out.ChannelOrder, telegramID)
			out.ChannelLabels[telegramID], out.ChannelDefaultAccountID[telegramID], out.Channels[telegramID] = "Telegram", "default", map[string]any{"configured": true}
		}
		out.ChannelAccounts[telegramID] = append(out.ChannelAccounts[telegramID], protocol.ChannelAccountStatus{
			AccountID: account, Enabled: true, Configured: true, LastError: "It was set up after Hearth had started: restart Hearth to connect it.",
		})
	}
	return out, nil
}
