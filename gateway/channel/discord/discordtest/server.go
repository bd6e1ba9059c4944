// Package discordtest is Discord in memory, as strict as the real one in what bots use:
// it refuses wrong tokens, ids, shapes, lengths and intents, counts requests in buckets
// with headers, keeps permissions, takes a nonce once, closes connections without
// heartbeats, and plays faults that a test asks for. It knows what Discord's public
// documentation says, and nothing of our client.
package discordtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"
	"unicode/utf16"
)

// MostText is how long a message may be.
const MostText = 2000

// MostFile is how large a bot's file may be.
const MostFile = 10 << 20

// Fault is what happens to a request instead.
type Fault struct {
	Status, Code int
	Words        string // "" and no code: a page of the door
	After        time.Duration
	Global       bool
	CutBefore    bool // the connection breaks, and nothing was done
	CutAfter     bool // it is done, and the connection breaks
}

// User is somebody.
type User struct {
	ID   string `json:"id"`
	Name string `json:"username"`
	Full string `json:"global_name"`
	Bot  bool   `json:"bot"`
}

// Channel is a place for messages. Kind is 0 in a server, 1 with one person, 11 a
// thread.
type Channel struct {
	ID     string `json:"id"`
	Kind   int    `json:"type"`
	Name   string `json:"name,omitempty"`
	Parent string `json:"parent_id,omitempty"`
	Last   string `json:"last_message_id,omitempty"`
	Server string `json:"guild_id,omitempty"`

	person string
	denied int // code of the no to the bot
}

// Message is one.
type Message struct {
	ID         string         `json:"id"`
	Channel    string         `json:"channel_id"`
	Server     string         `json:"guild_id,omitempty"`
	Author     User           `json:"author"`
	Kind       int            `json:"type"`
	Content    string         `json:"content"`
	At         time.Time      `json:"timestamp"`
	EditedAt   *time.Time     `json:"edited_timestamp"`
	Mentions   []User         `json:"mentions"`
	Roles      []string       `json:"mention_roles"`
	Files      []File         `json:"attachments"`
	Reactions  []Reaction     `json:"reactions,omitempty"`
	Webhook    string         `json:"webhook_id,omitempty"`
	Reference  map[string]any `json:"message_reference,omitempty"`
	Answered   *Message       `json:"referenced_message,omitempty"`
	Snapshots  []any          `json:"message_snapshots,omitempty"`
	Nonce      string         `json:"nonce,omitempty"`
	Components []Component    `json:"components,omitempty"`
	Poll       *Poll          `json:"poll,omitempty"`

	Deleted bool     `json:"-"`
	Pinged  bool     `json:"-"` // it called somebody
	Pinned  bool     `json:"-"`
	Silent  bool     `json:"-"` // no device made a sound
	Words   []string `json:"-"` // that were said to who pressed a button
}

// File is one of a message.
type File struct {
	ID   string `json:"id"`
	Name string `json:"filename"`
	MIME string `json:"content_type"`
	Size int64  `json:"size"`
	URL  string `json:"url"`

	Data []byte `json:"-"`
}

// Reaction is an emoji on a message, as the bot sees it.
type Reaction struct {
	Count int            `json:"count"`
	Me    bool           `json:"me"`
	Emoji map[string]any `json:"emoji"`
}

// Server is the whole of it, with one server (guild) that the bot is in.
type Server struct {
	Bot   User
	Guild string
	Role  string // that calls the bot

	http  *httptest.Server
	token string

	mu       sync.Mutex
	last     int64 // number
	channels map[string]*Channel
	users    map[string]User
	messages map[string]*Message
	order    []string
	files    map[string]*File
	nonces   map[string]string
	faults   map[string][]Fault
	typed    []string
	sessions map[string]*session
	denied   int64 // intents that were not enabled
	limited  int   // requests that were one too many
	dials    int
	idents   int
	resumes  int
	beat     time.Duration
	bucket   int           // requests of a bucket, 0: any number
	refill   time.Duration // of buckets
	used     map[string]*use
	deaf     bool                // heartbeats are not answered
	presses  map[string]*pressed // by their token
	commands []Command
}

type use struct {
	left  int
	until time.Time
}

