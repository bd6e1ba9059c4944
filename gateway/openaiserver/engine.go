package openaiserver

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pairing"
)

// Engine is what the endpoints need of the engine.
type Engine interface {
	// Endpoints are those that are switched on now.
	Endpoints() Endpoints
	// Models is what a request may name.
	Models() []Model
	// Find turns the name in a request into who answers. Its error is an *Error.
	Find(name, agent string) (Target, error)
	// Key makes a session key of the agent's; own is what a token that is not the
	// owner's may name, below which its conversations lie. Its error is an *Error.
	Key(agent, name string) (string, error)
	// KeyOf is the session of a run that this client began; ok is false when
	// there is none.
	KeyOf(runID string, c pairing.Client) (key string, ok bool)
	// Begin accepts a message. Its error is an *Error, or any other for what is
	// not the program's business.
	Begin(ctx context.Context, a Ask) error
	// Wait returns when the run has ended.
	Wait(ctx context.Context, runID string) (End, error)
	// Stop ends a run.
	Stop(ctx context.Context, key, runID string)
	// Vectors turns texts into vectors; ErrNoVectors when nothing can.
	Vectors(ctx context.Context, texts []string) (name string, v [][]float32, err error)
	// Waiting stops the clock of a run while a program is waited for.
	Waiting(ctx context.Context) (resume func())
}

// Model is one that a request may name.
type Model struct {
	ID      string
	Owner   string
	Created int64 // seconds; 0 = nobody knows
}

// Target is who answers a request.
type Target struct {
	Agent string
	Model string // "provider/model" for this turn, "" = the agent's own
}

// Ask is a message for a session.
type Ask struct {
	RunID, Key string
	Client     pairing.Client
	Model      string
	Text       string // of the person
	ForModel   string // what the model reads in its place; "" = Text
	Pictures   []string
	Past       []Message // what was said before, for a session that is new
	Label      string    // of the session
	Named      bool      // the program names the session, it is not found by what was said
}

// End is how a run ended.
type End struct {
	State   State
	Text    string // the whole last message
	Stop    model.StopReason
	Model   string
	Usage   model.Usage
	Kind    string        // of a failure: rate_limit, timeout, context_length, refusal, unknown
	Problem string        // in words for programs
	Wait    time.Duration // until its service may be asked again; 0 = nobody knows
}

// State is how a run ended.
type State string

const (
	Answered State = "answered"
	Failed   State = "failed"
	Stopped  State = "stopped" // by a person, in the page
	Dropped  State = "dropped" // too many waited
)

// Endpoints say what is switched on.
type Endpoints struct{ Chat, Responses bool }

// any reports whether one is: lists of models and vectors go with both.
func (e Endpoints) any() bool { return e.Chat || e.Responses }

// Options of a Handler.
type Options struct {
	Engine Engine
	// Admit lets a request in or not.
	Admit func(r *http.Request, need pairing.ClientScope) (*pairing.Visit, error)
	// Mark puts marks around text from outside.
	Mark  func(source, text string) string
	Now   func() time.Time
	NewID func() string
	// Limits bound what programs can cost; zero fields have defaults.
	Limits Limits
}

// Limits of programs.
type Limits struct {
	Body      int64         // bytes of a request; 20 MB
	Bodies    int           // requests being read at a time; 8
	PerClient int           // requests of one client at a time; 16
	All       int           // requests at a time; 64
	Rate      float64       // requests a second of one client; 10
	Burst     int           // above that rate; 60
	Parked    int           // runs that wait for a program, of one client; 8
	ParkFor   time.Duration // how long one waits; 10 min
	Write     time.Duration // a program that takes nothing for so long is cut off; 15 s
	Quiet     time.Duration // then a line is sent that keeps the connection open; 10 s
	ReadBody  time.Duration // for a whole body; 15 s
}

func (l Limits) withDefaults() Limits {
	orInt := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	orTime := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	if l.Body <= 0 {
		l.Body = 20 << 20
	}
	if l.Rate <= 0 {
		l.Rate = 10
	}
	orInt(&l.Bodies, 8)
	orInt(&l.PerClient, 16)
	orInt(&l.All, 64)
	orInt(&l.Burst, 60)
	orInt(&l.Parked, 8)
	orTime(&l.ParkFor, 10*time.Minute)
	orTime(&l.Write, 15*time.Second)
	orTime(&l.Quiet, 10*time.Second)
	orTime(&l.ReadBody, 15*time.Second)
	return l
}

// Message is one message of a request, in whichever form it came.
type Message struct {
	Role     Role
	Text     string
	Pictures []string // data: addresses
	Calls    []Call   // of an assistant's message
	CallID   string   // of a tool's
}

// Role is who said a message.
type Role string

const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Call is a model's wish for a tool of the program.
type Call struct {
	ID, Name, Arguments string
}

// Function is a tool of the program.
type Function struct {
	Name, Description string
	Schema            json.RawMessage
}

// Request is what both forms come to.
type Request struct {
	Model        string
	Instructions string
	Messages     []Message
	Tools        []Function
	User         string
	Previous     string // the answer that this one follows, by its id
	Stream       bool
	Usage        bool // tell the usage in the stream
	Options      model.Options
	NoTools      bool // none of the program's tools may be called now
	Echo         echoed
}

// Connect says what answers, for a handler that was made without an Engine. It is
// called before the first request.
func (h *Handler) Connect(e Engine) { h.Engine = e }
