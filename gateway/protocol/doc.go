// Package protocol is the wire: frames, methods, events, error codes, JSON
// shapes and the one method→scope table of the OpenClaw gateway protocol,
// version 4, as Hearth speaks it. Shapes follow the real clients of OpenClaw
// 2026.5.22 and 2026.9.6; what is ours alone is named hearth.* (methods,
// capabilities) or sits in an optional field called "hearth".
//
// The package has no behaviour beyond parsing, checking and building those
// values: connections are in gateway/server and gateway/client.
package protocol

// Version is the only protocol number that both client generations use.
const Version = 4

// Limits of the wire, in bytes or milliseconds. They are part of the contract:
// clients are told the first three in hello-ok.
const (
	MaxPayload       = 25 << 20 // one message after hello
	MaxBuffered      = 50 << 20 // told to clients; our own limit for a slow one is lower
	TickIntervalMs   = 30_000
	MaxPreAuth       = 64 << 10 // one message before hello
	MaxDepth         = 64       // nesting of any JSON from outside
	MaxHistoryBytes  = 6 << 20  // one chat.history answer
	SignatureSkewMs  = 120_000
	MaxIdempotencyID = 256
	MaxSessionKey    = 512
	MaxMessageText   = 1 << 20 // a person's message
)
