package client

import (
	"crypto/x509"
	"encoding/xml"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Trust gives a client other roots of certificates than the system's.
func (c *Client) Trust(roots *x509.CertPool) { c.roots = roots }

// LookAfter sets the time between two looks at the rooms.
func (c *Client) LookAfter(d time.Duration) { c.quietRetryFor = d }

// Hurry lets servers that failed alone for a moment only.
func (c *Client) Hurry() { c.leastRest = time.Millisecond }

// Seated reports whether it is in a room.
func (c *Client) Seated(room string) bool {
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	if l == nil {
		return false
	}
	return c.seated(l, room)
}

// Break cuts the connection without a word.
func (c *Client) Break() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil {
		_ = c.link.conn.Close()
	}
}

// TakesFiles reports whether the server was found to take files.
func (c *Client) TakesFiles() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link != nil && c.link.store.address != ""
}

// Waiting is how many messages wait to be taken.
func (c *Client) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.inbox)
}

// ReadStanza is what a message of the stream says, if anything.
func (c *Client) ReadStanza(stanza []byte) (channel.Inbound, bool) {
	var m message
	if xml.Unmarshal(stanza, &m) != nil {
		return channel.Inbound{}, false
	}
	l := &link{
		c: c, seats: map[string]*seat{}, pages: map[string]string{}, lookups: map[string]*lookup{}, held: map[string]*waitingRoom{},
		sends: map[string]*outgoing{}, broken: make(chan struct{}),
	}
	if err := c.message(l, 1, &m); err != nil {
		return channel.Inbound{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	it := c.inbox[len(c.inbox)-1]
	c.inbox = slices.Delete(c.inbox, len(c.inbox)-1, len(c.inbox))
	if it.in == nil {
		return channel.Inbound{}, false
	}
	return *it.in, true
}

// Addressed is what of a text is for whoever has a name.
func Addressed(text, nick string) (string, bool) { return addressed(text, nick) }
