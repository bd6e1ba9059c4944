package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearth-assistant/hearth/gateway/awake"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

// protocolVersion is asked for first; servers answer with what they speak. The
// newest one begins with a question that older servers do not answer at all.
const protocolVersion = "2025-11-25"

// server is one server's life.
type server struct {
	set  Server
	o    *Options
	stop context.CancelFunc
	done chan struct{}

	again chan struct{} // a token: somebody wants it anew
	stale chan struct{} // a token: its lists are others

	mu       sync.Mutex // guards the following
	st       Status
	changed  chan struct{} // closed and replaced with every change of st
	session  *mcp.ClientSession
	link     *transport // of the session
	offer    offer
	timeouts int
	progress map[string]func(text string)
	tasks    tasks  // has a lock of its own
	noise    *noise // of the program that runs, nil for a service
	nextCall int
}

func newServer(s Server, o *Options) *server {
	return &server{
		set: s, o: o, done: make(chan struct{}), again: make(chan struct{}, 1), stale: make(chan struct{}, 1),
		changed: make(chan struct{}), st: Status{ID: s.ID, State: Starting, Since: o.Now()}, progress: map[string]func(string){},
	}
}

var errAgain = errors.New("it was restarted on request")

// run connects again and again until ctx ends.
func (s *server) run(ctx context.Context) {
	crashes := 0
	for ctx.Err() == nil {
		s.become(Starting, "")
		began := s.o.Now()
		err := s.live(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errAgain):
			continue
		}
		if s.o.Now().Sub(began) > stableTime {
			crashes = 0
		}
		crashes++
		problem := plain(err)
		if errors.Is(err, errGivenUp) || s.set.URL == "" && crashes >= maxCrashes {
			if !errors.Is(err, errGivenUp) {
				problem = fmt.Sprintf("it ended %d times in a row and is not started again by itself: %s", crashes, problem)
			}
			s.mu.Lock()
			s.st.Login = errors.Is(err, errRefused)
			s.mu.Unlock()
			s.become(Failed, problem)
			s.o.Log.Warn("an MCP server is off", "server", s.set.ID, "why", problem)
			select {
			case <-s.again:
				crashes = 0
				continue
			case <-ctx.Done():
				return
			}
		}
		s.become(Waiting, problem)
		s.o.Log.Info("an MCP server is tried again", "server", s.set.ID, "crashes", crashes, "why", problem)
		s.wait(ctx, min(firstPause<<min(crashes-1, 16), longPause))
	}
}

// wait is over early when somebody wants the server anew.
func (s *server) wait(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		_ = s.o.Wait(ctx, d)
	}()
	select {
	case <-s.again:
		cancel()
	case <-waited:
	}
	<-waited
}

