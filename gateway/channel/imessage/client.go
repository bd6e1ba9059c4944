package imessage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
	"github.com/hearth-assistant/hearth/internal/random"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// Client is the Messages of a Mac. It implements channel.Channel and channel.Fetcher.
type Client struct {
	account  string
	texts    map[string]string
	maxFile  int64
	openFile func(path string) (fs.File, error)
	launch   channel.Launch
	now      func() time.Time
	log      *slog.Logger
	queue    *intake.Queue

	mu     sync.Mutex
	status channel.Status
	link   *link // nil: there is none
	known  map[string]said
	order  []string // of known, the oldest first
}

// said is a message that was seen, by its guid.
type said struct {
	text string
	ours bool
}

// New makes the client of an account without starting anything.
func New(a channel.Account) (*Client, error) { return open(a, onMac) }

func open(a channel.Account, mac bool) (*Client, error) {
	if err := check(a, mac); err != nil {
		return nil, err
	}
	c := &Client{
		account: a.ID, texts: a.Texts, maxFile: a.MaxFile, openFile: a.OpenFile, launch: a.Launch, now: a.Now, log: a.Logger,
		status: channel.Status{State: channel.Stopped}, known: map[string]said{},
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.queue = intake.New(intake.Options{Durable: a.Durable, Logger: c.log})
	return c, nil
}

// ID is the network's.
func (c *Client) ID() string { return ID }

// Account is the account's name.
func (c *Client) Account() string { return c.account }

// Limits of a message. Files do not travel to another computer.
func (c *Client) Limits() channel.Limits {
	l := limits
	if c.maxFile > 0 {
		l.Files = min(l.Files, c.maxFile)
	}
	if c.texts[keyRemote] != "" {
		l.Files, l.Caption = 0, 0
	}
	return l
}

// Status implements channel.Reporter.
func (c *Client) Status() channel.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

func (c *Client) note(state channel.State, problem string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status.State != state {
		c.status.Since = c.now()
	}
	if state == channel.Receiving {
		c.status.LastPoll = c.now()
	}
	c.status.State, c.status.Problem = state, problem
}

// How long imsg is left alone after it ended, twice as long each time, and from the
// beginning after one that lived. lookEvery is how often it is asked whether it is there.
const (
	leastRest = time.Second
	mostRest  = time.Minute
	lived     = time.Minute
	lookEvery = time.Minute
)

// overlap is how many messages before the newest that was taken are asked for again.
const overlap = 200

// Run hands over what is written until ctx ends. It starts imsg again by itself.
func (c *Client) Run(ctx context.Context, inbox channel.Inbox) error {
	if c.launch == nil {
		return errors.New("no program can be started here, and iMessage needs imsg")
	}
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel() // before the wait
	c.note(channel.Starting, "")
	defer c.note(channel.Stopped, "")
	if err := c.queue.Remember(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	work.Go(func() { c.queue.Hand(ctx, inbox) })
	for rest := leastRest; ; {
		began := c.now()
		err := c.live(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if c.now().Sub(began) > lived {
			rest = leastRest
		}
		wait := rest/2 + time.Duration(random.Float()*float64(rest/2))
		c.note(channel.Waiting, fmt.Sprintf("%v. It is tried again in %v.", err, wait.Round(time.Second/10)))
		if sleep.For(ctx, wait) != nil {
			return nil
		}
		rest = min(2*rest, mostRest)
	}
}

// live starts imsg and follows it until one of both ends.
func (c *Client) live(ctx context.Context) error {
	program := c.texts[keyProgram]
	if rest, ok := strings.CutPrefix(program, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return fmt.Errorf("find the program: %w", err)
		}
		program = filepath.Join(home, rest)
	}
	argv := []string{program, "rpc"}
	if db := c.texts[keyDatabase]; db != "" {
		argv = append(argv, "--db", db)
	}
	p, err := c.launch(ctx, ID, c.account, argv)
	if err != nil {
		return fmt.Errorf("imsg could not be started: %w", err)
	}
	broken := make(chan error, 1)
	l := newLink(p, func(method string, params json.RawMessage) {
		if err := c.told(method, params); err != nil {
			select {
			case broken <- err:
			default:
			}
		}
	})
	defer func() { // and the program has ended
		c.use(nil)
		_ = p.CloseInput()
		p.Stop()
		<-l.over
		<-p.Done()
	}()
	if err := c.begin(ctx, l); err != nil {
		return ended(err, p)
	}
	c.use(l)
	c.note(channel.Receiving, "")
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-broken:
			return err
		case <-l.over:
			return ended(errEnded, p)
		case <-look.C:
			if _, err := l.ask(ctx, "chats.list", map[string]any{"limit": 1}, nil, askTime); err != nil {
				return ended(err, p)
			}
			c.note(channel.Receiving, "")
		}
	}
}

// use says which imsg messages go to.
func (c *Client) use(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.link = l
}

// markOf is the mark of a row: also that of a Mac without messages is none of nothing.
func markOf(row int64) int64 { return row + 1 }

// begin looks whether imsg can read Messages, and asks for what was written since the
// last message that was taken; of an account that is new, for what comes from now on.
func (c *Client) begin(ctx context.Context, l *link) error {
	var list struct {
		Chats []struct {
			ID int64 `json:"id"`
		} `json:"chats"`
	}
	if _, err := l.ask(ctx, "chats.list", map[string]any{"limit": 1}, &list, askTime); err != nil {
		return err
	}
	mark, ok := c.queue.Since(overlap)
	if !ok && len(list.Chats) > 0 {
		var h struct {
			Messages []struct {
				ID int64 `json:"id"`
			} `json:"messages"`
		}
		if _, err := l.ask(ctx, "messages.history", map[string]any{"chat_id": list.Chats[0].ID, "limit": 1}, &h, askTime); err != nil {
			return err
		}
		for _, m := range h.Messages {
			mark = max(mark, m.ID)
		}
	}
	if !ok {
		mark = markOf(mark)
		if err := c.queue.Begin(ctx, mark); err != nil {
			return fmt.Errorf("keep where the account begins: %w", err)
		}
	}
	params := map[string]any{"since_rowid": mark - markOf(0), "attachments": c.texts[keyFiles] == "true"}
	_, err := l.ask(ctx, "watch.subscribe", params, nil, askTime)
	return err
}

// ended says why imsg is not there, with its last words and what can be done.
func ended(err error, p channel.Process) error {
	words := ""
	if errors.Is(err, errEnded) {
		p.Stop()
		<-p.Done()
		words = p.Words()
	}
	text := err.Error()
	if words != "" {
		text += ": " + words
	}
	lower := strings.ToLower(text)
	switch {
	case strings.Contains(lower, "permission denied (publickey"):
		text += ". ssh could not log in at the Mac: try the script at cliPath in a terminal first"
	case strings.Contains(lower, "permission") || strings.Contains(lower, "authorization denied") || strings.Contains(lower, "unable to open"):
		text += ". Give Hearth (or your terminal) and imsg Full Disk Access in the Mac's System Settings, Privacy & Security"
	case strings.Contains(lower, "unknown command") || strings.Contains(lower, "method not found"):
		text += ". This imsg is too old: brew upgrade imsg"
	}
	return errors.New(text)
}
