// Package server owns the gateway's one port: the HTTP gate in front of
// everything, the page's files, the probes, the WebSocket handshake, the
// dispatch of requests to handlers and the fan-out of events to clients.
//
// It knows nothing of sessions, models or storage: handlers and the pages come
// in through Options, authority comes from gateway/pairing.
//
// Delivery has two grades. A Broadcast is must-deliver: it is queued for each
// client in order, and a client that cannot take it in time is cut off, to
// come back and read the state anew. A Delta is lossy in form and exact in
// substance: a client that is slow gets fewer, longer deltas of the same text.
// Neither call ever waits for a client.
package server
