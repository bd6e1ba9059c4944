package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// seat is our place in a room.
type seat struct {
	nick   string
	people map[string]string // who is there: addresses by names, where the room tells them
	state  seatState
	done   chan struct{} // closed when the room has answered our wish to enter
	why    string
	made   bool // our wish to enter made the room
}

// seatState is whether we are in a room.
type seatState int

const (
	entering seatState = iota
	seated
	refused
	banned
)

// mostPeople is how many of a room are told apart by their addresses.
const mostPeople = 5000

func (c *Client) isRoom(address string) bool { return slices.Contains(c.rooms, address) }

// enter takes our seat in a room, and looks whether we still have it.
func (c *Client) enter(ctx context.Context, l *link, room string) error {
	l.mu.Lock()
	s := l.seats[room]
	var state seatState
	nick := c.nick
	if s != nil {
		state, nick = s.state, s.nick
	}
	l.mu.Unlock()
	if s != nil && state == banned {
		return nil
	}
	if s != nil && state == seated {
		_, err := l.ask(ctx, &iq{To: room + "/" + nick, Type: "get", Ping: &empty{}})
		var said *saidError
		if err == nil || errors.As(err, &said) && !said.is("not-acceptable") {
			return nil
		}
		if said == nil {
			return err
		}
	}
	last, known := c.mark(room)
	l.keepBack(room)
	for _, name := range []string{c.nick, c.nick + "_", c.nick + "__"} {
		taken, err := c.sit(ctx, l, room, name, last, known)
		if err != nil {
			return err
		}
		if !taken {
			break
		}
	}
	if !c.seated(l, room) {
		_, err := c.release(l, room)
		return err
	}
	return c.readRoom(ctx, l, room, last, known)
}

// readRoom reads what was said in a room since it was last read.
func (c *Client) readRoom(ctx context.Context, l *link, room string, last mark, known bool) error {
	for {
		err := c.catchUp(ctx, l, room, last, known)
		var said *saidError
		if err != nil && !errors.As(err, &said) {
			return err
		}
		if said != nil && !known { // it has no archive
			if err := c.keep(ctx, room, mark{At: c.now()}); err != nil {
				return err
			}
		}
		full, err := c.release(l, room)
		if err != nil || !full || said != nil {
			return err
		}
		l.keepBack(room)
		last, known = c.mark(room)
	}
}

func (c *Client) seated(l *link, room string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.seats[room]
	return s != nil && s.state == seated
}

// sit asks a room for a seat; taken says that somebody else has the name.
func (c *Client) sit(ctx context.Context, l *link, room, nick string, last mark, known bool) (taken bool, err error) {
	s := &seat{nick: nick, people: map[string]string{}, done: make(chan struct{})}
	l.mu.Lock()
	l.seats[room] = s
	l.mu.Unlock()
	p := presence{To: room + "/" + nick, Join: &join{}}
	if last.ID != "" || !known { // the archive has it, or it is not for us
		p.Join.History.Max = new(int)
	} else {
		p.Join.History.Since = last.At.UTC().Format(time.RFC3339)
	}
	if err := l.write(p); err != nil {
		return false, err
	}
	if err := l.await(ctx, s.done); err != nil {
		select {
		case <-l.broken:
			return false, err
		default:
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		c.trouble("The room %s did not answer; it is asked again in %v.", room, c.quietRetryFor)
		return false, nil
	}
	l.mu.Lock()
	state, why, made := s.state, s.why, s.made
	l.mu.Unlock()
	if state == refused && why == "conflict" {
		return true, nil
	}
	if state != seated {
		c.trouble("The room %s does not let it in: %s.", room, why)
	}
	if state == seated && made {
		return false, c.unlock(ctx, l, room)
	}
	return false, nil
}

// unlock opens a room that our wish to enter has made, with what its server sets: it
// lets nobody else in before (XEP-0045, 10.1.2).
func (c *Client) unlock(ctx context.Context, l *link, room string) error {
	form := &ownerForm{}
	form.Form.Type = "submit"
	_, err := l.ask(ctx, &iq{To: room, Type: "set", Owner: form})
	var said *saidError
	if errors.As(err, &said) {
		c.trouble("The room %s did not exist and was made, but its server does not open it: %s. Make the room with your own XMPP program.",
			room, said.words())
		return nil
	}
	return err
}

// presence takes who comes and goes.
func (c *Client) presence(l *link, p *presence) {
	if p.Type == "subscribe" { // whoever may write to us may see that we are there
		_ = l.write(presence{To: bare(p.From), Type: "subscribed"})
		return
	}
	room, nick := bare(p.From), resource(p.From)
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.seats[room]
	if s == nil {
		return
	}
	own := p.Room.has("110") || nick == s.nick
	switch p.Type {
	case "":
		if p.Room != nil && len(s.people) < mostPeople {
			s.people[nick] = bare(p.Room.Item.JID)
		}
		if own && s.state == entering {
			s.nick, s.made = nick, p.Room.has("201")
			s.answer(seated, "")
		}
	case "error":
		if s.state == entering && p.Error != nil {
			why := p.Error.words()
			if p.Error.is("conflict") {
				why = "conflict"
			}
			s.answer(refused, why)
		}
	case "unavailable":
		delete(s.people, nick)
		if own && s.state == seated {
			c.left(l, room, s, p)
		}
	}
}

// left: the room has sent us away. The lock of the link is held.
func (c *Client) left(l *link, room string, s *seat, p *presence) {
	s.state, s.why = refused, "it is no longer in the room"
	words := fmt.Sprintf("It is no longer in the room %s; it enters again.", room)
	if p.Room.has("301") {
		s.state = banned
		words = fmt.Sprintf("The room %s has banned it. Its owner can let it in again; then restart Hearth.", room)
	} else if p.Room.has("307") {
		words = fmt.Sprintf("Somebody sent it out of the room %s; it enters again.", room)
	}
	for _, o := range l.sends { // nobody says these any more
		if o.to == room {
			o.fail(errLeft)
		}
	}
	go c.trouble("%s", words) // it wants the client's lock, which is taken before a link's
	select {
	case c.roomLeft <- struct{}{}:
	default:
	}
}

var errLeft = errors.New("the room has sent it away")

// answer says what became of our wish to enter. The lock is held.
func (s *seat) answer(state seatState, why string) {
	s.state, s.why = state, why
	select {
	case <-s.done:
	default:
		close(s.done)
	}
}
