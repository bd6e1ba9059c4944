package client_test

import (
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

// server is an XMPP server for one client at a time, with an archive and counting. It
// refuses what servers refuse, and plays faults.
type server struct {
	t  *testing.T
	at net.Listener

	mu       sync.Mutex
	conn     net.Conn
	present  bool
	count    int // stanzas for the client on this connection
	acked    int
	closed   bool
	had      int // stanzas of the client
	password string
	script   []loopback.Fault
	messages []loopback.Message
	archive  []arrived
	logins   int
}

// arrived is a message for the client.
type arrived struct {
	id, from, text, extra string
	number                int // on the connection, 0: it was not sent
}

// said is a stanza of the client.
type said struct {
	XMLName xml.Name
	ID      string `xml:"id,attr"`
	To      string `xml:"to,attr"`
	Type    string `xml:"type,attr"`
	H       int    `xml:"h,attr"`
	Text    string `xml:",chardata"`
	Body    string `xml:"body"`
	Bind    *none  `xml:"urn:ietf:params:xml:ns:xmpp-bind bind"`
	Replace *ref   `xml:"urn:xmpp:message-correct:0 replace"`
	Retract *ref   `xml:"urn:xmpp:message-retract:1 retract"`
	React   *ref   `xml:"urn:xmpp:reactions:0 reactions"`
	Typing  *none  `xml:"http://jabber.org/protocol/chatstates composing"`
	Query   *struct {
		ID     string  `xml:"queryid,attr"`
		Max    int     `xml:"set>max"`
		After  string  `xml:"set>after"`
		Before *string `xml:"set>before"`
	} `xml:"urn:xmpp:mam:2 query"`
}

type (
	none struct{}
	ref  struct {
		ID    string   `xml:"id,attr"`
		Signs []string `xml:"reaction"`
	}
)

func newServer(t *testing.T) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, at: l, password: "secret"}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		s.mu.Lock()
		s.closed = true
		if s.conn != nil {
			_ = s.conn.Close()
		}
		s.mu.Unlock()
		work.Wait()
	})
	return s
}

func (s *server) port() string { _, p, _ := net.SplitHostPort(s.at.Addr().String()); return p }

const header = `<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' id='x' ` +
	`from='test.local' version='1.0'><stream:features>%s</stream:features>`

// serve is one connection.
func (s *server) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.conn, s.present, s.count, s.acked, s.had = c, false, 0, 0, 0
	for i := range s.archive {
		s.archive[i].number = 0
	}
	s.logins++
	s.mu.Unlock()
	features := `<mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>PLAIN</mechanism></mechanisms>`
	d := xml.NewDecoder(c)
	for {
		tok, err := d.Token()
		if err != nil {
			return
		}
		start, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		if start.Name.Local == "stream" {
			_, _ = fmt.Fprintf(c, header, features)
			continue
		}
		var st said
		if err := d.DecodeElement(&st, &start); err != nil {
			return
		}
		if st.XMLName.Local == "auth" {
			b, _ := base64.StdEncoding.DecodeString(st.Text)
			if parts := strings.Split(string(b), "\x00"); len(parts) != 3 || parts[2] != s.password {
				_, _ = fmt.Fprint(c, `<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><not-authorized/><text>no</text></failure>`)
				return
			}
			_, _ = fmt.Fprint(c, `<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>`)
			features = `<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/><sm xmlns='urn:xmpp:sm:3'/>`
			d = xml.NewDecoder(c)
			continue
		}
		s.mu.Lock()
		over := s.stanza(st)
		s.mu.Unlock()
		if over {
			return
		}
	}
}

// put writes to the client; a stanza is counted.
func (s *server) put(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !strings.Contains(text, "urn:xmpp:sm:3") {
		s.count++
	}
	_, _ = s.conn.Write([]byte(text))
}

// stanza is what the client says; true ends the connection.
func (s *server) stanza(st said) bool {
	switch st.XMLName.Local {
	case "enable":
		s.put(`<enabled xmlns='urn:xmpp:sm:3'/>`)
		s.count, s.had = 0, 0
	case "r":
		s.put(`<a xmlns='urn:xmpp:sm:3' h='%d'/>`, s.had)
	case "a":
		s.acked = st.H
	case "iq":
		s.had++
		s.asked(st)
	case "presence":
		s.had++
		s.present = true
	case "message":
		s.had++
		return s.said(st)
	}
	return false
}

func (s *server) asked(st said) {
	switch {
	case st.Bind != nil:
		s.put(`<iq type='result' id='%s'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><jid>hearth@test.local/x</jid></bind></iq>`, st.ID)
	case st.Query != nil:
		s.give(st)
	case st.Type == "get":
		s.put(`<iq type='error' id='%s' from='%s'><error type='cancel'><service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>`+
			`</error></iq>`, st.ID, st.To)
	}
}

