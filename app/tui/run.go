package tui

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/hearth-assistant/hearth/app/tui/picture"
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
	Images  picture.Means
	Tmux    picture.Outer // the terminal that tmux is shown in
	// Said is what went wrong in the language of the person; nil = as it is.
	Said func(text string) string
	// Open shows a file in the program that the system has for it; nil = none does.
	Open func(path string) error
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
	if o.Said != nil {
		m.said = o.Said
	}
	around := picture.Look(o.Environ)
	around.NoColour, around.Outer = !o.Colour, o.Tmux
	around.TrueColour = o.Colour && colorprofile.Detect(o.Out, o.Environ) == colorprofile.TrueColor
	canvas, out := newCanvas(o.Out)
	m.pics = newAlbum(cmp.Or(o.Images, picture.Auto), around, canvas, firstNumber())
	if f, ok := o.Out.(*os.File); ok {
		m.pics.window = func() picture.Size { return windowPixels(f) }
	}
	if o.Open != nil {
		beside := &aside{open: o.Open}
		m.viewer = beside
		defer func() { err = errors.Join(err, beside.clear()) }()
	}
	// The looks of the themes are the terminal's own sixteen colours, which are drawn
	// as they are; only pictures have others.
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(out),
		tea.WithEnvironment(o.Environ), tea.WithColorProfile(colorprofile.TrueColor), tea.WithFPS(30), tea.WithoutSignalHandler(),
		tea.WithFilter(canvas.filter))
	var wg sync.WaitGroup
	wg.Go(func() { n.keep(ctx, first, p.Send) })
	wg.Go(func() { n.pump(ctx, p.Send) })
	_, err = p.Run()
	cancel()
	wg.Wait()
	if gone := m.pics.leave(); gone != "" { // the terminal would keep them
		_, _ = io.WriteString(o.Out, gone)
	}
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		err = context.Canceled
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		err = fmt.Errorf("draw on the terminal: %w", err)
	}
	return m.Unsent(), err
}

// firstNumber is where the numbers of pictures begin, so that two chats in windows
// of one terminal do not take each other's.
func firstNumber() int {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails
	return int(b[0])<<16 | int(b[1])<<8 | int(b[2])
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
