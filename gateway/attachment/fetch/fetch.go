// Package fetch brings the files of messages from the networks into the turns of
// those messages: the owner's into the workspace, those of everybody else apart.
// What is kept of a file, and what a model is told of it, is package attachment's.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/attachment"
	"github.com/hearth-assistant/hearth/gateway/awake"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/inbound/envelope"
	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/sleep"
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

// Networks are the messaging networks that are connected.
type Networks interface {
	// Find is the channel of a network and account, nil for none.
	Find(network, account string) channel.Channel
	// FileLimit is the largest file that an account takes, in bytes, and FileAdvice
	// where that is set.
	FileLimit(network, account string) int64
	FileAdvice(network string) string
}

// Notices sends words that are not the assistant's where a run's answer goes.
type Notices interface {
	Tell(tx *store.Tx, run session.Run, id, text string) error
}

// Options are the parts that Files need; all of them.
type Options struct {
	Dir       statedir.Dir
	Store     *store.DB
	Networks  Networks
	Agents    *agents.Directory
	Pictures  *media.Store
	Notices   Notices
	Deliverer *outbound.Deliverer
	Work      *background.Group
}

// Files are those of messages that are being fetched. It implements
// dispatch.Files; its methods may be called from several goroutines.
type Files struct {
	o Options

	mu    sync.Mutex
	going map[string]*arrival // by message
}

// New returns a fetcher that has nothing to do.
func New(o Options) *Files { return &Files{o: o, going: map[string]*arrival{}} }

type arrival struct {
	done  chan struct{}
	files []attachment.File
	err   error
}

// Take puts the files of a message into its turn. Files that take long hold
// back their own conversation only: the gate asks again.
func (f *Files) Take(ctx context.Context, a inbound.Accepted, turn *session.Turn) error {
	if len(a.Media) == 0 {
		return nil
	}
	f.mu.Lock()
	at, ok := f.going[a.ID]
	if !ok {
		at = &arrival{done: make(chan struct{})}
		f.going[a.ID] = at
		f.o.Work.Go(func(ctx context.Context) { f.fetch(ctx, a, at) })
	}
	f.mu.Unlock()
	wait := time.NewTimer(fetchPause)
	defer wait.Stop()
	select {
	case <-at.done:
	case <-wait.C:
		return fmt.Errorf("%w: the files of the message are being fetched", inbound.ErrBusy)
	case <-ctx.Done():
		return ctx.Err()
	}
	f.mu.Lock()
	delete(f.going, a.ID)
	f.mu.Unlock()
	if at.err != nil {
		return fmt.Errorf("%w: %w", inbound.ErrBusy, at.err)
	}
	f.put(a, at.files, turn)
	return f.tell(ctx, a, at.files)
}

// fetch fetches the files of one message; work ends with the gateway.
func (f *Files) fetch(work context.Context, a inbound.Accepted, at *arrival) {
	defer close(at.done)
	ctx, stop := awake.WithTimeout(work, fetchLimit)
	defer stop()
	t, err := f.taker(a)
	if err != nil {
		at.files = attachment.NotTaken(a.Media, err.Error())
		return
	}
	at.files, at.err = t.Take(ctx, a.At, a.Media)
	if errors.Is(at.err, context.DeadlineExceeded) && work.Err() == nil {
		at.files, at.err = attachment.NotTaken(a.Media, fmt.Sprintf("fetching it took longer than %v", fetchLimit)), nil
	}
}

func (f *Files) taker(a inbound.Accepted) (attachment.Taker, error) {
	from, ok := channel.AsFetcher(f.o.Networks.Find(a.Origin.Provider, a.Origin.AccountID))
	if !ok {
		return attachment.Taker{}, errors.New("files of this network cannot be fetched")
	}
	t := attachment.Taker{
		Fetch: from.Fetch, Limit: f.o.Networks.FileLimit(a.Origin.Provider, a.Origin.AccountID),
		Advice: f.o.Networks.FileAdvice(a.Origin.Provider), Picture: f.o.Pictures.Put, Pause: sleep.For,
		Folder: attachment.Folder{
			Root: string(f.o.Dir), Dir: filepath.Join(guestFolder, attachment.Name(a.Origin.Provider+"-"+a.SenderID, "")),
		},
	}
	if a.SenderIsOwner {
		dir := f.o.Agents.Named(session.AgentOf(a.SessionKey)).Workspace
		t.Folder = attachment.Folder{Root: dir, Dir: inboxFolder, Shown: inboxFolder}
	}
	return t, nil
}

// put writes what became of the files into the turn.
func (f *Files) put(a inbound.Accepted, files []attachment.File, turn *session.Turn) {
	p := a.Prompt
	p.Attached = nil
	for _, file := range files {
		p.Attached = append(p.Attached, file.Words)
		if file.Picture != nil {
			turn.Pictures = append(turn.Pictures, protocol.Block{
				Type: protocol.BlockImage, FileName: file.Name, MimeType: file.Picture.MIME, MediaID: file.Picture.ID,
				Width: file.Picture.Width, Height: file.Picture.Height,
			})
		}
	}
	turn.ForAgent = p.Render()
	if a.CommandBody == "" { // nothing was typed: people see what was sent
		turn.Text = strings.Join(a.Prompt.Attached, "\n")
	}
}

// tell tells the person at once which files were not taken.
func (f *Files) tell(ctx context.Context, a inbound.Accepted, files []attachment.File) error {
	var lines []string
	for _, file := range files {
		if file.Problem != "" {
			lines = append(lines, fmt.Sprintf("%s was not taken: %s.", envelope.Label(file.Name), file.Problem))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	run := session.Run{ID: a.ID, SessionKey: a.SessionKey, Route: dispatch.RouteOf(a).String()}
	return f.o.Store.Update(ctx, store.Write{Must: true, Then: f.o.Deliverer.Wake, Do: func(tx *store.Tx) error {
		return f.o.Notices.Tell(tx, run, "files", strings.Join(lines, "\n"))
	}})
}
