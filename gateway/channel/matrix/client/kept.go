//go:build goolm

package client

import (
	"context"
	"encoding/json"
	"fmt"

	"maunium.net/go/mautrix/id"
)

// kept is what the account keeps over restarts, beside its keys.
type kept struct {
	Device  id.DeviceID             `json:"device,omitempty"`
	Token   string                  `json:"token,omitempty"` // of that device
	Since   string                  `json:"since,omitempty"` // how far the account was read
	Directs map[id.UserID]id.RoomID `json:"directs,omitempty"`
	Invites map[id.RoomID]id.UserID `json:"invites,omitempty"` // not followed yet
	Later   []later                 `json:"later,omitempty"`
	Trouble string                  `json:"trouble,omitempty"`
	// Verifying is a verification that is under way; SignedFor says of which
	// device and key, as a sum, the server has our signature.
	Verifying *started `json:"verifying,omitempty"`
	SignedFor string   `json:"signedFor,omitempty"`
	// Generation counts what is encrypted to other devices. The server has the same
	// number; when it has another one, this is an old backup, and its keys would be
	// used twice. Before is the last one of which the server is known to have it.
	Generation int64 `json:"generation,omitempty"`
	Before     int64 `json:"before,omitempty"`
}

// later is a message whose key has not come yet.
type later struct {
	Room  id.RoomID  `json:"room"`
	Event id.EventID `json:"event"`
	At    int64      `json:"at"` // Unix, when it came
}

const (
	keptKey     = "account"
	mostInvites = 50
	mostLater   = 200
	mostDirects = 1000
)

// remember reads what was kept.
func (c *Client) remember(ctx context.Context) error {
	b, err := c.durable.Get(ctx, keptKey)
	if err != nil {
		return err
	}
	k := kept{}
	if len(b) > 0 {
		if err := json.Unmarshal(b, &k); err != nil {
			return fmt.Errorf("read what was kept of the account: %w", err)
		}
	}
	if k.Directs == nil {
		k.Directs = map[id.UserID]id.RoomID{}
	}
	if k.Invites == nil {
		k.Invites = map[id.RoomID]id.UserID{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = k
	return nil
}

// keep changes what is kept.
func (c *Client) keep(ctx context.Context, change func(*kept)) error {
	c.mu.Lock()
	change(&c.kept)
	b, err := json.Marshal(c.kept)
	c.mu.Unlock()
	if err != nil {
		return err
	}
	return c.durable.Put(ctx, keptKey, b)
}
