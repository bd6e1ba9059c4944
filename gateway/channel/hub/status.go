package hub

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// lateWords are for an account that the settings got while Hearth runs.
const lateWords = "was set up after Hearth had started"

// Problems says which accounts do not work and why.
func (h *Hub) Problems() (out []protocol.Problem) {
	h.mu.Lock()
	defer h.mu.Unlock()
	add := func(n name, format string, args ...any) {
		label := fmt.Sprintf("%s (%s) ", h.Kinds.Label(n.network), n.account)
		out = append(out, protocol.Problem{Code: "CHANNEL", Message: label + fmt.Sprintf(format, args...)})
	}
	for n, err := range h.missed {
		add(n, "is not connected: %v. Mend that in the settings, or restart Hearth.", err)
	}
	if !h.runs.Load() && !h.Asleep {
		for _, n := range h.unused() {
			add(n, lateWords+". Restart Hearth to connect it.")
		}
	}
	for n, a := range h.list {
		if a.err != nil {
			add(n, "is not connected: %v. Correct its settings, or restart Hearth.", a.err)
		} else if s := statusOf(a); s.Problem != "" {
			out = append(out, protocol.Problem{Code: "CHANNEL", Message: s.Problem})
		}
	}
	slices.SortStableFunc(out, func(a, b protocol.Problem) int { return strings.Compare(a.Message, b.Message) })
	return out
}

// unused are the accounts of the settings that came after the start. The caller
// holds mu.
func (h *Hub) unused() (out []name) {
	if !h.opened {
		return nil
	}
	for _, n := range h.configured() {
		_, made := h.list[n]
		_, missed := h.missed[n]
		if !made && !missed && !slices.Contains(h.later, n) {
			out = append(out, n)
		}
	}
	return out
}

// Asking is what an account asks of a person now; the zero Ask is nothing.
func (h *Hub) Asking(network, account string) channel.Ask {
	if a, ok := h.Find(network, account).(channel.Asker); ok {
		return a.Asking()
	}
	return channel.Ask{}
}

// Login tells an account that a person wants to log it in: it may ask for something then.
func (h *Hub) Login(ctx context.Context, network, account string) error {
	if a, ok := h.Find(network, account).(channel.LoginAsker); ok {
		return a.Login(ctx)
	}
	return nil
}

// Confirm hands an account what a person says of the value that it asked them to compare.
func (h *Hub) Confirm(ctx context.Context, network, account, value string, yes bool) error {
	a, ok := h.Find(network, account).(channel.Confirmer)
	if !ok {
		return fmt.Errorf("%w: %s asks for no comparison", channel.ErrRefused, h.Kinds.Label(network))
	}
	return a.Confirm(ctx, value, yes)
}

// statusOf is how an account is; one that does not tell is taken to be well.
func statusOf(a *attached) channel.Status {
	if r, ok := a.Channel.(channel.Reporter); ok {
		return r.Status()
	}
	return channel.Status{State: channel.Receiving}
}

// Status is the accounts that the settings have, for clients: those at work first,
// in order, then those that are not, and at last those that are switched off.
func (h *Hub) Status() (out []AccountStatus) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range slices.SortedFunc(maps.Keys(h.list), name.compare) {
		a := h.list[n]
		s := statusOf(a)
		st := h.statusFor(n, string(s.State))
		st.Linked, st.Running, st.Connected = true, a.err == nil, s.State == channel.Receiving
		st.LastError, st.Name, st.LastInboundAt = s.Problem, s.Bot, a.took.Load()
		if asker, ok := a.Channel.(channel.Asker); ok && asker.Asking().Kind != "" && !asker.Asking().Kind.Answered() {
			st.Linked = false
		}
		if a.err != nil {
			st.LastError, st.State, st.Connected = a.err.Error(), string(channel.Failed), false
		}
		out = append(out, st)
	}
	for _, n := range h.unused() {
		st := h.statusFor(n, string(channel.Starting))
		if !h.runs.Load() {
			st.LastError = "It " + lateWords + ": restart Hearth to connect it."
		}
		out = append(out, st)
	}
	for _, n := range slices.SortedFunc(maps.Keys(h.missed), name.compare) {
		st := h.statusFor(n, string(channel.Failed))
		st.LastError = h.missed[n].Error()
		out = append(out, st)
	}
	if h.Asleep {
		for i := range out {
			out[i].State, out[i].Running, out[i].Connected = string(channel.Stopped), false, false
			out[i].LastError = "This Hearth sleeps. `hearth move status` says more."
		}
	}
	return append(out, h.off()...)
}

// statusFor is what the settings say of an account.
func (h *Hub) statusFor(n name, state string) AccountStatus {
	a := h.Account(n.network, n.account)
	return AccountStatus{Network: n.network, ChannelAccountStatus: protocol.ChannelAccountStatus{
		AccountID: n.account, Enabled: true, Configured: true, State: state, DMPolicy: a.DMPolicy, GroupPolicy: a.GroupPolicy,
		AllowFrom: a.AllowFrom, Groups: slices.Sorted(maps.Keys(a.Groups)),
	}}
}

// off are the accounts that are switched off.
func (h *Hub) off() (out []AccountStatus) {
	c := h.Settings.Snapshot().Config
	for _, k := range h.Kinds {
		of := Section(k).Of(c)
		used := of.InUse()
		for id, a := range of.Accounts() {
			if _, on := used[id]; !on && a.connects(k) {
				st := h.statusFor(name{k.ID, id}, string(channel.Stopped))
				st.Enabled = false
				out = append(out, st)
			}
		}
	}
	slices.SortFunc(out, func(a, b AccountStatus) int {
		return name{a.Network, a.AccountID}.compare(name{b.Network, b.AccountID})
	})
	return out
}

// AccountStatus is how one account of a network is.
type AccountStatus struct {
	Network string
	protocol.ChannelAccountStatus
}
