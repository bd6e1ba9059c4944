package channel

import "net/http"

// CallsBelow is where the gateway takes what networks send to it: the path of each
// account is below it (CallPath).
const CallsBelow = "/channels/"

// CallPath is where the network of an account calls this gateway.
func CallPath(network, account string) string { return CallsBelow + network + "/" + account }

// NotProven is what a call is answered that did not prove that it is the network's.
func NotProven(label string) string {
	return "Only " + label + " calls here, and proves it. This call did not."
}

// Call is a request of a network to the gateway. Anybody can make one: what is in it
// is nobody's word before its proof is right.
type Call struct {
	Method string
	Path   string
	Query  string      // as it stands behind the ?
	Header http.Header // as net/http writes their names
	Body   []byte
}

// CallAnswer is what the network is told. Of its headers only a few are sent: package hub
// says which.
type CallAnswer struct {
	Status int
	Header http.Header
	Body   []byte
}
