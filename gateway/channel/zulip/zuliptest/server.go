// Package zuliptest is a Zulip server in memory, as strict as the real one in what bots
// use: it refuses wrong keys, parameters, numbers and emoji, cuts what is too long,
// keeps who may read and write where, holds queues of events, prunes and forgets them,
// and plays faults that a test asks for. It knows what the public documentation and
// source of Zulip say, and nothing of our client.
package zuliptest

import (
	"fmt"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// What messages and topics are cut to.
const (
	MostText  = 10_000
	mostTopic = 60
)

// Email is the bot's address.
const Email = "hearth-bot@zulip.test"

// Fault is what happens to a request instead.
type Fault struct {
	Status      int
	Code, Words string        // of the error; "": a proxy's page
	Reset       time.Duration // of a limit
	OnlyHeader  bool          // of a limit: told in the header alone
	CutBefore   bool          // the connection breaks, and nothing was done
	CutAfter    bool          // it is done, and the connection breaks
}

// User is somebody with an account.
type User struct {
	ID    int64
	Name  string
	Email string
	IsBot bool
}

// Stream is a channel of the organization.
type Stream struct {
	ID         int64
	Name       string
	subscribed bool // the bot
	private    bool
}

// Place is where a message is: in a stream's topic, or with people.
type Place struct {
	Stream *Stream
	Topic  string
	People []User // all but the bot
}

// Message is one.
type Message struct {
	ID        int64
	Sender    User
	At        Place
	Content   string
	Timestamp int64
	Client    string
	Reactions []Reaction
	gone      bool
}

// Reaction is an emoji on a message.
type Reaction struct {
	Name   string `json:"emoji_name"`
	Code   string `json:"emoji_code"`
	Kind   string `json:"reaction_type"`
	UserID int64  `json:"user_id"`
}

// File is one that was uploaded.
type File struct {
	Path, Name, MIME string
	Data             []byte
}

// queue is one of events that a client registered.
type queue struct {
	events []map[string]any
	next   int64
	pruned int64 // the newest event that the client has said to have
}

// Server is the whole of it.
type Server struct {
	Bot User

	http    *httptest.Server
	key     string
	closing chan struct{}

	mu       sync.Mutex
	count    int64
	users    map[int64]User
	streams  map[int64]*Stream
	messages []*Message
	files    map[string]*File
	shown    map[string]*File // by temporary address
	typed    []string
	faults   map[string][]Fault
	queues   map[string]*queue
	polls    int           // that wait now
	made     int           // queues
	changed  chan struct{} // closed when something happens that a poll waits for
}

// New starts a server whose bot has the key.
func New(key string) *Server {
	s := &Server{
		key: key, closing: make(chan struct{}), count: 1000, users: map[int64]User{}, streams: map[int64]*Stream{}, files: map[string]*File{},
		shown: map[string]*File{}, faults: map[string][]Fault{}, queues: map[string]*queue{}, changed: make(chan struct{}),
	}
	s.Bot = s.AddUser("Hearth", true)
	s.Bot.Email = Email
	s.users[s.Bot.ID] = s.Bot
	s.http = httptest.NewServer(s.handler())
	return s
}

// Close ends the server.
func (s *Server) Close() {
	close(s.closing)
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is the server's address.
func (s *Server) URL() string { return s.http.URL }

// id is the next number. The mutex is held.
func (s *Server) id() int64 {
	s.count++
	return s.count
}

// AddUser makes an account.
func (s *Server) AddUser(name string, bot bool) User {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.id()
	u := User{ID: id, Name: name, Email: fmt.Sprintf("user%d@zulip.test", id), IsBot: bot}
	s.users[id] = u
	return u
}

// AddStream makes a channel that the bot is subscribed to.
func (s *Server) AddStream(name string, private bool) *Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &Stream{ID: s.id(), Name: name, subscribed: true, private: private}
	s.streams[t.ID] = t
	return t
}

// Unsubscribe takes the bot out of a channel.
func (s *Server) Unsubscribe(t *Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.subscribed = false
}

// Revoke makes the key worthless.
func (s *Server) Revoke() {
	s.mu.Lock()
	s.key = "revoked"
	s.mu.Unlock()
	s.DropQueues()
}

// Fail says what happens to the next request of a kind, like "POST /messages".
func (s *Server) Fail(what string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[what] = append(s.faults[what], faults...)
}

// Say is somebody writing; change may change the message before it is there.
func (s *Server) Say(who User, at Place, text string, change func(*Message)) *Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.keep(who, at, text, change)
	s.tell(map[string]any{"type": "message", "message": shape(m), "flags": s.flags(m)})
	return m
}

// Silently is a message that no queue is told of, as when it was written while there
// was none.
func (s *Server) Silently(who User, at Place, text string) *Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keep(who, at, text, nil)
}

// Repeat tells of a message again.
func (s *Server) Repeat(m *Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(map[string]any{"type": "message", "message": shape(m), "flags": s.flags(m)})
}

// Raw puts an event into the queues as a test writes it, with a number unless it has
// one.
func (s *Server) Raw(event map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(event)
}

