//go:build goolm

package client

import (
	"context"
	"errors"
	"slices"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
)

// Filters of news: the first time only what is known is asked, not what was said.
const (
	filter      = `{"presence":{"types":[]},"account_data":{"types":[]},"room":{"timeline":{"limit":50},"state":{"lazy_load_members":true},"ephemeral":{"types":[]},"account_data":{"types":[]}}}`
	firstFilter = `{"presence":{"types":[]},"account_data":{"types":[]},"room":{"timeline":{"limit":1},"state":{"types":[]},"ephemeral":{"types":[]},"account_data":{"types":[]}}}`
)

// news asks what is new and takes it. What was not taken is told again.
func (c *Client) news(ctx context.Context, s *session, inbox channel.Inbox) error {
	c.mu.Lock()
	since, receiving := c.kept.Since, c.status.State == channel.Receiving
	c.mu.Unlock()
	ask := mautrix.ReqSync{Since: since, FilterID: filter, SetPresence: event.PresenceOnline}
	if receiving {
		ask.Timeout = int(c.long / time.Millisecond)
	}
	if since == "" {
		ask.FilterID = firstFilter
	}
	limited, cancel := context.WithTimeout(ctx, c.long+2*time.Minute)
	defer cancel()
	got, err := s.api.FullSyncRequest(limited, ask)
	if err != nil {
		return failure(err, false)
	}
	s.mach.ProcessSyncResponse(ctx, got, since)
	if err := s.keys.trouble(); err != nil { // what came is told again
		return err
	}
	c.verifications(ctx, s, got.ToDevice.Events)
	c.backUp(ctx, s)
	if err := c.follow(ctx, s, got.Rooms.Invite); err != nil {
		return err
	}
	for of, left := range got.Rooms.Leave {
		c.left(of, left)
	}
	for of, joined := range got.Rooms.Join {
		if err := c.heard(ctx, s, of, joined, since, inbox); err != nil {
			return err
		}
	}
	if err := c.again(ctx, s, inbox); err != nil {
		return err
	}
	if got.NextBatch == since {
		return nil
	}
	return c.keep(ctx, func(k *kept) { k.Since = got.NextBatch })
}

// left: we are no longer in a room.
func (c *Client) left(of id.RoomID, how *mautrix.SyncLeftRoom) {
	c.mu.Lock()
	delete(c.rooms, of)
	c.mu.Unlock()
	for _, e := range how.Timeline.Events {
		if e.Type.Type == event.StateMember.Type && e.GetStateKey() == string(c.user) && e.Sender != c.user {
			c.trouble("%s has sent it out of the room %s. It comes back when somebody of channels.matrix.inviters invites it.",
				line(string(e.Sender), 100), line(string(of), 100))
		}
	}
}

// heard takes what is new in a room.
func (c *Client) heard(ctx context.Context, s *session, of id.RoomID, j *mautrix.SyncJoinedRoom, since string, inbox channel.Inbox) error {
	c.mu.Lock()
	known := c.rooms[of]
	c.mu.Unlock()
	for _, e := range j.State.Events {
		c.state(ctx, s, known, of, e)
	}
	list, late := j.Timeline.Events, false
	if since == "" {
		list = nil
	} else if from := c.ourEntry(list); from >= 0 { // what was said before we came is not for us
		list = list[from+1:]
	} else if j.Timeline.Limited && j.Timeline.PrevBatch != "" {
		gap, err := c.gap(ctx, s, of, j.Timeline.PrevBatch, since)
		if err != nil {
			return err
		}
		list, late = append(gap, list...), true
	}
	for i, e := range list {
		e.RoomID = of
		if e.StateKey != nil {
			c.state(ctx, s, known, of, e)
			continue
		}
		if err := c.take(ctx, s, e, inbox, !late || i == len(list)-1); err != nil {
			return err
		}
	}
	return nil
}

// state notes a change of a room, and makes new keys where somebody came or went.
func (c *Client) state(ctx context.Context, s *session, r *room, of id.RoomID, e *event.Event) {
	e.RoomID = of
	e.Type.Class = event.StateEventType
	_ = e.Content.ParseRaw(e.Type) // what cannot be read is nothing
	if r != nil {
		c.mu.Lock()
		r.follow(e)
		c.mu.Unlock()
	}
	switch e.Type.Type {
	case event.StateMember.Type:
		s.mach.HandleMemberEvent(ctx, e)
	case event.StateHistoryVisibility.Type:
		s.mach.HandleHistoryVisibility(ctx, e)
	}
}

// ourEntry is where in a list we came into the room, or were invited; -1: nowhere.
func (c *Client) ourEntry(list []*event.Event) int {
	at := -1
	for i, e := range list {
		if e.Type.Type != event.StateMember.Type || e.GetStateKey() != string(c.user) {
			continue
		}
		switch how, _ := e.Content.Raw["membership"].(string); how {
		case string(event.MembershipInvite):
			return i
		case string(event.MembershipJoin):
			before := ""
			if e.Unsigned.PrevContent != nil { // who comes for the first time was nothing before
				before, _ = e.Unsigned.PrevContent.GetRaw()["membership"].(string)
			}
			if at < 0 && before != string(event.MembershipJoin) {
				at = i
			}
		}
	}
	return at
}

