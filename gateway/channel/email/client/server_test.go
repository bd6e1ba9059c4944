package client_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"
	"github.com/emersion/go-message/mail"
	"github.com/emersion/go-msgauth/dkim"
	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

const own = "hearth@example.org"

// server is a mail server with one mailbox, and the name service of the senders.
type server struct {
	t          *testing.T
	user       *imapmemserver.User
	imap, smtp net.Listener
	own        string // whose mail it takes
	password   string
	key        ed25519.PrivateKey

	mu       sync.Mutex
	script   []loopback.Fault
	messages []loopback.Message
	raw      [][]byte
	silent   int // how often the name service will not answer
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, own: own, password: "secret", key: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))}
	s.user = imapmemserver.NewUser("me", "secret")
	if err := s.user.Create("INBOX", nil); err != nil {
		t.Fatal(err)
	}
	mem := imapmemserver.New()
	mem.AddUser(s.user)
	quiet := log.New(io.Discard, "", 0)
	box := imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return mem.NewSession(), nil, nil
		},
		Caps: imap.CapSet{imap.CapIMAP4rev1: {}, imap.CapIdle: {}}, InsecureAuth: true, Logger: quiet,
	})
	out := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) { return &session{server: s, conn: c}, nil }))
	out.Domain, out.AllowInsecureAuth, out.MaxLineLength, out.ErrorLog = "mx.example.org", true, 1000, quiet
	s.imap, s.smtp = listen(t), listen(t)
	var work sync.WaitGroup
	work.Go(func() { _ = box.Serve(s.imap) })
	work.Go(func() { _ = out.Serve(s.smtp) })
	t.Cleanup(func() {
		_, _ = box.Close(), out.Close()
		_, _ = s.imap.Close(), s.smtp.Close() // a server that was closed before it began knows no listener
		work.Wait()
	})
	return s
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func port(l net.Listener) string { _, p, _ := net.SplitHostPort(l.Addr().String()); return p }

// texts is the name service: each domain has the same key.
func (s *server) texts(_ context.Context, name string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent > 0 {
		s.silent--
		return nil, &net.DNSError{Err: "timeout", Name: name, IsTimeout: true, IsTemporary: true}
	}
	if strings.HasSuffix(name, "unkeyed.example") {
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	public, _ := s.key.Public().(ed25519.PublicKey)
	return []string{"v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(public)}, nil
}

// signed is a mail with a signature of a domain.
func (s *server) signed(raw, domain string, keys ...string) string {
	s.t.Helper()
	if keys == nil {
		keys = []string{"From", "To", "Subject", "Date", "Message-Id"}
	}
	var out bytes.Buffer
	how := &dkim.SignOptions{Domain: domain, Selector: "s", Signer: s.key, HeaderKeys: keys}
	if err := dkim.Sign(&out, strings.NewReader(raw), how); err != nil {
		s.t.Fatal(err)
	}
	return out.String()
}

// letter is a mail to us as people's programs write it.
func letter(id, from, headers, text string) string {
	return "Message-ID: <" + id + ">\r\nDate: " + time.Now().Format(time.RFC1123Z) + "\r\nFrom: " + from + "\r\nTo: " + own +
		"\r\n" + headers + "\r\n" + text + "\r\n"
}

// arrive puts a mail into the mailbox.
func (s *server) arrive(raw string) {
	s.t.Helper()
	if _, err := s.user.Append("INBOX", literal{strings.NewReader(raw)}, &imap.AppendOptions{}); err != nil {
		s.t.Error(err)
	}
}

type literal struct{ *strings.Reader }

func (l literal) Size() int64 { return l.Reader.Size() }

// Script implements channeltest.Network.
func (s *server) Script(faults ...loopback.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, faults...)
}

// fault is the next one, when it is of one of the kinds.
func (s *server) fault(kinds ...loopback.Kind) loopback.Kind {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range kinds {
		if len(s.script) > 0 && s.script[0].Kind == k {
			s.script = s.script[1:]
			return k
		}
	}
	return loopback.OK
}

// Receive is somebody writing to us.
func (s *server) Receive(in channel.Inbound) {
	s.arrive(s.signed(letter(in.MessageID, in.Conversation, "", in.Text), strings.SplitN(in.Conversation, "@", 2)[1]))
}

// ReceiveFile implements conformance.FileNetwork.
func (s *server) ReceiveFile(in channel.Inbound, f loopback.File) {
	headers := "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n"
	lines := base64.StdEncoding.EncodeToString(f.Content)
	var body strings.Builder
	for ; len(lines) > 76; lines = lines[76:] {
		body.WriteString(lines[:76] + "\r\n")
	}
	text := "--b\r\nContent-Type: text/plain\r\n\r\n" + in.Text + "\r\n--b\r\nContent-Type: " + f.MIME +
		"\r\nContent-Disposition: attachment; filename=\"" + f.Name + "\"\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
		body.String() + lines + "\r\n--b--"
	s.arrive(s.signed(letter(in.MessageID, in.Conversation, headers, text), strings.SplitN(in.Conversation, "@", 2)[1]))
}

// Taken reports whether a message is marked as read.
func (s *server) Taken(id string) bool {
	s.t.Helper()
	c, err := imapclient.DialInsecure(s.imap.Addr().String(), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.Login("me", "secret").Wait(); err != nil {
		s.t.Fatal(err)
	}
	if _, err := c.Select("INBOX", &imap.SelectOptions{ReadOnly: true}).Wait(); err != nil {
		s.t.Fatal(err)
	}
	found, err := c.UIDSearch(&imap.SearchCriteria{
		Flag: []imap.Flag{imap.FlagSeen}, Header: []imap.SearchCriteriaHeaderField{{Key: "Message-Id", Value: id}},
	}, nil).Wait()
	if err != nil {
		s.t.Fatal(err)
	}
	return len(found.AllUIDs()) == 1
}

// Messages are what was sent.
func (s *server) Messages() []loopback.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]loopback.Message(nil), s.messages...)
}

