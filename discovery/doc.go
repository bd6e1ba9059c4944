// Package discovery makes a gateway findable on the local network by Bonjour
// (multicast DNS), and finds gateways there.
//
// It owns the announcement: its name, its conflicts, the interfaces it is made
// on, and when to be silent. It owns browsing: sweeps, and what has come and
// gone between them. It does not decide whether to announce at all, it opens no
// connection to what it finds, and it never says that something found can be
// trusted: names, addresses and texts come from whoever shouts on the network.
// Who a gateway is shows only in its key.
//
// It stands on github.com/grandcat/zeroconf v1.0.0, which announces, answers
// for the service and browses, and on a small responder of its own beside it,
// which answers what that library does not: the addresses of the host name,
// probes, other letter case and one-shot queries. The library is held in narrow
// use: a host name that nobody else on the machine has, no list of addresses
// (so that they are looked up for each interface), names and texts in the
// escaped form, a new server for every change, and a new resolver per sweep.
//
// Trouble on the network is a State for people to see, never an error: a
// gateway must not stop because its Wi-Fi is hostile.
package discovery
