package client

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	mellium "mellium.im/xmpp"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Times of a connection.
const (
	writeTime  = 30 * time.Second
	answerTime = 30 * time.Second // that a server has for a request
	silence    = time.Minute      // after which it is asked whether it lives
)

// link is one connection after login. Everything that is written or read goes
// through it, so that its counts are those of the server.
type link struct {
	c       *Client
	session *mellium.Session
	conn    *bounded
	self    string // our full address
	store   store  // takes files; under the lock of the client
	counts  bool   // the server counts stanzas
	near    bool   // the server is on this computer or in its network

	writing sync.Mutex
	wrote   uint32

	mu      sync.Mutex
	came    uint32 // stanzas that came
	done    uint32 // those of them that are in the inbox, or needed nobody
	heard   time.Time
	acked   uint32
	told    uint32 // how many we last said to have
	waits   []waiting
	asked   map[string]*asked
	sends   map[string]*outgoing
	seats   map[string]*seat // in rooms
	pages   map[string]string
	lookups map[string]*lookup      // queries of who reads what was said before
	held    map[string]*waitingRoom // by archive
	why     error
	broken  chan struct{}
	once    sync.Once
}

// waiting is woken when the server has so many stanzas.
type waiting struct {
	at   uint32
	done chan struct{}
}

// asked is a request without an answer; got is there when done is closed.
type asked struct {
	done chan struct{}
	got  *iq
}

// outgoing is a message whose fate is not known.
type outgoing struct {
	to   string
	room bool
	done chan struct{} // closed when err, or that it was said, is known
	err  error
}

func newLink(c *Client, s *mellium.Session, conn *bounded) *link {
	_, counts := s.Feature(nsSM)
	return &link{
		c: c, session: s, conn: conn, self: s.LocalAddr().String(), counts: counts, heard: c.now(), asked: map[string]*asked{},
		sends: map[string]*outgoing{}, seats: map[string]*seat{}, pages: map[string]string{}, lookups: map[string]*lookup{},
		held: map[string]*waitingRoom{}, broken: make(chan struct{}),
	}
}

// begin has the server count.
func (l *link) begin() error {
	if !l.counts {
		return nil
	}
	return l.raw([]byte(`<enable xmlns='` + nsSM + `'/>`))
}

// end closes the connection; the first reason is kept.
func (l *link) end(why error) {
	l.once.Do(func() {
		l.mu.Lock()
		l.why = why
		l.mu.Unlock()
		close(l.broken)
		_ = l.conn.SetWriteDeadline(time.Now().Add(time.Second))
		l.writing.Lock()
		_ = l.session.Close()
		l.writing.Unlock()
		_ = l.conn.Close()
	})
}

func (l *link) cause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why == nil || errors.Is(l.why, io.EOF) {
		return errors.New("the server ended the connection")
	}
	return l.why
}

// raw writes bytes that are no stanza.
func (l *link) raw(b []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.put(b)
}

// put writes; the lock is held. A connection to which not all was written is of no
// use to anybody.
func (l *link) put(b []byte) error {
	select {
	case <-l.broken:
		return errors.New("the connection has ended")
	default:
	}
	_ = l.session.Conn().SetWriteDeadline(time.Now().Add(writeTime))
	if _, err := l.session.Conn().Write(b); err != nil {
		go l.end(fmt.Errorf("write to the server: %w", err)) // it wants the lock
		return err
	}
	return nil
}

// write writes stanzas.
func (l *link) write(stanzas ...any) error {
	_, err := l.count(stanzas...)
	return err
}