// Limits of what is read of a room after a long absence.
const (
	pageSize = 100
	mostLate = 20_000
)

// gap reads what was said between two answers, the oldest first.
func (c *Client) gap(ctx context.Context, s *session, of id.RoomID, from, to string) (out []*event.Event, err error) {
	for len(out) < mostLate {
		got, err := s.api.Messages(ctx, of, from, to, mautrix.DirectionBackward, nil, pageSize)
		if err != nil {
			return nil, failure(err, false)
		}
		for _, e := range got.Chunk {
			if c.ourEntry([]*event.Event{e}) == 0 {
				slices.Reverse(out)
				return out, nil
			}
			out = append(out, e)
		}
		if got.End == "" || got.End == from || got.End == to || len(got.Chunk) == 0 {
			slices.Reverse(out)
			return out, nil
		}
		from = got.End
	}
	c.trouble("More than %d messages came while it was away; the oldest are not read.", mostLate)
	slices.Reverse(out)
	return out, nil
}

// take takes one event, again until it was taken.
func (c *Client) take(ctx context.Context, s *session, e *event.Event, inbox channel.Inbox, receipt bool) error {
	in, ok, err := c.read(ctx, s, e)
	if errors.Is(err, errNoKey) || errors.Is(err, errNotTheirs) {
		return c.putOff(ctx, s, e, err)
	}
	if err != nil || !ok {
		return err
	}
	if err := intake.Take(ctx, inbox, in, c.log); err != nil {
		return err
	}
	c.mu.Lock()
	c.status.LastTake = c.now()
	c.mu.Unlock()
	if receipt {
		if err := s.api.MarkRead(ctx, e.RoomID, e.ID); err != nil {
			c.log.Debug("the server did not note that a message was read", "err", err)
		}
	}
	return nil
}

var (
	errNoKey     = errors.New("its key has not come")
	errNotTheirs = errors.New("it was not written with a device of theirs")
)

// How long a key may take to come.
const mostKeyTime = 24 * time.Hour

// putOff keeps a message whose key may come later, and asks its sender for it; or whose
// device may turn out to be theirs.
func (c *Client) putOff(ctx context.Context, s *session, e *event.Event, why error) error {
	if errors.Is(why, errNotTheirs) {
		c.trouble("A message in the name of %s is not read: it was written with a device that is not known to be theirs, or that the keys "+
			"which you have verified have not signed. If it is theirs, they verify that device in their own program within a day, and "+
			"it is read then.", line(string(e.Sender), 100))
	} else if content, ok := e.Content.Parsed.(*event.EncryptedEventContent); ok {
		err := s.mach.SendRoomKeyRequest(ctx, e.RoomID, content.SenderKey, content.SessionID, "", map[id.UserID][]id.DeviceID{e.Sender: {"*"}})
		if err != nil {
			c.log.Debug("a key could not be asked for", "err", err)
		}
	}
	return c.keep(ctx, func(k *kept) {
		if len(k.Later) < mostLater {
			k.Later = append(k.Later, later{e.RoomID, e.ID, c.now().Unix()})
		}
	})
}

// again looks at the messages whose keys had not come.
func (c *Client) again(ctx context.Context, s *session, inbox channel.Inbox) error {
	c.mu.Lock()
	list := slices.Clone(c.kept.Later)
	c.mu.Unlock()
	for _, l := range list {
		e, err := s.api.GetEvent(ctx, l.Room, l.Event)
		gone := err != nil && refusedOnly(failure(err, false))
		if err != nil && !gone {
			return failure(err, false)
		}
		if err == nil {
			e.RoomID = l.Room
			in, ok, err := c.read(ctx, s, e)
			switch {
			case errors.Is(err, errNoKey), errors.Is(err, errNotTheirs):
				if c.now().Sub(time.Unix(l.At, 0)) < mostKeyTime {
					continue
				}
				if errors.Is(err, errNotTheirs) {
					break // it was told
				}
				c.trouble("A message of %s stays closed: its key never came. They may have to send it again.", line(string(e.Sender), 100))
			case err != nil:
				return err
			case ok:
				if err := inbox(ctx, in); err != nil {
					return err
				}
			}
		}
		if err := c.keep(ctx, func(k *kept) {
			k.Later = slices.DeleteFunc(k.Later, func(o later) bool { return o.Room == l.Room && o.Event == l.Event })
		}); err != nil {
			return err
		}
	}
	return nil
}

// openNew opens what comes in: with keys that people have given to this device alone.
func openNew(ctx context.Context, s *session, e *event.Event) (*event.Event, error) {
	return s.open(ctx, e)
}

// open decrypts an event of an encrypted room.
func (s *session) open(ctx context.Context, e *event.Event) (*event.Event, error) {
	plain, err := s.mach.DecryptMegolmEvent(ctx, e)
	switch {
	case err == nil:
		return plain, nil
	case errors.Is(err, crypto.ErrNoSessionFound), errors.Is(err, crypto.ErrGroupSessionWithheld):
		return nil, errNoKey
	}
	if broken := s.keys.trouble(); broken != nil {
		return nil, broken
	}
	return nil, nil // nobody will ever read it
}
