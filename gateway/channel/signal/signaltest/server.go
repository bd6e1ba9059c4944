// Package signaltest is signal-cli's HTTP interface in memory, as strict as the manual
// and the source of signal-cli 0.14 say, with the people and groups of a made-up Signal
// behind it: it refuses parameters, recipients, styles and edits that are none, keeps
// the newest events, and plays faults that a test asks for. It knows nothing of our
// client.
package signaltest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"sync"
)

// Number and Self are our account.
const (
	Number = "+4915112345678"
	Self   = "00000000-0000-4000-8000-000000000001"
)

// mostKept is how many events are kept for who connects again.
const mostKept = 1000

// Person is somebody at Signal.
type Person struct{ UUID, Number, Name string }

// File is one that a message has.
type File struct {
	ID, Name, MIME string
	Data           []byte
}

// Style is how a part of a message looks.
type Style struct {
	Start, Length int
	Name          string
}

// Message is one that our account sent.
type Message struct {
	At        int64 // its first time, which others name it by
	Newest    int64 // that of its newest edit
	Edits     int
	To        string // a person's UUID or a group's id
	Text      string
	Styles    []Style
	Files     []File
	Quote     *Quote
	Reactions []string // ours
	Deleted   bool
}

// Quote is the message that another one answers.
type Quote struct {
	At           int64
	Author, Text string
}

// Fault is what happens to a request instead.
type Fault struct {
	Status    int    // of a proxy in between
	Code      int    // of an error of signal-cli
	Words     string // of that
	Result    string // a kind of result: the message reaches nobody
	After     int    // seconds, of a limit
	CutBefore bool   // the connection breaks, and nothing was done
	CutAfter  bool   // it is done, and the connection breaks
}

// kept is an event.
type kept struct{ id, data string }

// Server is the whole of it.
type Server struct {
	http    *httptest.Server
	closing chan struct{}

	mu       sync.Mutex
	clock    int64
	people   map[string]Person
	groups   map[string]string // names by id
	sent     []*Message
	heard    map[string]bool // messages of others, by time and author
	files    map[string]File
	typed    []string
	read     []string
	faults   map[string][]Fault
	gone     bool // the account
	noIDs    bool
	events   []kept
	named    int
	waiting  []string // messages that Signal keeps for us
	conns    int
	dropped  int
	changed  chan struct{}
	asked    []string // the Last-Event-IDs
	requests map[string]int
}

// New starts it. The clock is where its times begin, in milliseconds.
func New(clock int64) *Server {
	s := &Server{
		closing: make(chan struct{}), clock: clock, people: map[string]Person{}, groups: map[string]string{}, heard: map[string]bool{},
		files: map[string]File{}, faults: map[string][]Fault{}, changed: make(chan struct{}), requests: map[string]int{},
	}
	s.people[Self] = Person{UUID: Self, Number: Number, Name: "Hearth"}
	s.http = httptest.NewServer(s.handler())
	return s
}

// Close ends it.
func (s *Server) Close() {
	close(s.closing)
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is its address.
func (s *Server) URL() string { return s.http.URL }

// AddPerson makes somebody; number may be empty, as that of who hides it.
func (s *Server) AddPerson(name, number string) Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := Person{UUID: fmt.Sprintf("00000000-0000-4000-8000-%012d", len(s.people)+1), Number: number, Name: name}
	s.people[p.UUID] = p
	return p
}

// AddGroup makes a group that we are in, and returns its id.
func (s *Server) AddGroup(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := base64.StdEncoding.EncodeToString(slices.Concat([]byte{0xfb, 0xff, byte(len(s.groups))}, make([]byte, 29)))
	s.groups[id] = name
	return id
}

// Fail says what happens to the next requests of a method; "edit" is a send that
// edits.
func (s *Server) Fail(method string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], faults...)
}

// Unlink makes our account one that Signal does not know any more.
func (s *Server) Unlink() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
}

