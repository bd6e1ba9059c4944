//go:build goolm

package client

import (
	"context"
	"fmt"
	"strings"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// lapse ends a verification whose time is over, and the offer of keys.
func (c *Client) lapse(ctx context.Context, s *session) {
	if c.making != nil && c.Asking().Kind != channel.AskDecide {
		c.making = nil
	}
	if v := c.compare; v != nil && (!c.now().Before(v.until) || v.us.device != s.api.DeviceID) {
		c.endVerification(ctx, s, event.VerificationCancelCodeTimeout, "nobody compared the emoji in time",
			fmt.Sprintf("The verification with %s took too long. Nothing was verified; begin it again in your Matrix program.",
				line(string(v.them.user), 100)))
	}
}

// endVerification ends it here and there.
func (c *Client) endVerification(ctx context.Context, s *session, code event.VerificationCancelCode, reason, verdict string) {
	c.cancelVerification(ctx, s, c.compare, code, reason)
	c.forgetVerification(ctx, channel.Ask{}, verdict)
}

func (c *Client) forgetVerification(ctx context.Context, ask channel.Ask, verdict string) {
	c.compare = nil
	c.asked(ask, verdict)
	if err := c.keep(ctx, func(k *kept) { k.Verifying = nil }); err != nil {
		c.log.Warn("it could not be kept that a verification is over", "err", err)
	}
}

// endLeft ends the verification that a restart has cut off.
func (c *Client) endLeft(ctx context.Context, s *session) {
	c.verifying.Lock()
	defer c.verifying.Unlock()
	c.mu.Lock()
	left := c.kept.Verifying
	c.mu.Unlock()
	if left == nil || c.compare != nil {
		return
	}
	gone := &verification{room: left.Room, exchange: exchange{txn: left.Txn, them: party{left.User, left.Device}}}
	c.cancelVerification(ctx, s, gone, event.VerificationCancelCodeUser, "Hearth was restarted; begin again")
	c.forgetVerification(ctx, channel.Ask{}, "A verification was cut off by a restart. Begin it again in your Matrix program.")
}

func (c *Client) cancelVerification(ctx context.Context, s *session, v *verification, code event.VerificationCancelCode, reason string) {
	err := c.tellVerification(ctx, s, v, event.InRoomVerificationCancel, &event.VerificationCancelEventContent{Code: code, Reason: reason})
	if err != nil {
		c.log.Debug("a verification could not be ended there", "err", err)
	}
}

// tellVerification sends an event of a verification the way that it came.
func (c *Client) tellVerification(ctx context.Context, s *session, v *verification, kind event.Type, content interface {
	event.Relatable
	event.VerificationTransactionable
}) error {
	if v.room == "" {
		content.SetTransactionID(v.txn)
		_, err := s.api.SendToDevice(ctx, kind, &mautrix.ReqSendToDevice{Messages: map[id.UserID]map[id.DeviceID]*event.Content{
			v.them.user: {v.them.device: {Parsed: content}},
		}})
		return failure(err, false)
	}
	r, err := c.room(ctx, s, v.room)
	if err != nil {
		return err
	}
	content.SetRelatesTo(&event.RelatesTo{Type: event.RelReference, EventID: id.EventID(v.txn)})
	_, err = c.say(ctx, s, r, kind, content, transaction(""))
	return err
}

// isVerification reports whether a kind of event belongs to verifications.
func isVerification(kind string) bool { return strings.HasPrefix(kind, "m.key.verification.") }