// New starts a Discord whose bot has the token.
func New(token string) *Server {
	s := &Server{
		token: token, channels: map[string]*Channel{}, users: map[string]User{}, messages: map[string]*Message{}, files: map[string]*File{},
		nonces: map[string]string{}, faults: map[string][]Fault{}, sessions: map[string]*session{}, used: map[string]*use{},
		beat: 40 * time.Second, presses: map[string]*pressed{},
	}
	s.Guild, s.Role = s.id(), s.id()
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

// id makes a number as Discord does: milliseconds since 2015, and a count.
func (s *Server) id() string {
	s.last = max(s.last+1, (time.Now().UnixMilli()-1_420_070_400_000)<<22)
	return strconv.FormatInt(s.last, 10)
}

// AddUser makes somebody.
func (s *Server) AddUser(name string, bot bool) User {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := User{ID: s.id(), Name: name, Full: "The " + name, Bot: bot}
	s.users[u.ID] = u
	return u
}

// AddChannel makes a channel of the server, or a thread in parent.
func (s *Server) AddChannel(name string, parent *Channel) *Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &Channel{ID: s.id(), Name: name, Server: s.Guild}
	event := "CHANNEL_CREATE"
	if parent != nil {
		c.Kind, c.Parent, event = 11, parent.ID, "THREAD_CREATE"
	}
	s.channels[c.ID] = c
	s.tell(event, c)
	return c
}

// Direct is the bot's channel with somebody.
func (s *Server) Direct(u User) *Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.direct(u.ID)
}

func (s *Server) direct(person string) *Channel {
	for _, c := range s.channels {
		if c.person == person {
			return c
		}
	}
	c := &Channel{ID: s.id(), Kind: 1, person: person}
	s.channels[c.ID] = c
	return c
}

// Deny answers all requests about a channel with a no of that code.
func (s *Server) Deny(c *Channel, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.denied = code
}

// Revoke makes the token worthless and ends its sessions.
func (s *Server) Revoke() {
	s.mu.Lock()
	s.token = "revoked"
	s.mu.Unlock()
	s.Drop()
}

// Disallow refuses intents, as when they are not switched on.
func (s *Server) Disallow(intents int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = intents
}

// Buckets lets a bucket take so many requests in a time.
func (s *Server) Buckets(most int, refill time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bucket, s.refill = most, refill
}

// Beat sets the pace of heartbeats; deaf: they are not answered.
func (s *Server) Beat(every time.Duration, deaf bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beat, s.deaf = every, deaf
}

// Fail says what happens to the next requests of a kind, like
// "POST /channels/{id}/messages".
func (s *Server) Fail(what string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[what] = append(s.faults[what], faults...)
}

// Say is somebody writing; change may add to the message.
func (s *Server) Say(who User, c *Channel, text string, change func(*Message)) *Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.made(who, c, text)
	if change != nil {
		change(m)
	}
	s.keep(m)
	s.tell("MESSAGE_CREATE", m)
	return m
}

// Silently is a message of which no event is told.
func (s *Server) Silently(who User, c *Channel, text string) *Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.made(who, c, text)
	s.keep(m)
	return m
}

func (s *Server) made(who User, c *Channel, text string) *Message {
	return &Message{ID: s.id(), Channel: c.ID, Server: c.Server, Author: who, Content: text, At: time.Now(), Mentions: []User{},
		Roles: []string{}, Files: []File{}}
}

func (s *Server) keep(m *Message) {
	s.messages[m.ID] = m
	s.order = append(s.order, m.ID)
	s.channels[m.Channel].Last = m.ID
}

// Again tells of a message once more.
func (s *Server) Again(m *Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell("MESSAGE_CREATE", m)
}

// Change is somebody editing a message; embed only adds the picture of a link.
func (s *Server) Change(m *Message, text string, embed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !embed {
		m.Content, m.EditedAt = text, new(time.Now())
	}
	s.tell("MESSAGE_UPDATE", m)
}

// Upload is a file of somebody.
func (s *Server) Upload(name, mime string, data []byte) File {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &File{ID: s.id(), Name: name, MIME: mime, Size: int64(len(data)), Data: data}
	f.URL = s.http.URL + "/attachments/" + f.ID
	s.files[f.ID] = f
	return *f
}

// Sent are the bot's messages that are there, in their order.
func (s *Server) Sent() (out []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.order {
		if m := s.messages[id]; m.Author.ID == s.Bot.ID && !m.Deleted {
			out = append(out, *m)
		}
	}
	return out
}

// Message is one by its id.
func (s *Server) Message(id string) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.messages[id]
}

// Typed are the channels where the bot was seen typing.
func (s *Server) Typed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.typed...)
}

// Limited is how many requests were more than a bucket takes.
func (s *Server) Limited() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limited
}

// Counts are how often a connection was made, a session begun, and one gone on with.
func (s *Server) Counts() (dials, begun, resumed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dials, s.idents, s.resumes
}

func length(s string) int { return len(utf16.Encode([]rune(s))) }

// no is an answer that refuses.
type no struct {
	status, code int
	words        string
}

func (n *no) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(n.status)
	_ = json.NewEncoder(w).Encode(map[string]any{"code": n.code, "message": n.words})
}