// Change is somebody editing a message.
func (s *Server) Change(m *Message, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.edit(m, text)
}

// keep writes a message down. The mutex is held.
func (s *Server) keep(who User, at Place, text string, change func(*Message)) *Message {
	m := &Message{ID: s.id(), Sender: who, At: at, Content: normal(text, MostText), Timestamp: 1_790_000_000, Client: "website"}
	if change != nil {
		change(m)
		s.count = max(s.count, m.ID)
	}
	m.At.Topic = normal(m.At.Topic, mostTopic)
	s.messages = append(s.messages, m)
	return m
}

// edit gives a message other words. The mutex is held.
func (s *Server) edit(m *Message, text string) {
	old := m.Content
	if m.Content = normal(text, MostText); m.Content == "" {
		m.Content = "(deleted)"
	}
	event := map[string]any{"type": "update_message", "user_id": m.Sender.ID, "rendering_only": false, "message_id": m.ID,
		"message_ids": []int64{m.ID}, "flags": s.flags(m), "edit_timestamp": 1_790_000_100, "orig_content": old, "content": m.Content,
		"is_me_message": false}
	s.tell(event)
}

// Preview is the server adding the picture of a link: the words stay.
func (s *Server) Preview(m *Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(map[string]any{"type": "update_message", "user_id": nil, "rendering_only": true, "message_id": m.ID, "message_ids": []int64{m.ID},
		"flags": s.flags(m), "edit_timestamp": 1_790_000_100, "content": m.Content})
}

// normal is a text as the server keeps it: without spaces at its end, and cut.
func normal(text string, most int) string {
	text = strings.TrimRight(text, " \t\r\n")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	end := "\n[message truncated]"
	if most == mostTopic {
		end = "..."
	}
	return string([]rune(text)[:most-len(end)]) + end
}

// calls finds what the server takes for calling somebody: behind the beginning, a space
// or an opening sign.
var calls = regexp.MustCompile(`(?:^|[\s'"({\[/<])@(_?)(\*\*([^*]+)\*\*|\*([^*]+)\*)`)

// Pings are those whom a text calls aloud.
func Pings(text string) (names []string) {
	for _, m := range calls.FindAllStringSubmatch(text, -1) {
		if m[1] == "" {
			name, _, _ := strings.Cut(m[3]+m[4], "|")
			names = append(names, name)
		}
	}
	return names
}

// flags are the bot's own of a message.
func (s *Server) flags(m *Message) []string {
	out := []string{}
	if m.Sender.ID == s.Bot.ID {
		out = append(out, "read")
	}
	for _, name := range Pings(m.Content) {
		switch name {
		case s.Bot.Name:
			out = append(out, "mentioned")
		case "all", "everyone", "stream", "channel":
			out = append(out, "wildcard_mentioned", "stream_wildcard_mentioned")
		}
	}
	return out
}

// tell puts an event into all queues. The mutex is held.
func (s *Server) tell(event map[string]any) {
	for _, q := range s.queues {
		own := make(map[string]any, len(event)+1)
		for k, v := range event {
			own[k] = v
		}
		if own["id"] == nil {
			own["id"] = q.next
		}
		q.next++
		q.events = append(q.events, own)
	}
	s.wake()
}

// wake lets polls look again. The mutex is held.
func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// DropQueues makes the server forget all queues, as after ten minutes without a poll.
func (s *Server) DropQueues() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.queues)
	s.wake()
}

// CutPolls breaks all connections.
func (s *Server) CutPolls() { s.http.CloseClientConnections() }

// Polls are how many requests for events wait now.
func (s *Server) Polls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.polls
}

// Queues are how many queues were made.
func (s *Server) Queues() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made
}

// Sent are the bot's messages that are there, in their order.
func (s *Server) Sent() (out []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if m.Sender.ID == s.Bot.ID && !m.gone {
			own := *m
			own.Reactions = slices.Clone(m.Reactions)
			out = append(out, own)
		}
	}
	return out
}

// Reactions are those on a message.
func (s *Server) Reactions(m *Message) []Reaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(m.Reactions)
}

// Typed are the conversations where the bot was seen typing.
func (s *Server) Typed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.typed)
}

// Upload is a file of somebody; what it returns is the path for a link.
func (s *Server) Upload(name, mime string, data []byte) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.upload(name, mime, data)
}

// odd is what the server takes out of the name of a file for its path.
var odd = regexp.MustCompile(`[^\w\s.-]`)

func (s *Server) upload(name, mime string, data []byte) string {
	clean := strings.ReplaceAll(odd.ReplaceAllString(name, ""), " ", "-")
	at := fmt.Sprintf("/user_uploads/2/%02x/AbC-%d/%s", s.id()%256, s.count, clean)
	s.files[at] = &File{Path: at, Name: name, MIME: mime, Data: data}
	return at
}

// FileOf is a file by its path.
func (s *Server) FileOf(path string) (File, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.files[path]
	if !ok {
		return File{}, false
	}
	return *f, true
}
