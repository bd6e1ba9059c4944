package tui

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Options is what Run needs.
type Options struct {
	In      io.Reader
	Out     io.Writer
	Environ []string
	Colour  bool
	Theme   string // auto, light, dark, contrast, none; "" = auto
	Session string // "" = the main one
	// Dial makes a connection; it reads afresh where the gateway is.
	Dial func(context.Context, client.Options) (*client.Client, error)
}

const (
	// frame is how often events are shown: more often no eye follows, and each
	// drawing costs.
	frame = 33 * time.Millisecond
	// patience of one attempt to come back; the next one follows at once.
	patience = time.Hour
	// refusedPause is between attempts when the gateway refuses this program.
	refusedPause = 5 * time.Second
)

// Run is the chat, until the person leaves. It returns the messages that were
// not handed over.
func Run(ctx context.Context, o Options) (unsent []string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n := &net{events: make(chan protocol.Event, 1024)}
	n.link = &client.Link{
		Patience: patience,
		Dial: func(ctx context.Context) (*client.Client, error) {
			return o.Dial(ctx, client.Options{
				Scopes:  []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeApprovals},
				Caps:    []string{protocol.CapSlimDeltas, protocol.CapToolEvents},
				OnEvent: func(e protocol.Event) { n.take(ctx, e) },
			})
		},
	}
	defer n.link.Close()
	first, err := n.link.Client(ctx)
	if err != nil {
		return nil, err
	}
	theme := o.Theme
	if !o.Colour {
		theme = "none"
	}
	m := newModel(ctx, n, o.Session, theme, time.Now, rand.Text)
	profile := colorprofile.ANSI
	if !o.Colour {
		profile = colorprofile.ASCII
	}
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out),
		tea.WithEnvironment(o.Environ), tea.WithColorProfile(profile), tea.WithFPS(30), tea.WithoutSignalHandler())
	var wg sync.WaitGroup
	wg.Go(func() { n.keep(ctx, first, p.Send) })
	wg.Go(func() { n.pump(ctx, p.Send) })
	_, err = p.Run()
	cancel()
	wg.Wait()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		err = context.Canceled
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		err = fmt.Errorf("draw on the terminal: %w", err)
	}
	return m.Unsent(), err
}

// net is the connection: kept up, and asked by the model.
type net struct {
	link   *client.Link
	events chan protocol.Event

	mu  sync.Mutex
	cur *client.Client // nil while there is none
}

// Call asks on the live connection; it does not wait for one.
func (n *net) Call(ctx context.Context, method string, params, result any) error {
	n.mu.Lock()
	c := n.cur
	n.mu.Unlock()
	if c == nil {
		return errOffline
	}
	return c.Call(ctx, method, params, result)
}

func (n *net) set(c *client.Client) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cur = c
}

// keep makes the connection again whenever it is lost.
func (n *net) keep(ctx context.Context, c *client.Client, tell func(tea.Msg)) {
	for {
		n.set(c)
		tell(connectedMsg{c.Hello()})
		select {
		case <-c.Done():
		case <-ctx.Done():
			return
		}
		n.set(nil)
		tell(lostMsg{c.Err()})
		for {
			var err error
			if c, err = n.link.Client(ctx); err == nil {
				break
			}
			if ctx.Err() != nil {
				return
			}
			tell(lostMsg{err})
			select {
			case <-time.After(refusedPause):
			case <-ctx.Done():
				return
			}
		}
	}
}

// take is called by the connection for each event; a slow screen slows it down.
func (n *net) take(ctx context.Context, e protocol.Event) {
	select {
	case n.events <- e:
	case <-ctx.Done():
	}
}

// pump shows events a frame at a time.
func (n *net) pump(ctx context.Context, tell func(tea.Msg)) {
	tick := time.NewTicker(frame)
	defer tick.Stop()
	for {
		var batch eventsMsg
		select {
		case e := <-n.events:
			batch = append(batch, e)
		case <-ctx.Done():
			return
		}
		for more := true; more; {
			select {
			case e := <-n.events:
				batch = append(batch, e)
			default:
				more = false
			}
		}
		tell(batch)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
