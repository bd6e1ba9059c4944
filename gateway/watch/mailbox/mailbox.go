// Package mailbox watches a folder of a mailbox by IMAP. It opens it for reading
// only: nothing is marked as read, moved or deleted. What was there before the
// watch began is not told.
package mailbox

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"

	"github.com/hearth-assistant/hearth/gateway/watch"
)

const (
	mostBytes   = 8 << 20 // that a server may send in a look
	atOnce      = 25      // messages of a look
	bodyBytes   = 20_000
	connectTime = 40 * time.Second
)

// Options say which mailbox.
type Options struct {
	URL    string // imaps://host, imap://host (which has to offer STARTTLS)
	User   string
	Folder string   // "" = INBOX
	From   []string // only mail of these addresses; empty: of everybody
	// Password is asked at each look.
	Password func(ctx context.Context) (string, error)
	// Dial connects to host and port.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Plain allows a password without TLS, for a server of this computer.
	Plain bool
}

// Mailbox is a folder of a mailbox.
type Mailbox struct {
	Options
	host, address string
	tls           bool
}

// New returns the source of a mailbox.
func New(o Options) (*Mailbox, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Hostname() == "" || u.Scheme != "imaps" && u.Scheme != "imap" {
		return nil, fmt.Errorf("%q is no mailbox; write it like imaps://mail.example.org", o.URL)
	}
	switch {
	case u.User != nil:
		return nil, errors.New("the address holds a user or a password; say the user by itself, and where the password is kept")
	case o.User == "" || o.Password == nil:
		return nil, errors.New("a mailbox needs a user, and where the password is kept (--user, --password-from keychain:mail)")
	case len(o.From) > 200:
		return nil, errors.New("at most 200 senders can be named")
	}
	s := &Mailbox{Options: o, host: u.Hostname(), tls: u.Scheme == "imaps"}
	port := cmp.Or(u.Port(), map[bool]string{true: "993", false: "143"}[s.tls])
	s.address, s.Folder = net.JoinHostPort(s.host, port), cmp.Or(o.Folder, "INBOX")
	s.From = nil
	for _, a := range o.From {
		s.From = append(s.From, strings.ToLower(strings.TrimSpace(a)))
	}
	return s, nil
}

// seen is where the last look ended.
type seen struct {
	Validity uint32 `json:"validity"`
	Next     uint32 `json:"next"` // the first message that was not seen
}

// Look implements watch.Source.
func (s *Mailbox) Look(ctx context.Context, kept json.RawMessage) (f watch.Found, err error) {
	var was seen
	if len(kept) > 0 {
		if err := json.Unmarshal(kept, &was); err != nil {
			return f, fmt.Errorf("read what was seen last: %w", err)
		}
	}
	c, _, end, err := s.open(ctx, nil)
	if err != nil {
		return f, err
	}
	defer end()
	box, err := c.Select(s.Folder, &imap.SelectOptions{ReadOnly: true}).Wait()
	if err != nil {
		return f, fmt.Errorf("the folder %s cannot be opened: %w", s.Folder, err)
	}
	now := seen{Validity: box.UIDValidity, Next: uint32(box.UIDNext)}
	f.Count = int(box.NumMessages)
	if was.Next == 0 || was.Validity != now.Validity { // a first look, or the server has numbered anew
		f.Anew = true
		f.Kept, err = json.Marshal(now)
		return f, err
	}
	if now.Next, err = s.fresh(c, was, &f); err != nil {
		return watch.Found{}, err
	}
	if now == was {
		return watch.Found{Same: true, Count: f.Count}, nil
	}
	f.Kept, err = json.Marshal(now)
	return f, err
}

