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
	"github.com/hearth-assistant/hearth/gateway/document"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/inbound/envelope"
	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/speech"
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
	// listenLimit is how long it may take to write down what was said; each way to do
	// that has a limit of its own in the settings.
	listenLimit = 30 * time.Minute
	fetchPause  = time.Second
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

// Speech writes down what is said in sounds.
type Speech interface {
	// Write's error is for the owner; speech.ErrOff when nobody is to do that.
	Write(ctx context.Context, s speech.Sound) (speech.Words, error)
	// Echo is what was heard as its sender is shown it, "" when that is not wanted.
	Echo(text string) string
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
	Speech    Speech
	Reader    *document.Reader // of their text
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
	if at.err == nil {
		at.err = f.listen(work, a, t, at.files)
	}
}

// listen has voice notes and other sounds of a message written down.
func (f *Files) listen(work context.Context, a inbound.Accepted, t attachment.Taker, files []attachment.File) error {
	ctx, stop := awake.WithTimeoutCause(work, listenLimit, errors.New("it took too long"))
	defer stop()
	one := func(ctx context.Context, m channel.Media, data []byte) (attachment.Heard, error) {
		got, err := f.o.Speech.Write(ctx, speech.Sound{
			Name: attachment.Name(m.Name, m.MIME), MIME: m.MIME, Data: data, Session: a.SessionKey, Agent: session.AgentOf(a.SessionKey),
		})
		switch {
		case errors.Is(err, speech.ErrOff):
			return attachment.Heard{}, attachment.ErrDeaf
		case err != nil && work.Err() == nil && ctx.Err() != nil:
			return attachment.Heard{}, fmt.Errorf("it took longer than %v", listenLimit)
		case err != nil && work.Err() == nil && !private(a): // nor is the assistant, which answers them
			return attachment.Heard{}, errors.New("that did not work here")
		}
		return attachment.Heard{Text: got.Text, By: got.By, Cut: got.Cut}, err
	}
	err := t.Listen(ctx, files, one, len(a.Prompt.Forwarded) == 0)
	if err != nil && work.Err() == nil {
		return nil // what was not reached is kept, and its words say that nobody listened
	}
	return err
}

func (f *Files) taker(a inbound.Accepted) (attachment.Taker, error) {
	from, ok := channel.AsFetcher(f.o.Networks.Find(a.Origin.Provider, a.Origin.AccountID))
	if !ok {
		return attachment.Taker{}, errors.New("files of this network cannot be fetched")
	}
	t := attachment.Taker{
		Fetch: from.Fetch, Limit: f.o.Networks.FileLimit(a.Origin.Provider, a.Origin.AccountID),
		Advice: f.o.Networks.FileAdvice(a.Origin.Provider), Picture: f.o.Pictures.Put, Read: f.o.Reader.Read, Pause: sleep.For,
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
	shown(files, turn, a.CommandBody != "")
}

// spokenMark stands before what was said and not typed. It also keeps the words from
// being a command: a program wrote them down, and may have misheard.
const spokenMark = "🎤 "

// shown writes what people see in the conversation: what was said, and the files where
// nothing was typed; and it tells those who listen what was said.
func shown(files []attachment.File, turn *session.Turn, typed bool) {
	var lines []string
	if typed {
		lines = append(lines, turn.Text)
	}
	for _, file := range files {
		switch {
		case file.Spoken != "":
			lines = append(lines, spokenMark+file.Spoken)
			turn.Spoken = append(turn.Spoken, session.Spoken{Text: file.Spoken, Path: file.Path, MIME: file.MIME})
		case typed:
		case file.Voice && file.Problem == "": // what the assistant is told of it is not for people
			lines = append(lines, strings.TrimSpace(spokenMark+envelope.Attached(file.MIME, file.Name, file.Size)+" "+file.Path))
		default:
			lines = append(lines, envelope.Attached(file.MIME, file.Name, file.Size))
		}
	}
	turn.Text = strings.Join(lines, "\n")
}

// tell tells the person at once which files were not taken, which sounds were not
// written down, and what was heard where they want to see that.
func (f *Files) tell(ctx context.Context, a inbound.Accepted, files []attachment.File) error {
	var lines []string
	for _, file := range files {
		if file.Problem != "" {
			lines = append(lines, fmt.Sprintf("%s was not taken: %s.", envelope.Label(file.Name), file.Problem))
		}
		if file.Unheard != "" {
			lines = append(lines, notHeard(a, file))
		}
		if file.Spoken != "" {
			if shown := f.o.Speech.Echo(file.Spoken); shown != "" {
				lines = append(lines, shown)
			}
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

// notHeard tells why a voice note was not written down. Only the owner, and nobody
// beside them, is told what is wrong with their services and programs.
func notHeard(a inbound.Accepted, file attachment.File) string {
	what := "The voice note"
	if !file.Voice {
		what = envelope.Label(file.Name)
	}
	if !private(a) {
		return what + " could not be written down. Please write what you said."
	}
	kept := ""
	if file.Path != "" {
		kept = " It is kept as " + file.Path + "."
	}
	return what + " could not be written down: " + strings.TrimSuffix(file.Unheard, ".") + "." + kept
}

// private reports whether nobody but the owner reads what is answered.
func private(a inbound.Accepted) bool { return a.SenderIsOwner && a.ChatType == channel.Direct }
