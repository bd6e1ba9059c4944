package messaging

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// Strangers who wrote to an account with dmPolicy pairing, as OpenClaw's clients see them
// (channels.pairing.*): the same requests as those of hearth.contacts.*, by a name that is
// not the code which they were told.

// tellTime bounds telling somebody that they were let in.
const tellTime = 20 * time.Second

// pairingAccounts are those that pair strangers; a name that fits none is a mistake.
func (f *feature) pairingAccounts(network, account string) (out []protocol.ChannelPairingAccount, err error) {
	network, account = strings.ToLower(strings.TrimSpace(network)), strings.ToLower(strings.TrimSpace(account))
	if _, known := f.o.Networks.Kinds.Get(network); network != "" && !known {
		return nil, protocol.Invalid("unknown pairing channel: %s. `hearth channels` shows those that there are", network)
	}
	c := f.o.Settings.Snapshot().Config
	for _, k := range f.o.Networks.Kinds {
		for id, a := range hub.Section(k).Of(c).InUse() {
			if a.DMPolicy == "pairing" && (network == "" || network == k.ID) && (account == "" || account == id) {
				out = append(out, protocol.ChannelPairingAccount{Channel: k.ID, ChannelLabel: k.Label, AccountID: id, NotifySupported: true})
			}
		}
	}
	slices.SortFunc(out, func(a, b protocol.ChannelPairingAccount) int {
		return strings.Compare(a.Channel+"\x00"+a.AccountID, b.Channel+"\x00"+b.AccountID)
	})
	return out, nil
}

func (f *feature) pairingList(_ context.Context, p protocol.ChannelPairingListParams) (out protocol.ChannelPairingList, err error) {
	out.Requests = []protocol.ChannelPairingRequest{}
	out.Limits = protocol.ChannelPairingLimits{PendingPerAccount: contact.MaxPending, TTLMs: contact.CodeLife.Milliseconds()}
	accounts, err := f.pairingAccounts(p.Channel, p.AccountID)
	if err != nil {
		return out, err
	}
	out.Accounts = append([]protocol.ChannelPairingAccount{}, accounts...)
	if out.CommandOwnerConfigured, err = f.owned(); err != nil {
		return out, err
	}
	waiting, err := f.o.Contacts.Requests()
	for _, r := range waiting {
		i := slices.IndexFunc(accounts, func(a protocol.ChannelPairingAccount) bool { return a.Channel == r.Channel && a.AccountID == r.Account })
		if i >= 0 {
			out.Requests = append(out.Requests, pairingRequest(accounts[i], r))
		}
	}
	slices.SortStableFunc(out.Requests, func(a, b protocol.ChannelPairingRequest) int { return strings.Compare(a.CreatedAt, b.CreatedAt) })
	return out, err
}

func pairingRequest(a protocol.ChannelPairingAccount, r contact.Request) protocol.ChannelPairingRequest {
	at := func(ms int64) string { return method.Time(ms).UTC().Format(time.RFC3339Nano) }
	out := protocol.ChannelPairingRequest{
		RequestID: r.RequestID(), Channel: a.Channel, ChannelLabel: a.ChannelLabel, AccountID: a.AccountID, SenderID: r.Reads(),
		SenderLabel: a.Channel + "UserId", CreatedAt: at(r.AskedAt), LastSeenAt: at(r.AskedAt), ExpiresAt: at(r.ExpiresAt),
		NotifySupported: a.NotifySupported && r.Conversation != "", Metadata: map[string]string{},
	}
	if r.Name != "" {
		out.Metadata["name"] = r.Name
	}
	if r.Handle != "" {
		out.Metadata["username"] = r.Handle
	}
	return out
}

// owned reports whether somebody is the owner.
func (f *feature) owned() (bool, error) {
	if len(hub.OwnersSection.Of(f.o.Settings.Snapshot().Config)) > 0 {
		return true, nil
	}
	all, err := f.o.Contacts.Contacts()
	return slices.ContainsFunc(all, func(c contact.Contact) bool { return c.Owner }), err
}

// waiting is the request that a client means.
func (f *feature) waiting(network, account, id string) (r contact.Request, err error) {
	accounts, err := f.pairingAccounts(network, account)
	if err != nil {
		return r, err
	}
	if network == "" || account == "" || len(accounts) != 1 {
		return r, protocol.Invalid("channel account does not use DM pairing: %s:%s", network, account)
	}
	r, err = f.o.Contacts.Named(accounts[0].Channel, accounts[0].AccountID, id)
	return r, pairingError(err)
}

func pairingError(err error) error {
	if errors.Is(err, contact.ErrNotWaiting) {
		return protocol.Invalid("pending DM access request no longer exists: %v", err)
	}
	return err
}

func (f *feature) pairingApprove(
	ctx context.Context, by *server.Caller, p protocol.ChannelPairingApproveParams,
) (out protocol.ChannelPairingApproved, err error) {
	if p.BootstrapCommandOwner && !protocol.Allows(by.Scopes, protocol.ScopeAdmin) {
		return out, protocol.MissingScope(protocol.ScopeAdmin)
	}
	r, err := f.waiting(p.Channel, p.AccountID, p.RequestID)
	if err != nil {
		return out, err
	}
	listed := len(hub.OwnersSection.Of(f.o.Settings.Snapshot().Config)) > 0
	owner := "not-requested"
	c, err := f.o.Contacts.Admit(ctx, r, func(owned bool) contact.Rights {
		switch {
		case !p.BootstrapCommandOwner:
			return contact.Rights{}
		case owned || listed:
			owner = "already-configured"
			return contact.Rights{}
		}
		owner = "configured"
		return contact.Rights{Owner: true}
	})
	if err != nil {
		return out, pairingError(err)
	}
	f.o.Audit.Add(audit.Entry{Kind: audit.KindAuth, What: "let in: " + c.Channel + ":" + c.ID, Who: method.CallerName(by),
		Facts: map[string]string{"account": c.Account, "owner": owner}})
	out = protocol.ChannelPairingApproved{RequestID: p.RequestID, SenderID: c.Reads(), Notification: "not-requested",
		CommandOwnerBootstrap: owner}
	if p.Notify {
		out.Notification = f.tellAdmitted(ctx, r)
	}
	return out, nil
}

// tellAdmitted tells somebody that they were let in.
func (f *feature) tellAdmitted(ctx context.Context, r contact.Request) string {
	ch := f.o.Networks.Find(r.Channel, r.Account)
	if r.Conversation == "" {
		return "unsupported"
	}
	if ch == nil {
		return "failed"
	}
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	_, err := ch.Send(ctx, channel.Message{To: channel.Target{Account: r.Account, Conversation: r.Conversation},
		Text: "You may write to this assistant now. Say what you want to say once more: what you wrote before was not kept.",
		Key:  "admitted:" + r.RequestID()})
	if err != nil {
		f.o.Log.Warn("somebody who was let in could not be told", "channel", r.Channel, "account", r.Account, "err", err)
		return "failed"
	}
	return "sent"
}

func (f *feature) pairingDismiss(
	ctx context.Context, p protocol.ChannelPairingDismissParams,
) (out protocol.ChannelPairingDismissed, err error) {
	r, err := f.waiting(p.Channel, p.AccountID, p.RequestID)
	if err == nil {
		err = pairingError(f.o.Contacts.Dismiss(ctx, r))
	}
	return protocol.ChannelPairingDismissed{RequestID: p.RequestID, SenderID: r.Reads()}, err
}
