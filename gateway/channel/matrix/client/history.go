//go:build goolm

package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Limits of what is read back, and of what is pinned.
const (
	mostPages  = 10 // of the server, for one answer
	mostPinned = 500
)

// unreadable stands for a message whose key is not there.
const unreadable = "[encrypted, and its key is not here]"

// Read implements channel.Reader. What is encrypted is opened with the keys that people
// gave, and with those of the account's backup. Who wrote it is what the server says.
func (c *Client) Read(ctx context.Context, to channel.Target, before string, limit int) ([]channel.Past, error) {
	of, err := c.where(to.Conversation)
	if err != nil {
		return nil, err
	}
	if before != "" && !isEvent(before) {
		return nil, fmt.Errorf("%w: %q is no message", channel.ErrRefused, line(before, 60))
	}
	s, err := c.current()
	if err != nil {
		return nil, err
	}
	r, err := c.room(ctx, s, of)
	if err != nil {
		return nil, err
	}
	past := &reading{edits: map[edit]string{}, had: map[id.EventID]bool{}, thread: id.EventID(to.Thread), limit: max(limit, 1)}
	from := "" // the newest
	if before != "" {
		around, err := s.api.Context(ctx, of, id.EventID(before), nil, 1)
		if err != nil {
			return nil, failure(err, false)
		}
		if err := c.look(ctx, s, r, around.EventsBefore, past); err != nil {
			return nil, err
		}
		from = around.Start
	}
	for page := 0; page < mostPages && len(past.out) < past.limit && (page == 0 || from != ""); page++ {
		got, err := s.api.Messages(ctx, of, from, "", mautrix.DirectionBackward, nil, pageSize)
		if err != nil {
			return nil, failure(err, false)
		}
		if err := c.look(ctx, s, r, got.Chunk, past); err != nil {
			return nil, err
		}
		if got.End == from || len(got.Chunk) == 0 {
			break
		}
		from = got.End
	}
	slices.Reverse(past.out) // the newest came first
	return past.out, nil
}

// reading is what was read back so far, the newest first.
type reading struct {
	out    []channel.Past
	edits  map[edit]string     // what became of older messages
	had    map[id.EventID]bool // pages of servers overlap
	thread id.EventID
	limit  int
}

// edit is somebody's change of a message; that of others counts for nothing.
type edit struct {
	of id.EventID
	by id.UserID
}

// look reads events, the newest first.
func (c *Client) look(ctx context.Context, s *session, r *room, events []*event.Event, past *reading) error {
	for _, e := range events {
		if len(past.out) >= past.limit {
			return nil
		}
		if e.StateKey != nil || e.Type.Type != event.EventMessage.Type && e.Type.Type != event.EventEncrypted.Type {
			continue
		}
		if past.had[e.ID] {
			continue
		}
		e.RoomID, past.had[e.ID] = r.id, true
		m, ok, err := c.said(ctx, s, r, e)
		closed := errors.Is(err, errNoKey)
		switch {
		case err != nil && !closed:
			return err
		case !ok && !closed || closed && past.thread != "":
			continue
		}
		text := unreadable
		if !closed {
			if of := m.RelatesTo.GetReplaceID(); of != "" {
				if _, newer := past.edits[edit{of, e.Sender}]; !newer && m.NewContent != nil {
					past.edits[edit{of, e.Sender}] = m.NewContent.Body
				}
				continue
			}
			if past.thread != "" && m.RelatesTo.GetThreadParent() != past.thread && e.ID != past.thread {
				continue
			}
			m.RemoveReplyFallback()
			text = pastText(m)
			if now, edited := past.edits[edit{e.ID, e.Sender}]; edited {
				text = now
			}
		}
		past.out = append(past.out, channel.Past{MessageID: string(e.ID), SenderID: string(e.Sender), SenderName: e.Sender.Localpart(),
			Text: strings.ToValidUTF8(text, "\uFFFD"), At: time.UnixMilli(e.Timestamp)})
	}
	return nil
}

// pastText is what a message says, with the name of its file.
func pastText(m *event.MessageEventContent) string {
	switch m.MsgType {
	case event.MsgImage, event.MsgVideo, event.MsgAudio, event.MsgFile:
		return strings.TrimSpace(m.GetCaption() + "\n[file: " + line(m.GetFileName(), 120) + "]")
	}
	return m.Body
}

// Pin implements channel.Pinner: the room's list of pinned messages changes.
func (c *Client) Pin(ctx context.Context, to channel.Target, messageID string, on bool) error {
	s, r, of, err := c.about(ctx, to, messageID)
	if err != nil {
		return err
	}
	var list event.PinnedEventsEventContent
	if err := failure(s.api.StateEvent(ctx, r.id, event.StatePinnedEvents, "", &list), false); err != nil && !refusedOnly(err) {
		return err // refused: there is no such list yet
	}
	had := slices.Contains(list.Pinned, of)
	if had == on {
		return nil
	}
	if on {
		if _, err := s.api.GetEvent(ctx, r.id, of); err != nil {
			return failure(err, false)
		}
		list.Pinned = append(list.Pinned, of)
		list.Pinned = list.Pinned[max(0, len(list.Pinned)-mostPinned):]
	} else {
		list.Pinned = slices.DeleteFunc(list.Pinned, func(e id.EventID) bool { return e == of })
	}
	_, err = s.api.SendStateEvent(ctx, r.id, event.StatePinnedEvents, "", &list)
	if err = uncertain(ctx, err); refusedOnly(err) {
		err = fmt.Errorf("%w. Whoever runs the room can give the assistant the right to pin messages", err)
	}
	return err
}

func isEvent(s string) bool { return strings.HasPrefix(s, "$") && len(s) <= 255 }
