// Package inbound is the one gate between channels and sessions. Every message
// of every kind from a messaging network passes Gate.Receive, which decides
// whether its sender may talk to the assistant, whether it was meant for it,
// and whether it was here before; gathers what one person writes in quick
// succession; and hands the result to the session it belongs to. Each message
// that does not get through leaves a Decision that says which rule stopped it.
//
// Receive returns nil only when the message is on disk or was decided against,
// so the network may forget it. What was taken is handed on exactly once: the
// turn is written down with an id before the session sees it, and the session
// takes an id only once.
//
// The package owns no transport and no session; contact keeps who was let in,
// envelope renders what the model reads.
package inbound
