// Package node keeps the devices that do things for the assistant: phones and
// computers that are connected with the role node. It owns who of them is
// connected, what each was approved to do, the calls to them and what waits for
// those that sleep.
//
// It does not own sockets (a Conn is handed in), nor who may connect
// (gateway/pairing), nor which calls a person must allow (gateway/approval).
//
// What may be called is what the node declares now, what a person approved
// before, and what the policy allows: all three. A node is believed about
// nothing else. Its answers count only for a call that is open on its own,
// newest connection.
package node
