// Package mattermosttest is a Mattermost server in memory, as strict as the real one
// in what bots use: it refuses wrong tokens, ids, shapes and lengths, keeps who may
// read and write where, takes a pending post once, and plays faults that a test asks
// for. It knows what the public documentation and source of Mattermost say, and
// nothing of our client.
package mattermosttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// MostText is how many characters a post may have.
const MostText = 16383

// Fault is what happens to a request instead.
type Fault struct {
	Status    int
	ID, Words string        // of the error; "": a proxy's page
	Reset     time.Duration // of a limit, told in X-Ratelimit-Reset
	CutBefore bool          // the connection breaks, and nothing was done
	CutAfter  bool          // it is done, and the connection breaks
}

// User is somebody with an account.
type User struct {
	ID       string `json:"id"`
	Username string `json:"username"`
	First    string `json:"first_name"`
	IsBot    bool   `json:"is_bot"`
}

// Team is the one that its channels are in.
const Team = "team0000000000000000000000"

// Channel is a place for posts. Members may read and write.
type Channel struct {
	ID         string `json:"id"`
	Type       string `json:"type"`
	Name       string `json:"name"`
	Label      string `json:"display_name"`
	Team       string `json:"team_id"`
	LastPostAt int64  `json:"last_post_at"`
	DeleteAt   int64  `json:"delete_at"`

	members map[string]bool
}

// Post is a message.
type Post struct {
	ID        string         `json:"id"`
	CreateAt  int64          `json:"create_at"`
	UpdateAt  int64          `json:"update_at"`
	EditAt    int64          `json:"edit_at"`
	DeleteAt  int64          `json:"delete_at"`
	UserID    string         `json:"user_id"`
	ChannelID string         `json:"channel_id"`
	RootID    string         `json:"root_id"`
	Message   string         `json:"message"`
	Type      string         `json:"type"`
	Props     map[string]any `json:"props"`
	FileIDs   []string       `json:"file_ids"`
	PendingID string         `json:"pending_post_id"`
	Pinned    bool           `json:"is_pinned"`
	Metadata  Metadata       `json:"metadata"`
}

// Metadata is what the server adds to a post.
type Metadata struct {
	Files []File `json:"files,omitempty"`
}

// File is one that was uploaded.
type File struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	MIME string `json:"mime_type"`
	Size int64  `json:"size"`

	Data []byte `json:"-"`
	at   string
	used bool
}

// Reaction is an emoji on a post.
type Reaction struct {
	UserID string `json:"user_id"`
	PostID string `json:"post_id"`
	Name   string `json:"emoji_name"`
}

// Server is the whole of it. Its bot may write where it is a member.
type Server struct {
	Bot User

	http  *httptest.Server
	now   func() time.Time
	token string

	mu        sync.Mutex
	count     int
	last      int64
	written   int // posts that the bot made
	users     map[string]User
	channels  map[string]*Channel
	posts     map[string]*Post
	order     []string
	files     map[string]*File
	reactions []Reaction
	pending   map[string]string
	typing    []string
	faults    map[string][]Fault
	sockets   map[*socket]bool
	dials     int
	refuse    []int // statuses of the next sockets
}

// New starts a server whose bot has the token.
func New(token string) *Server {
	s := &Server{
		now: time.Now, token: token, users: map[string]User{}, channels: map[string]*Channel{}, posts: map[string]*Post{},
		files:   map[string]*File{},
		pending: map[string]string{}, faults: map[string][]Fault{}, sockets: map[*socket]bool{},
	}
	s.Bot = s.AddUser("hearth", true)
	s.http = httptest.NewServer(s.handler())
	return s
}

// Close ends the server.
func (s *Server) Close() {
	s.Drop()
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is the server's address.
func (s *Server) URL() string { return s.http.URL }

// id makes one as the server does: 26 small letters and digits. The mutex is held.
func (s *Server) id() string {
	s.count++
	return fmt.Sprintf("%026d", s.count)
}

// tick is the time in milliseconds, later than ever before. The mutex is held.
func (s *Server) tick() int64 {
	s.last = max(s.last+1, s.now().UnixMilli())
	return s.last
}

// AddUser makes an account.
func (s *Server) AddUser(name string, bot bool) User {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := User{ID: s.id(), Username: name, IsBot: bot}
	s.users[u.ID] = u
	return u
}

// AddChannel makes a channel (O, P or G) with the bot and others in it.
func (s *Server) AddChannel(kind, name string, others ...User) *Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &Channel{ID: s.id(), Type: kind, Name: name, Label: strings.ToUpper(name), members: map[string]bool{s.Bot.ID: true}}
	if kind != "G" { // some people's is in no team
		c.Team = Team
	}
	for _, u := range others {
		c.members[u.ID] = true
	}
	s.channels[c.ID] = c
	return c
}