// count writes stanzas and returns their number.
func (l *link) count(stanzas ...any) (uint32, error) {
	var all []byte
	for _, s := range stanzas {
		b, err := xml.Marshal(s)
		if err != nil {
			return 0, fmt.Errorf("%w: write a stanza: %w", channel.ErrRefused, err)
		}
		all = append(all, b...)
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	l.wrote += uint32(len(stanzas))
	return l.wrote, l.put(all)
}

// confirmed waits until the server has had everything up to a number.
func (l *link) confirmed(ctx context.Context, number uint32) error {
	if !l.counts {
		_, err := l.ask(ctx, &iq{To: l.c.domain, Type: "get", Ping: &empty{}})
		var said *saidError
		if errors.As(err, &said) {
			return nil // it has read the ping, and so all before it
		}
		return err
	}
	done := make(chan struct{})
	l.mu.Lock()
	if int32(l.acked-number) >= 0 {
		l.mu.Unlock()
		return nil
	}
	l.waits = append(l.waits, waiting{number, done})
	l.mu.Unlock()
	if err := l.raw([]byte(`<r xmlns='` + nsSM + `'/>`)); err != nil {
		return err
	}
	return l.await(ctx, done)
}

// await waits for something that the server does.
func (l *link) await(ctx context.Context, done <-chan struct{}) error {
	late := time.NewTimer(answerTime)
	defer late.Stop()
	select {
	case <-done:
		return nil
	case <-l.broken:
		select { // both may have happened
		case <-done:
			return nil
		default:
		}
		return errors.New("the connection broke")
	case <-late.C:
		return fmt.Errorf("the server did not answer for %v", answerTime)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// watch ends a connection that does not answer.
func (l *link) watch(ctx context.Context) {
	tick := time.NewTicker(silence / 4)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		l.mu.Lock()
		quiet := l.c.now().Sub(l.heard)
		l.mu.Unlock()
		if quiet < silence {
			continue
		}
		_, err := l.ask(ctx, &iq{To: l.c.domain, Type: "get", Ping: &empty{}})
		var said *saidError
		if err != nil && !errors.As(err, &said) {
			l.end(fmt.Errorf("the server is silent: %w", err))
			return
		}
	}
}

// read reads what comes until the connection ends.
func (l *link) read() error {
	tokens := l.session.TokenReader()
	defer func() { _ = tokens.Close() }()
	d := xml.NewTokenDecoder(tokens)
	for {
		l.conn.left.Store(stanzaBytes)
		tok, err := d.Token()
		if err != nil {
			return err
		}
		l.mu.Lock()
		l.heard = l.c.now()
		l.mu.Unlock()
		start, ok := tok.(xml.StartElement)
		if text, is := tok.(xml.CharData); is && len(bytes.TrimSpace(text)) > 0 {
			return errors.New("the server wrote text between stanzas")
		}
		if !ok {
			continue // a space that keeps the connection open
		}
		if err := l.element(d, start); err != nil {
			return err
		}
		l.mu.Lock()
		l.done = l.came
		l.mu.Unlock()
	}
}

// element reads one element of the stream.
func (l *link) element(d *xml.Decoder, start xml.StartElement) error {
	switch start.Name {
	case xml.Name{Space: nsClient, Local: "message"}:
		var m message
		if err := d.DecodeElement(&m, &start); err != nil {
			return fmt.Errorf("read a message: %w", err)
		}
		return l.c.message(l, l.counted(), &m)
	case xml.Name{Space: nsClient, Local: "presence"}:
		var p presence
		if err := d.DecodeElement(&p, &start); err != nil {
			return fmt.Errorf("read a presence: %w", err)
		}
		l.counted()
		l.c.presence(l, &p)
	case xml.Name{Space: nsClient, Local: "iq"}:
		var q iq
		if err := d.DecodeElement(&q, &start); err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		l.counted()
		return l.request(&q)
	case xml.Name{Space: nsSM, Local: "a"}:
		var a acknowledged
		if err := d.DecodeElement(&a, &start); err != nil {
			return fmt.Errorf("read how much the server has: %w", err)
		}
		l.has(a.H)
	case xml.Name{Space: nsSM, Local: "r"}:
		if err := d.Skip(); err != nil {
			return err
		}
		return l.tell(true)
	case xml.Name{Space: nsSM, Local: "enabled"}:
		l.mu.Lock()
		l.came, l.done = 0, 0 // it counts from here
		l.mu.Unlock()
		return d.Skip()
	case xml.Name{Space: nsSM, Local: "failed"}:
		return errors.New("the server does not count stanzas, though it said so")
	default:
		return d.Skip()
	}
	return nil
}

// counted counts a stanza that came.
func (l *link) counted() uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.came++
	return l.came
}

// has: the server has so many of our stanzas.
func (l *link) has(n uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked = n
	left := l.waits[:0]
	for _, w := range l.waits {
		if int32(n-w.at) >= 0 {
			close(w.done)
			continue
		}
		left = append(left, w)
	}
	l.waits = left
}

// tell says how many stanzas we have: those before the first that nobody took yet.
// Without always only when that are more than before. What is said under one lock
// never goes back.
func (l *link) tell(always bool) error {
	if !l.counts {
		return nil
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	l.c.mu.Lock()
	l.mu.Lock()
	n := l.done
	for _, it := range l.c.inbox {
		if it.link == l && int32(it.counted-1-n) < 0 {
			n = it.counted - 1
		}
	}
	more := int32(n-l.told) > 0
	if more {
		l.told = n
	}
	n = l.told
	l.mu.Unlock()
	l.c.mu.Unlock()
	if !more && !always {
		return nil
	}
	return l.put(fmt.Appendf(nil, `<a xmlns='%s' h='%d'/>`, nsSM, n))
}
