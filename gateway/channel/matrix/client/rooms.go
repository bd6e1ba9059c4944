//go:build goolm

package client

import (
	"context"
	"slices"
	"strings"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// room is what is known of a room. What it says of itself is asked once and then
// followed.
type room struct {
	id         id.RoomID
	name       string
	encryption *event.EncryptionEventContent
	history    *event.HistoryVisibilityEventContent
	members    map[id.UserID]event.Membership
}

// room is a room that we are in.
func (c *Client) room(ctx context.Context, s *session, of id.RoomID) (*room, error) {
	c.mu.Lock()
	r := c.rooms[of]
	c.mu.Unlock()
	if r != nil {
		return r, nil
	}
	state, err := s.api.State(ctx, of)
	if err != nil {
		return nil, failure(err, false)
	}
	r = &room{id: of, members: map[id.UserID]event.Membership{}}
	for _, byKey := range state {
		for _, e := range byKey {
			r.follow(e)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rooms[of] = r
	return r, nil
}

// follow notes a change of a room.
func (r *room) follow(e *event.Event) {
	e.Type.Class = event.StateEventType
	_ = e.Content.ParseRaw(e.Type) // twice is an error, and what cannot be read is nothing
	switch content := e.Content.Parsed.(type) {
	case *event.EncryptionEventContent:
		r.encryption = content // once encrypted, always
	case *event.HistoryVisibilityEventContent:
		r.history = content
	case *event.RoomNameEventContent:
		r.name = line(content.Name, 100)
	case *event.MemberEventContent:
		if e.StateKey != nil {
			r.members[id.UserID(*e.StateKey)] = content.Membership
		}
	}
}

// there are those who are in a room or invited.
func (r *room) there() (out []id.UserID) {
	for who, how := range r.members {
		if how == event.MembershipJoin || how == event.MembershipInvite {
			out = append(out, who)
		}
	}
	slices.Sort(out)
	return out
}

// direct is the one person that a room is with, "" for none.
func (r *room) direct(own id.UserID) id.UserID {
	all := r.there()
	if i := slices.Index(all, own); len(all) != 2 || i < 0 {
		return ""
	} else {
		return all[1-i]
	}
}

// states is what the library asks of rooms. It implements crypto.StateStore.
type states struct {
	c *Client
	s *session
}

// IsEncrypted implements crypto.StateStore.
func (t *states) IsEncrypted(ctx context.Context, of id.RoomID) (bool, error) {
	r, err := t.c.room(ctx, t.s, of)
	if err != nil {
		return false, err
	}
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	return r.encryption != nil, nil
}

// GetEncryptionEvent implements crypto.StateStore.
func (t *states) GetEncryptionEvent(ctx context.Context, of id.RoomID) (*event.EncryptionEventContent, error) {
	r, err := t.c.room(ctx, t.s, of)
	if err != nil {
		return nil, err
	}
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	return r.encryption, nil
}

// GetHistoryVisibility implements crypto.StateStore.
func (t *states) GetHistoryVisibility(ctx context.Context, of id.RoomID) (*event.HistoryVisibilityEventContent, error) {
	r, err := t.c.room(ctx, t.s, of)
	if err != nil {
		return nil, err
	}
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	return r.history, nil
}

// FindSharedRooms implements crypto.StateStore. Of rooms that nobody asked about we
// have no keys that others lack.
func (t *states) FindSharedRooms(_ context.Context, who id.UserID) (out []id.RoomID, _ error) {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	for of, r := range t.c.rooms {
		if how := r.members[who]; r.encryption != nil && (how == event.MembershipJoin || how == event.MembershipInvite) {
			out = append(out, of)
		}
	}
	return out, nil
}

// follow joins the rooms that somebody whose invitations we follow has invited us to.
func (c *Client) follow(ctx context.Context, s *session, invites map[id.RoomID]*mautrix.SyncInvitedRoom) error {
	found := map[id.RoomID]id.UserID{}
	for of, invite := range invites {
		for _, e := range invite.State.Events {
			if e.Type.Type == event.StateMember.Type && e.GetStateKey() == string(c.user) {
				found[of] = e.Sender
			}
		}
	}
	if len(found) > 0 {
		if err := c.keep(ctx, func(k *kept) {
			for of, by := range found {
				if len(k.Invites) < mostInvites || c.inviters[by] {
					k.Invites[of] = by
				}
			}
		}); err != nil {
			return err
		}
	}
	c.mu.Lock()
	waiting := map[id.RoomID]id.UserID{}
	for of, by := range c.kept.Invites {
		waiting[of] = by
	}
	c.mu.Unlock()
	for of, by := range waiting {
		if !c.inviters[by] {
			if found[of] != "" {
				c.trouble("%s invites it into a conversation. If that is somebody you know, add their id to channels.matrix.inviters and restart "+
					"Hearth.", line(string(by), 100))
			}
			continue
		}
		if _, err := s.api.JoinRoomByID(ctx, of); err != nil {
			err = failure(err, false)
			if !refusedOnly(err) {
				return err
			}
			c.trouble("It cannot follow the invitation of %s: %v.", line(string(by), 100), err)
		}
		if err := c.keep(ctx, func(k *kept) { delete(k.Invites, of) }); err != nil {
			return err
		}
	}
	return nil
}

// where is the room of a conversation.
func (c *Client) where(conversation string) (id.RoomID, error) {
	if strings.HasPrefix(conversation, "!") {
		return id.RoomID(conversation), checkRoom(conversation)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	of, ok := c.kept.Directs[id.UserID(conversation)]
	if !ok {
		return "", noRoom(conversation)
	}
	return of, nil
}

// place says what kind of conversation a room is, and remembers the room of a person.
func (c *Client) place(ctx context.Context, r *room) (kind channel.ChatType, conversation, label string, err error) {
	c.mu.Lock()
	peer, name := r.direct(c.user), r.name
	same := c.kept.Directs[peer] == r.id
	c.mu.Unlock()
	if peer == "" {
		if name == "" {
			name = string(r.id)
		}
		return channel.Group, string(r.id), name, nil
	}
	if !same {
		err = c.keep(ctx, func(k *kept) {
			if len(k.Directs) < mostDirects {
				k.Directs[peer] = r.id
			}
		})
	}
	return channel.Direct, string(peer), string(peer), err
}