// session is one connection that sends.
type session struct {
	server *server
	conn   *smtp.Conn
	to     string
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if s.server.fault(loopback.Auth) != loopback.OK || user != "me" || password != s.server.password {
			return smtp.ErrAuthFailed
		}
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if from != s.server.own {
		return &smtp.SMTPError{Code: 553, Message: "not your address"}
	}
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	if strings.HasPrefix(to, "nobody@") || s.server.fault(loopback.Refused) != loopback.OK {
		return &smtp.SMTPError{Code: 550, Message: "no such mailbox"}
	}
	return nil
}

func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	kind := s.server.fault(loopback.Passing, loopback.Lost, loopback.Broken)
	switch kind {
	case loopback.Passing:
		return &smtp.SMTPError{Code: 451, Message: "later"}
	case loopback.Broken:
		_ = s.conn.Conn().Close()
		return nil
	}
	m := s.server.readSent(raw)
	m.To.Conversation = s.to
	s.server.mu.Lock()
	s.server.messages, s.server.raw = append(s.server.messages, m), append(s.server.raw, raw)
	s.server.mu.Unlock()
	if kind == loopback.Lost {
		_ = s.conn.Conn().Close()
	}
	return nil
}

func (*session) Reset()        {}
func (*session) Logout() error { return nil }

// readSent reads a mail as a person's program does.
func (s *server) readSent(raw []byte) (m loopback.Message) {
	r, err := mail.CreateReader(bytes.NewReader(raw))
	if err != nil {
		s.t.Errorf("a mail that cannot be read: %v", err)
		return m
	}
	m.ID, _ = r.Header.MessageID()
	html := false
	for {
		p, err := r.NextPart()
		if err != nil {
			break
		}
		body, _ := io.ReadAll(p.Body)
		switch h := p.Header.(type) {
		case *mail.InlineHeader:
			switch kind, _, _ := h.ContentType(); kind {
			case "text/plain":
				m.Text = strings.ReplaceAll(string(body), "\r\n", "\n")
			case "text/html":
				html = true
				if strings.Contains(string(body), "javascript:") || strings.Contains(string(body), "<script") {
					s.t.Errorf("the HTML runs something: %s", body)
				}
			}
		case *mail.AttachmentHeader:
			name, _ := h.Filename()
			kind, _, _ := h.ContentType()
			m.Files = append(m.Files, loopback.File{Name: name, MIME: kind, Content: body})
		}
	}
	if !html && len(m.Files) == 0 {
		s.t.Error("a mail without HTML")
	}
	if len(m.Text) > 1<<20 {
		s.t.Error(fmt.Sprint("a text of ", len(m.Text)))
	}
	return m
}