// live is one connection, from its start to its end.
func (s *server) live(ctx context.Context) error {
	if s.set.Missing != "" {
		return fmt.Errorf("%w: %s", errGivenUp, s.set.Missing)
	}
	t, err := s.transport(ctx)
	if err != nil {
		return err
	}
	defer t.end()
	client := mcp.NewClient(&mcp.Implementation{Name: "hearth", Title: "Hearth", Version: s.o.Version}, &mcp.ClientOptions{
		Capabilities:                &mcp.ClientCapabilities{},
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { s.refreshSoon() },
		ResourceListChangedHandler:  func(context.Context, *mcp.ResourceListChangedRequest) {},
		PromptListChangedHandler:    func(context.Context, *mcp.PromptListChangedRequest) {},
		ProgressNotificationHandler: s.gotProgress,
	})
	starting, done := awake.WithTimeoutCause(ctx, s.set.startTime(), fmt.Errorf("it did not answer within %s", s.set.startTime()))
	defer done()
	session, err := client.Connect(starting, t, &mcp.ClientSessionOptions{ProtocolVersion: protocolVersion})
	if err != nil {
		return t.explain(starting, err)
	}
	defer func() {
		s.mu.Lock()
		s.session, s.offer = nil, offer{}
		s.mu.Unlock()
		t.end() // so that nothing that closing waits for is left
		_ = session.Close()
	}()
	if err := s.refresh(starting, session); err != nil {
		return t.explain(starting, err)
	}
	s.ready(session, t)
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	for {
		select {
		case err := <-ended:
			return t.explain(ctx, cmpErr(err, errors.New("it ended")))
		case <-t.isCut: // a service is not ended by that alone
			return t.explain(ctx, errors.New("it was cut off"))
		case <-s.stale:
			if err := s.refreshBounded(ctx, session); err != nil {
				return t.explain(ctx, err)
			}
		case <-s.again:
			return errAgain
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func cmpErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

func (s *server) ready(session *mcp.ClientSession, link *transport) {
	s.mu.Lock()
	s.session, s.link, s.timeouts, s.st.Login = session, link, 0, false
	if i := session.InitializeResult(); i != nil && i.ServerInfo != nil {
		s.st.Name, s.st.Version = clean(i.ServerInfo.Name, 80), clean(i.ServerInfo.Version, 40)
	}
	s.mu.Unlock()
	s.become(Ready, "")
}

// refreshBounded looks at what is offered after the server said that it
// changed. A server that says so all the time is looked at once a pause.
func (s *server) refreshBounded(ctx context.Context, session *mcp.ClientSession) error {
	if err := s.o.Wait(ctx, firstPause); err != nil {
		return err
	}
	select { // what came meanwhile is seen by this look
	case <-s.stale:
	default:
	}
	ctx, cancel := awake.WithTimeoutCause(ctx, s.set.startTime(), errors.New("it did not list its tools in time"))
	defer cancel()
	if err := s.refresh(ctx, session); err != nil {
		return err
	}
	s.become(Ready, "")
	return nil
}

func (s *server) refreshSoon() {
	select {
	case s.stale <- struct{}{}:
	default:
	}
}

// restart starts it anew, unless it is just starting: it would be ready for a
// moment and gone again.
func (s *server) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.st.State == Starting {
		return
	}
	s.st.State = Starting // so that whoever waits for it does not see the past
	select {
	case s.again <- struct{}{}:
	default:
	}
}

func (s *server) become(state State, problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == Starting && s.st.Problem != "" {
		s.st.Restarts++
		problem = s.st.Problem // until it is known to be better
	}
	s.st.State, s.st.Problem, s.st.Since = state, problem, s.o.Now()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *server) watch() (Status, <-chan struct{}) {
	st := s.status()
	s.mu.Lock()
	defer s.mu.Unlock()
	st.State, st.Problem = s.st.State, s.st.Problem
	return st, s.changed
}

func (s *server) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.st
	st.Tools, st.Skipped = []ToolInfo{}, s.offer.skipped
	if s.noise != nil {
		st.Noise = s.noise.seen()
	}
	for _, t := range s.offer.tools {
		st.Tools = append(st.Tools, ToolInfo{Name: t.spec.Name, Own: t.own, Description: t.said, Changed: t.isChanged()})
	}
	return st
}

// offers is what there is to use now.
func (s *server) offers() offer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		return offer{}
	}
	return s.offer
}

// connected returns the live connection, or why there is none.
func (s *server) connected() (*mcp.ClientSession, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != nil {
		return s.session, nil
	}
	if s.st.Problem != "" {
		return nil, fmt.Errorf("%s is not running: %s. `hearth mcp test %s` tries it", s.set.what(), s.st.Problem, s.set.ID)
	}
	return nil, fmt.Errorf("%s is just starting; try again in a moment", s.set.what())
}

// linked is the connection of now, or the last one.
func (s *server) linked() *transport {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link
}

// late counts calls that were not answered; a server with several of them in a
// row hangs and is started anew.
func (s *server) late(yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !yes {
		s.timeouts = 0
		return
	}
	if s.timeouts++; s.timeouts >= maxTimeouts {
		s.timeouts = 0
		select {
		case s.again <- struct{}{}:
		default:
		}
	}
}

// plain is an error in one line that is safe to show.
func plain(err error) string {
	if err == nil {
		return "it ended"
	}
	return clean(strings.TrimPrefix(err.Error(), errGivenUp.Error()+": "), 600)
}

// clean makes words of a server safe to show in one line: no control or
// direction characters, no forged marks, not too long.
func clean(text string, limit int) string {
	text = strings.Join(strings.Fields(untrusted.Roles(printable(untrusted.Clean(text)))), " ")
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}