// give answers a query of the archive: forwards behind a place, or the last before one.
func (s *server) give(st said) {
	q := st.Query
	begin, end := 0, len(s.archive)
	for i, a := range s.archive {
		if a.id == q.After {
			begin = i + 1
		}
		if q.Before != nil && a.id == *q.Before {
			end = i
		}
	}
	size := min(max(q.Max, 1), 50)
	if q.Before != nil {
		begin = max(end-size, 0)
	}
	last := ""
	for i := begin; i < min(begin+size, end); i++ {
		a := &s.archive[i]
		s.put(`<message to='hearth@test.local/x'><result xmlns='urn:xmpp:mam:2' queryid='%s' id='%s'><forwarded xmlns='urn:xmpp:forward:0'>`+
			`<delay xmlns='urn:xmpp:delay' stamp='2026-11-23T10:00:00Z'/><message xmlns='jabber:client' from='%s' to='hearth@test.local' `+
			`type='chat' id='%s'><body>%s</body>%s</message></forwarded></result></message>`, q.ID, a.id, a.from, a.id, escaped(a.text), a.extra)
		if q.Before == nil {
			a.number = s.count
		}
		last = a.id
	}
	complete := begin+size >= end
	if q.Before != nil {
		complete = begin == 0
	}
	s.put(`<iq type='result' id='%s'><fin xmlns='urn:xmpp:mam:2' complete='%v'><set xmlns='http://jabber.org/protocol/rsm'><last>%s</last>`+
		`</set></fin></iq>`, st.ID, complete, last)
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

// said keeps a message, or plays a fault; true ends the connection.
func (s *server) said(st said) bool {
	op := loopback.OpSend
	switch {
	case st.Replace != nil:
		op = loopback.OpEdit
	case st.Retract != nil:
		op = loopback.OpDelete
	case st.React != nil:
		op = loopback.OpReact
	case st.Typing != nil:
		op = loopback.OpTyping
	case st.Body == "":
		return false
	}
	var f loopback.Fault
	for i, next := range s.script {
		if next.On == op || next.On == loopback.OpAny {
			f = next
			s.script = append(s.script[:i:i], s.script[i+1:]...)
			break
		}
	}
	switch {
	case f.Kind == loopback.Broken:
		return true
	case f.Kind == loopback.Refused || st.To == "nobody@test.local":
		s.put(`<message type='error' id='%s' from='%s'><error type='cancel'><service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>`+
			`</error></message>`, st.ID, st.To)
		return false
	case f.Kind == loopback.Passing:
		s.put(`<message type='error' id='%s' from='%s'><error type='wait'><resource-constraint xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>`+
			`</error></message>`, st.ID, st.To)
		return false
	}
	switch op {
	case loopback.OpSend:
		s.messages = append(s.messages, loopback.Message{ID: st.ID, To: channel.Target{Conversation: st.To}, Text: st.Body})
		s.archive = append(s.archive, arrived{id: st.ID, from: "hearth@test.local/x", text: st.Body})
	case loopback.OpEdit:
		for i := range s.messages {
			if s.messages[i].ID == st.Replace.ID {
				s.messages[i].Text = st.Body
			}
		}
	case loopback.OpReact:
		for i := range s.messages {
			if s.messages[i].ID == st.React.ID {
				s.messages[i].Reactions = st.React.Signs
			}
		}
	case loopback.OpDelete:
		for i := range s.messages {
			if s.messages[i].ID == st.Retract.ID {
				s.messages[i].Deleted = true
			}
		}
	}
	return f.Kind == loopback.Lost
}

// Script implements channeltest.Network.
func (s *server) Script(faults ...loopback.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, faults...)
}

// Receive is somebody writing to us.
func (s *server) Receive(in channel.Inbound) {
	s.arrive(arrived{id: in.MessageID, from: in.SenderID + "/phone", text: in.Text})
}

func (s *server) arrive(a arrived) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.present {
		s.put(`<message from='%s' to='hearth@test.local/x' type='chat' id='%s'><body>%s</body>%s<stanza-id xmlns='urn:xmpp:sid:0' `+
			`by='hearth@test.local' id='%s'/></message>`, a.from, a.id, escaped(a.text), a.extra, a.id)
		a.number = s.count
	}
	s.archive = append(s.archive, a)
}

// line writes to the client as it is.
func (s *server) line(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.conn.Write([]byte(text))
}

// cut ends the connection.
func (s *server) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.present = false
	_ = s.conn.Close()
}

// Taken waits for the client to say that it has a message.
func (s *server) Taken(id string) bool {
	tick, late := time.NewTicker(2*time.Millisecond), time.After(5*time.Second)
	defer tick.Stop()
	for {
		s.mu.Lock()
		for _, a := range s.archive {
			if a.id == id && a.number > 0 && s.acked >= a.number {
				s.mu.Unlock()
				return true
			}
		}
		s.mu.Unlock()
		select {
		case <-tick.C:
		case <-late:
			return false
		}
	}
}

// Messages are what was said.
func (s *server) Messages() []loopback.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]loopback.Message(nil), s.messages...)
}

func number(n int) string { return strconv.Itoa(n) }
