//go:build goolm

package client

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/id"
)

// Hurry lets servers that failed alone for a moment only, and has short questions.
func (c *Client) Hurry() { c.rest, c.long = 10*time.Millisecond, 2*time.Second }

// Device is the device that it is logged in as.
func (c *Client) Device() id.DeviceID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept.Device
}

// Knows reports whether it is in a room, and how many of those that are there it knows.
func (c *Client) Knows(of id.RoomID) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.rooms[of]; r != nil {
		return len(r.there())
	}
	return 0
}

// Addressed is what of a text is for whoever has a name.
func Addressed(text string, names ...string) (string, bool) { return addressed(text, names...) }

// HTML is a text as it is formatted.
func HTML(markdown string) string { return text(markdown).FormattedBody }

// Size is how many bytes an edit with a text has, and the text.
func Size(markdown string) (int, string) {
	m := text(markdown)
	m.SetEdit("$x")
	slim(m)
	b, _ := json.Marshal(m)
	return len(b), m.Body
}

// Trusts reports whether a device of somebody is verified here.
func (c *Client) Trusts(ctx context.Context, who id.UserID, device id.DeviceID) bool {
	s, err := c.current()
	if err != nil {
		return false
	}
	d, err := s.mach.GetOrFetchDevice(ctx, who, device)
	return err == nil && d != nil && d.Trust == id.TrustStateVerified
}

// Give is a key of a room as a device gives it, or as another one hands it on.
func (c *Client) Give(ctx context.Context, of id.RoomID, session id.SessionID, key string, from, by *id.Device) {
	s, err := c.current()
	if err != nil {
		panic(err)
	}
	g, err := crypto.NewInboundGroupSession(from.IdentityKey, from.SigningKey, of, key, 0, 0, nil, false)
	if err != nil || g.ID() != session {
		panic(fmt.Sprint(g.ID(), err))
	}
	if by != nil {
		g.KeySource, g.ForwardingChains, g.SourceUser = id.KeySourceForward, []string{string(by.IdentityKey)}, by.UserID
	}
	if err := s.mach.StoreGroupSession(ctx, g); err != nil {
		panic(err)
	}
}

// Verified is a verification of a device and of its person's master key, as it ends: the
// library's other side cannot go through one with somebody who has no such key.
func (c *Client) Verified(ctx context.Context, who id.UserID, device id.DeviceID, master id.Ed25519) error {
	s, err := c.current()
	if err != nil {
		return err
	}
	d, err := s.mach.GetOrFetchDevice(ctx, who, device)
	if err != nil {
		return err
	}
	return s.keys.verified(ctx, d, master)
}