// Direct is the channel of the bot with somebody.
func (s *Server) Direct(with User) *Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.direct(s.Bot.ID, with.ID)
}

func (s *Server) direct(a, b string) *Channel {
	name := min(a, b) + "__" + max(a, b)
	for _, c := range s.channels {
		if c.Type == "D" && c.Name == name {
			return c
		}
	}
	c := &Channel{ID: s.id(), Type: "D", Name: name, members: map[string]bool{a: true, b: true}}
	s.channels[c.ID] = c
	return c
}

// Kick takes the bot out of a channel.
func (s *Server) Kick(c *Channel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(c.members, s.Bot.ID)
	s.tell("user_removed", map[string]any{"channel_id": c.ID, "remover_id": "x"}, c.ID)
}

// Revoke makes the token worthless and ends its sockets.
func (s *Server) Revoke() {
	s.mu.Lock()
	s.token = "revoked"
	s.mu.Unlock()
	s.Drop()
}

// Fail says what happens to the next request of a kind, like "POST /posts".
func (s *Server) Fail(what string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[what] = append(s.faults[what], faults...)
}

// Say is somebody posting; change may add to the post.
func (s *Server) Say(who User, c *Channel, text string, change func(*Post)) *Post {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &Post{ID: s.id(), UserID: who.ID, ChannelID: c.ID, Message: text, Props: map[string]any{}}
	if change != nil {
		change(p)
	}
	s.publish(p)
	return p
}

// Silently is a post of which no event is told, as when the way to us was broken.
func (s *Server) Silently(who User, c *Channel, text string) *Post {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &Post{ID: s.id(), UserID: who.ID, ChannelID: c.ID, Message: text, Props: map[string]any{}}
	s.keep(p)
	for k := range s.sockets {
		k.seq++ // the event was made and has got lost
	}
	return p
}

// Change is somebody editing a post.
func (s *Server) Change(p *Post, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.Message, p.EditAt = text, s.tick()
	p.UpdateAt = p.EditAt
	s.tell("post_edited", map[string]any{"post": written(p)}, p.ChannelID)
}

// Pin changes a post without an edit.
func (s *Server) Pin(p *Post) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.UpdateAt = s.tick() + 60_000
	s.tell("post_edited", map[string]any{"post": written(p)}, p.ChannelID)
}

// Upload is a file of somebody.
func (s *Server) Upload(name, mime string, data []byte) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &File{ID: s.id(), Name: name, MIME: mime, Size: int64(len(data)), Data: data}
	s.files[f.ID] = f
	return f.ID
}

// keep writes a post down. The mutex is held.
func (s *Server) keep(p *Post) {
	p.CreateAt = s.tick()
	p.UpdateAt = p.CreateAt
	for _, id := range p.FileIDs {
		p.Metadata.Files = append(p.Metadata.Files, *s.files[id])
	}
	s.posts[p.ID] = p
	s.order = append(s.order, p.ID)
	s.channels[p.ChannelID].LastPostAt = p.CreateAt
}

// publish keeps a post and tells everybody. The mutex is held.
func (s *Server) publish(p *Post) {
	s.keep(p)
	c := s.channels[p.ChannelID]
	s.tell("posted", map[string]any{
		"channel_display_name": c.Label, "channel_name": c.Name, "channel_type": c.Type, "post": written(p),
		"sender_name": "@" + s.users[p.UserID].Username, "set_online": true, "team_id": "",
	}, p.ChannelID)
}

// Repeat tells of a post again, as a server does that resumes.
func (s *Server) Repeat(p *Post) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell("posted", map[string]any{"channel_type": s.channels[p.ChannelID].Type, "post": written(p)}, p.ChannelID)
}

func written(p *Post) string {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // a test's own mistake
	}
	return string(b)
}

// Sent are the bot's posts that are there, in their order.
func (s *Server) Sent() (out []Post) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.order {
		if p := s.posts[id]; p.UserID == s.Bot.ID && p.DeleteAt == 0 {
			out = append(out, *p)
		}
	}
	return out
}

// Written is how many posts the bot made.
func (s *Server) Written() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written
}

// Reactions are all that are there.
func (s *Server) Reactions() []Reaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Reaction(nil), s.reactions...)
}

// Typed are the channels, and threads behind a slash, where the bot was seen typing.
func (s *Server) Typed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.typing...)
}

// FileOf is a file by its id.
func (s *Server) FileOf(id string) File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.files[id]
}

func tooLong(text string) bool { return utf8.RuneCountInString(text) > MostText }

// no is an answer of the server that refuses.
type no struct {
	status    int
	id, words string
}

func (n *no) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(n.status)
	said := map[string]any{"id": n.id, "message": n.words, "detailed_error": "", "request_id": "x", "status_code": n.status}
	_ = json.NewEncoder(w).Encode(said)
}
