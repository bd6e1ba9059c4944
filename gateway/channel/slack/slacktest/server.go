// Package slacktest is a Slack workspace in memory, as strict as the real one in what
// bots use: it refuses wrong tokens, missing scopes, unknown arguments and ids, texts
// that are too long, and places where the bot is not; it tells events by Socket Mode,
// again until they are acknowledged, moves its connections, and plays faults that a
// test asks for. It knows what Slack's public documentation says, and nothing of our
// client.
package slacktest

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// MostText is how many characters a message may have.
const MostText = 40_000

// Fault is what happens to a call instead.
type Fault struct {
	Status    int           // of HTTP
	Error     string        // Slack's word
	After     time.Duration // in Retry-After, with 429
	CutBefore bool          // the connection breaks, and nothing was done
	CutAfter  bool          // it is done, and the connection breaks
}

// User is somebody.
type User struct {
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	Bot     bool    `json:"is_bot"`
	Profile Profile `json:"profile"`
}

// Profile is what somebody says of themselves.
type Profile struct {
	Display string `json:"display_name"`
	Real    string `json:"real_name"`
}

// Channel is a conversation. The bot is in it unless it was removed.
type Channel struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	IM   bool   `json:"is_im"`
	User string `json:"user,omitempty"`

	out      bool
	archived bool
}

// Message is one.
type Message struct {
	Type    string         `json:"type"`
	Subtype string         `json:"subtype,omitempty"`
	Channel string         `json:"-"`
	User    string         `json:"user,omitempty"`
	Bot     string         `json:"bot_id,omitempty"`
	Text    string         `json:"text"`
	TS      string         `json:"ts"`
	Thread  string         `json:"thread_ts,omitempty"`
	Parent  string         `json:"parent_user_id,omitempty"`
	Edited  map[string]any `json:"edited,omitempty"`
	Files   []File         `json:"files,omitempty"`

	Reactions []Reaction `json:"reactions,omitempty"`
	Deleted   bool       `json:"-"`
	Blocks    []Block    `json:"blocks,omitempty"`
	Words     []string   `json:"-"` // that only one person sees, about it
	Pinned    bool       `json:"-"`
	Streaming bool       `json:"-"` // more text may come
	Streamed  bool       `json:"-"` // it was begun as a stream
	Added     int        `json:"-"` // how often more came
}

// Reaction is an emoji on a message.
type Reaction struct {
	Name  string   `json:"name"`
	Users []string `json:"users"`
	Count int      `json:"count"`
}

// File is one of a message.
type File struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	MIME string `json:"mimetype"`
	Size int64  `json:"size"`
	URL  string `json:"url_private_download"`

	Data []byte `json:"-"`
	want int64
}

// Server is the workspace.
type Server struct {
	Bot User
	// BotID is the bot's id as a writer of messages.
	BotID string

	http     *httptest.Server
	bot, app string

	mu       sync.Mutex
	count    int
	last     int64
	scopes   []string
	users    map[string]User
	channels map[string]*Channel
	messages []*Message
	files    map[string]*File
	faults   map[string][]Fault
	sockets  map[*socket]bool
	waiting  []*envelope // that nobody acknowledged
	acked    map[string]bool
	pressed  *Message // last
	dials    int

	noStreams, noView, limited bool

	called map[string][]time.Time
	views  []string
}

// New starts a workspace whose app has these tokens, and the bot these scopes.
func New(bot, app string, scopes []string) *Server {
	s := &Server{
		bot: bot, app: app, scopes: scopes, users: map[string]User{}, channels: map[string]*Channel{}, files: map[string]*File{},
		faults: map[string][]Fault{}, sockets: map[*socket]bool{}, acked: map[string]bool{}, BotID: "B0000000BOT",
		called: map[string][]time.Time{},
	}
	s.Bot = s.AddUser("hearth", true)
	s.http = httptest.NewServer(s.handler())
	return s
}

