// Package imessagetest is a strict imsg for tests: a Mac's Messages in memory, spoken to
// by JSON-RPC lines over a program's input and output, which refuses what imsg refuses.
package imessagetest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Fault is what happens to the next send.
type Fault struct {
	Code      int    // of the error, 0: none
	Words     string // its data
	EndBefore bool   // imsg ends instead of sending
	EndAfter  bool   // it ends before it answers
}

// Sent is a message that people see.
type Sent struct {
	ID, To, Text string
	Files        []File
}

// File is one that was sent or is attached.
type File struct {
	Name, MIME string
	Data       []byte
}

// Message is one as imsg tells of it.
type Message map[string]any

// Mac is a computer with Messages.
type Mac struct {
	t    testing.TB
	home string

	mu      sync.Mutex
	rows    []Message
	sent    []Sent
	faults  []Fault
	old     bool // answers of a send name no message
	blocked bool // Messages' database cannot be read
	starts  [][]string
	procs   []*proc
}

// New is a Mac without messages.
func New(t testing.TB) *Mac {
	t.Helper()
	return &Mac{t: t, home: t.TempDir()}
}

func (m *Mac) with(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// Fail says what happens to the next sends, Old that its answers name no messages, and
// Block whether the database may be read.
func (m *Mac) Fail(f ...Fault)    { m.with(func() { m.faults = append(m.faults, f...) }) }
func (m *Mac) Old()               { m.with(func() { m.old = true }) }
func (m *Mac) Block(blocked bool) { m.with(func() { m.blocked = blocked }) }

// Sent are the messages that people see, and Starts with what imsg was started.
func (m *Mac) Sent() (out []Sent)       { m.with(func() { out = slices.Clone(m.sent) }); return out }
func (m *Mac) Starts() (out [][]string) { m.with(func() { out = slices.Clone(m.starts) }); return out }

// Attach puts a file into Messages' folder, and is how imsg tells of it.
func (m *Mac) Attach(f File) map[string]any {
	m.t.Helper()
	dir := filepath.Join(m.home, "Library", "Messages", "Attachments", "ab")
	at := filepath.Join(dir, f.Name)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.WriteFile(at, f.Data, 0o600)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return map[string]any{"filename": at, "transfer_name": f.Name, "uti": "public.data", "mime_type": f.MIME, "total_bytes": len(f.Data),
		"is_sticker": false, "original_path": at, "missing": false}
}

// Say is somebody writing; more are other keys of the message.
func (m *Mac) Say(guid, sender, text string, more Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	msg := Message{"id": len(m.rows) + 1, "chat_id": 7, "guid": guid, "sender": sender, "is_from_me": false, "text": text,
		"created_at": time.Now().UTC().Format(time.RFC3339Nano), "attachments": []any{}, "reactions": []any{}, "chat_identifier": sender,
		"chat_guid": "iMessage;-;" + sender, "chat_name": "", "participants": []string{sender}, "is_group": false}
	for k, v := range more {
		msg[k] = v
	}
	m.rows = append(m.rows, msg)
	for _, p := range m.procs {
		p.tell(msg)
	}
}

// End ends every imsg that runs.
func (m *Mac) End() {
	var list []*proc
	m.with(func() { list = slices.Clone(m.procs) })
	for _, p := range list {
		p.Stop()
	}
}

// Raw is a line that imsg says.
func (m *Mac) Raw(line string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.procs {
		p.say([]byte(line))
	}
}

// Launch starts an imsg. It implements channel.Launch.
func (m *Mac) Launch(_ context.Context, _, _ string, argv []string) (channel.Process, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.starts = append(m.starts, argv)
	if len(argv) < 2 || argv[1] != "rpc" || len(argv) > 2 && (len(argv) != 4 || argv[2] != "--db") {
		return nil, fmt.Errorf("imsg is started with %q", argv)
	}
	p := &proc{mac: m, folder: m.t.TempDir(), done: make(chan struct{}), wake: make(chan struct{}, 1)}
	p.out, p.outW = io.Pipe()
	p.in, p.inW = io.Pipe()
	m.procs = append(m.procs, p)
	go p.serve()
	go p.write()
	return p, nil
}

// proc is a running imsg.
type proc struct {
	mac    *Mac
	folder string
	in     *io.PipeReader
	inW    *io.PipeWriter
	out    *io.PipeReader
	outW   *io.PipeWriter
	done   chan struct{}
	once   sync.Once

	mu      sync.Mutex
	lines   [][]byte
	wake    chan struct{}
	since   int // rows up to it are not told of
	watches int // 0: none
	files   bool
}

func (p *proc) Write(b []byte) error { _, err := p.inW.Write(b); return err }

// CloseInput ends it, as imsg ends then.
func (p *proc) CloseInput() error     { return p.inW.Close() }
func (p *proc) Output() io.ReadCloser { return p.out }
func (p *proc) Done() <-chan struct{} { return p.done }
func (p *proc) Folder() string        { return p.folder }
func (p *proc) Words() string         { return "" }

// Stop ends it.
func (p *proc) Stop() {
	p.once.Do(func() {
		_ = p.in.CloseWithError(errors.New("it has ended"))
		_ = p.outW.Close()
		close(p.done)
	})
}

func (p *proc) say(line []byte) {
	p.mu.Lock()
	p.lines = append(p.lines, line)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// write says what there is to say, as long as somebody reads.
func (p *proc) write() {
	for {
		p.mu.Lock()
		lines := p.lines
		p.lines = nil
		p.mu.Unlock()
		for _, l := range lines {
			if _, err := p.outW.Write(append(l, '\n')); err != nil {
				return
			}
		}
		select {
		case <-p.wake:
		case <-p.done:
			return
		}
	}
}

// tell tells a watcher of a message; the Mac is locked.
func (p *proc) tell(msg Message) {
	p.mu.Lock()
	watches, since, files := p.watches, p.since, p.files
	p.mu.Unlock()
	if id, _ := msg["id"].(int); watches == 0 || id <= since {
		return
	}
	shown := Message{}
	for k, v := range msg {
		shown[k] = v
	}
	if !files {
		shown["attachments"] = []any{}
	}
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": "message",
		"params": map[string]any{"subscription": watches, "message": shown}})
	if err == nil {
		p.say(line)
	}
}

func (p *proc) serve() {
	defer p.Stop()
	lines := bufio.NewScanner(p.in)
	lines.Buffer(make([]byte, 64<<10), 16<<20)
	for lines.Scan() {
		p.handle(lines.Bytes())
	}
}
