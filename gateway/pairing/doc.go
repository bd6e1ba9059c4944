// Package pairing decides who may talk to the gateway. It owns the registry of
// paired devices, the check of the shared token, the device tokens, the
// single-use launch tickets, the tokens of other programs (Clients) and the
// throttle that guards all of them.
//
// It does not own sockets or the wire: gateway/server hands it one Attempt per
// connect and gets a Grant or an error in the protocol's own form.
//
// Authority never grows by what a client says of itself. A grant's scopes are a
// subset of what was asked and of what the credential allows; only a connection
// from this machine may be paired without a person's approval, and a revoked
// device stays revoked until a person opens a launch link on it.
package pairing