// open connects and logs in, within the time that a look has for that; end leaves.
// heard is called with what the server says of itself.
func (s *Mailbox) open(ctx context.Context, heard *imapclient.UnilateralDataHandler) (c *imapclient.Client, conn net.Conn, end func(),
	err error) {
	password, err := s.Password(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	if conn, err = s.Dial(ctx, s.address); err != nil {
		return nil, nil, nil, watch.Unreached(err)
	}
	deadline, ok := ctx.Deadline()
	if limit := time.Now().Add(connectTime); !ok || deadline.After(limit) {
		deadline = limit
	}
	_ = conn.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	end = func() {
		stop()
		_ = conn.Close()
	}
	// The library sets deadlines of its own, and none while it waits: ours hold.
	var wire net.Conn = &bounded{Conn: conn, left: mostBytes}
	conf := &tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12, NextProtos: []string{"imap"}}
	options := &imapclient.Options{TLSConfig: conf, UnilateralDataHandler: heard}
	switch {
	case s.tls:
		c = imapclient.New(tls.Client(wire, conf), options)
	case s.Plain:
		c = imapclient.New(wire, options)
	default:
		c, err = imapclient.NewStartTLS(wire, options)
	}
	if err == nil {
		err = c.WaitGreeting()
	}
	if err != nil {
		end()
		return nil, nil, nil, fmt.Errorf("%s does not answer as a mail server: %w", s.host, err)
	}
	if err := c.Login(s.User, password).Wait(); err != nil {
		end()
		return nil, nil, nil, fmt.Errorf("%s did not let %s in: %w", s.host, s.User, err)
	}
	return c, conn, end, nil
}

// fresh reads the messages since the last look, and says where the next begins.
func (s *Mailbox) fresh(c *imapclient.Client, was seen, f *watch.Found) (next uint32, err error) {
	var since imap.UIDSet
	since.AddRange(imap.UID(was.Next), 0)
	found, err := c.UIDSearch(&imap.SearchCriteria{UID: []imap.UIDSet{since}}, nil).Wait()
	if err != nil {
		return 0, fmt.Errorf("ask for new mail: %w", err)
	}
	uids := slices.DeleteFunc(found.AllUIDs(), func(u imap.UID) bool { return uint32(u) < was.Next })
	slices.Sort(uids)
	if len(uids) == 0 {
		return was.Next, nil
	}
	if len(uids) > atOnce {
		uids, f.Again = uids[:atOnce], time.Second
	}
	body := &imap.FetchItemBodySection{Peek: true, Partial: &imap.SectionPartial{Size: bodyBytes}}
	list, err := c.Fetch(imap.UIDSetNum(uids...), &imap.FetchOptions{
		UID: true, Envelope: true, BodySection: []*imap.FetchItemBodySection{body},
	}).Collect()
	if err != nil {
		return 0, fmt.Errorf("read the new mail: %w", err)
	}
	slices.SortFunc(list, func(a, b *imapclient.FetchMessageBuffer) int { return cmp.Compare(a.UID, b.UID) })
	for _, m := range list {
		if it, ok := s.item(m, was.Validity, body); ok {
			f.Items = append(f.Items, it)
		}
	}
	return uint32(uids[len(uids)-1]) + 1, nil
}

// item is a message, ok is false for one that is not to be told.
func (s *Mailbox) item(m *imapclient.FetchMessageBuffer, validity uint32, body *imap.FetchItemBodySection) (it watch.Item, ok bool) {
	if m.Envelope == nil {
		return it, false
	}
	from, raw := m.Envelope.From, m.FindBodySection(body)
	if len(s.From) > 0 && (len(from) != 1 || sender(raw) != strings.ToLower(from[0].Addr()) || !slices.Contains(s.From, sender(raw))) {
		return it, false
	}
	who := "nobody"
	if len(from) > 0 {
		who = strings.TrimSpace(from[0].Name + " <" + from[0].Addr() + ">")
	}
	return watch.Item{
		ID: strconv.FormatUint(uint64(validity), 10) + ":" + strconv.FormatUint(uint64(m.UID), 10), Version: "1",
		Title: "mail from " + who + ": " + cmp.Or(strings.TrimSpace(m.Envelope.Subject), "(no subject)"), Text: Words(raw),
	}, true
}

// bounded ends a connection that brings more than it should.
type bounded struct {
	net.Conn
	left int64
}

var errTooMuch = errors.New("the server sent more than a look may bring")

// Read implements net.Conn.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooMuch
	}
	n, err := b.Conn.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// SetReadDeadline keeps the deadline of the look.
func (b *bounded) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline keeps the deadline of the look.
func (b *bounded) SetWriteDeadline(time.Time) error { return nil }
