//go:build goolm

package client

import (
	"context"
	"encoding/json"
	"time"

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
	d, err := s.mach.CryptoStore.GetDevice(ctx, who, device)
	return err == nil && d != nil && d.Trust == id.TrustStateVerified
}