// Old makes it a signal-cli that names no events and keeps none.
func (s *Server) Old() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noIDs = true
}

// Restart forgets the events, as a signal-cli does that is started again, and ends the
// connections.
func (s *Server) Restart() {
	s.mu.Lock()
	s.events = nil
	s.mu.Unlock()
	s.Drop()
}

// Drop ends the connections that events go by.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped++
	s.change()
}

// Now is the next time, which no other message has.
func (s *Server) Now() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tick()
}

func (s *Server) tick() int64 {
	s.clock++
	return s.clock
}

// Say is somebody writing what data says, which is completed; group may be empty. It
// returns the time of the message.
func (s *Server) Say(who Person, group string, data map[string]any) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := data["timestamp"].(int64)
	if !ok {
		at = s.tick()
	}
	message := map[string]any{"timestamp": at, "message": nil, "expiresInSeconds": 0, "isExpirationUpdate": false, "viewOnce": false}
	for k, v := range data {
		message[k] = v
	}
	message["timestamp"] = at
	if group != "" {
		message["groupInfo"] = map[string]any{"groupId": group, "groupName": s.groups[group], "revision": 3, "type": "DELIVER"}
	}
	s.heard[fmt.Sprint(at, who.UUID)] = true
	s.event(who, map[string]any{"dataMessage": message})
	return at
}

// Change is somebody giving a message other words: target is the newest time of it.
func (s *Server) Change(who Person, target int64, words string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.tick()
	s.event(who, map[string]any{"editMessage": map[string]any{"targetSentTimestamp": target,
		"dataMessage": map[string]any{"timestamp": at, "message": words, "expiresInSeconds": 0, "viewOnce": false}}})
	return at
}

// Tell is any other event of somebody.
func (s *Server) Tell(who Person, what map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.event(who, what)
}

// Raw is an event as a test writes it.
func (s *Server) Raw(data string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrive(data)
}

// event is something that comes from Signal. The mutex is held.
func (s *Server) event(who Person, what map[string]any) {
	at := s.clock
	e := map[string]any{"source": who.UUID, "sourceNumber": who.Number, "sourceUuid": who.UUID, "sourceName": who.Name, "sourceDevice": 1,
		"timestamp": at, "serverReceivedTimestamp": at, "serverDeliveredTimestamp": at}
	if who.Number == "" {
		e["sourceNumber"] = nil
	}
	for k, v := range what {
		e[k] = v
	}
	b, _ := json.Marshal(map[string]any{"account": Number, "envelope": e})
	s.arrive(string(b))
}

// arrive keeps what came at Signal while nobody is connected (--receive-mode
// on-connection), and else makes it an event. The mutex is held.
func (s *Server) arrive(data string) {
	if s.conns == 0 {
		s.waiting = append(s.waiting, data)
		return
	}
	s.keep(data)
}

func (s *Server) keep(data string) {
	s.named++
	s.events = append(s.events, kept{fmt.Sprintf("run-1:%d", s.named), data})
	s.change()
}

// change wakes who waits. The mutex is held.
func (s *Server) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// AddFile is a file that somebody's message will have, as the message says it.
func (s *Server) AddFile(f File) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.ID = fmt.Sprintf("file-%d.bin", len(s.files)+1)
	s.files[f.ID] = f
	return map[string]any{"contentType": f.MIME, "filename": f.Name, "id": f.ID, "size": len(f.Data), "uploadTimestamp": 1}
}

// Sent are our messages.
func (s *Server) Sent() (out []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.sent {
		out = append(out, *m)
	}
	return out
}

// Typed is where we typed, Read which messages we said to have read.
func (s *Server) Typed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.typed)
}

// Read are the messages that their authors know to be read.
func (s *Server) Read() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.read)
}

// Asked are the events behind which was asked for more, Requests how often a method.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Requests is how often a method was asked for.
func (s *Server) Requests(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[method]
}
