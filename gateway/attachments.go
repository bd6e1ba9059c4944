package gateway

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/attachment"
	"github.com/hearth-assistant/hearth/gateway/awake"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/inbound/envelope"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	// inboxFolder of a workspace holds the files that its owner was sent or sent.
	inboxFolder = "inbox"
	// guestFolder of the state folder holds those of everybody else.
	guestFolder = "guests"
	// fetchLimit is how long the files of one message may take, and fetchPause
	// how long other chats wait for them at once.
	fetchLimit = 3 * time.Minute
	fetchPause = time.Second
)

// arrivals are the files of messages that are being fetched.
type arrivals struct {
	g *Gateway

	mu    sync.Mutex
	going map[string]*arrival
}

type arrival struct {
	done  chan struct{}
	files []attachment.File
	err   error
}

// Take puts the files of a message into its turn. Files that take long hold
// back their own conversation only: the gate asks again.
func (v *arrivals) Take(ctx context.Context, a inbound.Accepted, turn *session.Turn) error {
	if len(a.Media) == 0 || v.g.gate.IsCommand(a.CommandBody) {
		return nil
	}
	v.mu.Lock()
	if v.going == nil {
		v.going = map[string]*arrival{}
	}
	at, ok := v.going[a.ID]
	if !ok {
		at = &arrival{done: make(chan struct{})}
		v.going[a.ID] = at
		go v.fetch(a, at)
	}
	v.mu.Unlock()
	wait := time.NewTimer(fetchPause)
	defer wait.Stop()
	select {
	case <-at.done:
	case <-wait.C:
		return fmt.Errorf("%w: the files of the message are being fetched", inbound.ErrBusy)
	case <-ctx.Done():
		return ctx.Err()
	}
	v.mu.Lock()
	delete(v.going, a.ID)
	v.mu.Unlock()
	if at.err != nil {
		return fmt.Errorf("%w: %w", inbound.ErrBusy, at.err)
	}
	v.put(a, at.files, turn)
	return v.tell(ctx, a, at.files)
}

// fetch has a goroutine of its own; it ends with the gateway.
func (v *arrivals) fetch(a inbound.Accepted, at *arrival) {
	defer close(at.done)
	ctx, stop := awake.WithTimeout(v.g.work.Context(), fetchLimit)
	defer stop()
	t, err := v.taker(a)
	if err != nil {
		at.files = attachment.NotTaken(a.Media, err.Error())
		return
	}
	at.files, at.err = t.Take(ctx, a.At, a.Media)
	if errors.Is(at.err, context.DeadlineExceeded) && v.g.work.Context().Err() == nil {
		at.files, at.err = attachment.NotTaken(a.Media, fmt.Sprintf("fetching it took longer than %v", fetchLimit)), nil
	}
}

func (v *arrivals) taker(a inbound.Accepted) (attachment.Taker, error) {
	g := v.g
	f, ok := g.channels.Find(a.Origin.Provider, a.Origin.AccountID).(channel.Fetcher)
	if !ok {
		return attachment.Taker{}, errors.New("files of this network cannot be fetched")
	}
	t := attachment.Taker{
		Fetch: f.Fetch, Limit: g.channels.FileLimit(a.Origin.Provider, a.Origin.AccountID), Advice: g.channels.FileAdvice(a.Origin.Provider),
		Picture: g.pictures().Put, Pause: pauseFor,
		Folder: attachment.Folder{Root: string(g.opts.Dir), Dir: filepath.Join(guestFolder, attachment.Name(a.Origin.Provider+"-"+a.SenderID,
			""))},
	}
	if a.SenderIsOwner {
		dir := g.agents.Named(session.AgentOf(a.SessionKey)).Workspace
		t.Folder = attachment.Folder{Root: dir, Dir: inboxFolder, Shown: inboxFolder}
	}
	return t, nil
}

func pauseFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// put writes what became of the files into the turn.
func (v *arrivals) put(a inbound.Accepted, files []attachment.File, turn *session.Turn) {
	p := a.Prompt
	p.Attached = nil
	for _, f := range files {
		p.Attached = append(p.Attached, f.Words)
		if f.Picture != nil {
			turn.Pictures = append(turn.Pictures, protocol.Block{
				Type: protocol.BlockImage, FileName: f.Name, MimeType: f.Picture.MIME, MediaID: f.Picture.ID, Width: f.Picture.Width,
				Height: f.Picture.Height,
			})
		}
	}
	turn.ForAgent = p.Render()
	if a.CommandBody == "" { // nothing was typed: people see what was sent
		turn.Text = strings.Join(a.Prompt.Attached, "\n")
	}
}

// tell tells the person at once which files were not taken.
func (v *arrivals) tell(ctx context.Context, a inbound.Accepted, files []attachment.File) error {
	var lines []string
	for _, f := range files {
		if f.Problem != "" {
			lines = append(lines, fmt.Sprintf("%s was not taken: %s.", envelope.Label(f.Name), f.Problem))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	run := session.Run{ID: a.ID, SessionKey: a.SessionKey, Route: dispatch.RouteOf(a).String()}
	return v.g.store.Update(ctx, store.Write{Must: true, Then: v.g.deliverer.Wake, Do: func(tx *store.Tx) error {
		return v.g.answers.Tell(tx, run, "files", strings.Join(lines, "\n"))
	}})
}