// Close ends it.
func (s *Server) Close() {
	s.Drop()
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is where its API is.
func (s *Server) URL() string { return s.http.URL + "/api" }

func (s *Server) id(letter string) string {
	s.count++
	return fmt.Sprintf("%s%09d", letter, s.count)
}

// ts is the time as Slack numbers messages, later than ever before.
func (s *Server) ts() string {
	s.last = max(s.last+1, time.Now().UnixMicro())
	return fmt.Sprintf("%d.%06d", s.last/1_000_000, s.last%1_000_000)
}

// AddUser makes somebody.
func (s *Server) AddUser(name string, bot bool) User {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := User{ID: s.id("U"), Name: name, Bot: bot, Profile: Profile{Real: "The " + name}}
	s.users[u.ID] = u
	return u
}

// AddChannel makes a channel with the bot in it.
func (s *Server) AddChannel(name string) *Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &Channel{ID: s.id("C"), Name: name}
	s.channels[c.ID] = c
	return c
}

// Direct is the bot's conversation with somebody.
func (s *Server) Direct(u User) *Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.direct(u.ID)
}

func (s *Server) direct(person string) *Channel {
	for _, c := range s.channels {
		if c.User == person {
			return c
		}
	}
	c := &Channel{ID: s.id("D"), IM: true, User: person}
	s.channels[c.ID] = c
	return c
}

// Kick takes the bot out of a channel; Archive closes one.
func (s *Server) Kick(c *Channel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.out = true
}

// Archive closes a channel.
func (s *Server) Archive(c *Channel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.archived = true
}

// Revoke makes the tokens worthless and breaks the connections.
func (s *Server) Revoke() {
	s.mu.Lock()
	s.bot, s.app = "revoked", "revoked"
	s.mu.Unlock()
	s.Drop()
}

// Unscope takes a scope from the token.
func (s *Server) Unscope(scope string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scopes = slices.DeleteFunc(slices.Clone(s.scopes), func(have string) bool { return have == scope })
}

// Fail says what happens to the next calls of a method.
func (s *Server) Fail(method string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], faults...)
}

// Say is somebody writing; change may add to the message.
func (s *Server) Say(who User, c *Channel, text string, change func(*Message)) *Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.made(who, c, text)
	if change != nil {
		change(m)
	}
	s.messages = append(s.messages, m)
	s.tell(c, m, nil)
	if strings.Contains(m.Text, "<@"+s.Bot.ID+">") && !c.IM { // the same once more, as Slack does
		s.tell(c, m, map[string]any{"type": "app_mention"})
	}
	return m
}

// Silently is a message of which no event is told.
func (s *Server) Silently(who User, c *Channel, text string) *Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.made(who, c, text)
	s.messages = append(s.messages, m)
	return m
}

func (s *Server) made(who User, c *Channel, text string) *Message {
	return &Message{Type: "message", Channel: c.ID, User: who.ID, Text: text, TS: s.ts()}
}

// Change is somebody editing a message; unfold only adds the picture of a link.
func (s *Server) Change(m *Message, text string, unfold bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := *m
	if !unfold {
		m.Text, m.Edited = text, map[string]any{"user": m.User, "ts": s.ts()}
	}
	s.tell(s.channels[m.Channel], &Message{Type: "message", Subtype: "message_changed", Channel: m.Channel, TS: s.ts()},
		map[string]any{"message": m, "previous_message": before})
}

// Upload is a file of somebody.
func (s *Server) Upload(name, mime string, data []byte) File {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &File{ID: s.id("F"), Name: name, MIME: mime, Size: int64(len(data)), Data: data}
	f.URL = s.http.URL + "/files-pri/" + f.ID
	s.files[f.ID] = f
	return *f
}

// Sent are the bot's messages that are there, in their order.
func (s *Server) Sent() (out []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if m.User == s.Bot.ID && !m.Deleted {
			out = append(out, *m)
		}
	}
	return out
}

// FileOf is a file by its id.
func (s *Server) FileOf(id string) File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.files[id]
}

// Reactions are those on a message.
func (s *Server) Reactions(m *Message) []Reaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(m.Reactions)
}
