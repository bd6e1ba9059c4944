package hub

import (
	"fmt"
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
	for _, n := range h.unused() {
		add(n, lateWords+". Restart Hearth to connect it.")
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

// statusOf is how an account is; one that does not tell is taken to be well.
func statusOf(a *attached) channel.Status {
	if r, ok := a.Channel.(channel.Reporter); ok {
		return r.Status()
	}
	return channel.Status{State: channel.Receiving}
}

// Status is the accounts that the settings connect, for clients: those at work
// first, in order.
func (h *Hub) Status() (out []AccountStatus) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n, a := range h.list {
		s := statusOf(a)
		st := AccountStatus{Network: n.network, ChannelAccountStatus: protocol.ChannelAccountStatus{
			AccountID: n.account, Enabled: true, Configured: true, Linked: true, Running: a.err == nil,
			Connected: s.State == channel.Receiving, LastError: s.Problem,
		}}
		if a.err != nil {
			st.LastError = a.err.Error()
		}
		out = append(out, st)
	}
	slices.SortFunc(out, func(a, b AccountStatus) int {
		return name{a.Network, a.AccountID}.compare(name{b.Network, b.AccountID})
	})
	for _, n := range h.unused() {
		out = append(out, AccountStatus{Network: n.network, ChannelAccountStatus: protocol.ChannelAccountStatus{
			AccountID: n.account, Enabled: true, Configured: true, LastError: "It " + lateWords + ": restart Hearth to connect it.",
		}})
	}
	return out
}

// AccountStatus is how one account of a network is.
type AccountStatus struct {
	Network string
	protocol.ChannelAccountStatus
}
