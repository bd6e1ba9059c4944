package imessage

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

const (
	// longestLine of what imsg says.
	longestLine = 4 << 20
	askTime     = 30 * time.Second
	// sendTime: AppleScript waits for Messages up to two minutes.
	sendTime = 150 * time.Second
)

// link is a running imsg.
type link struct {
	p      channel.Process
	notify func(method string, params json.RawMessage)

	mu      sync.Mutex
	next    int
	waiting map[string]chan reply
	over    chan struct{} // closed when it says nothing any more
}

type reply struct {
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

// rpcError is what imsg refused, and why.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *rpcError) Error() string {
	words := e.Message
	var more string
	if json.Unmarshal(e.Data, &more) == nil && more != "" {
		words += ": " + more
	}
	return "imsg says: " + webcall.Words(words, "nothing")
}

// errEnded: imsg ended before it answered.
var errEnded = errors.New("imsg ended")

// newLink reads what a program says until it ends; notify is told what nobody asked for.
func newLink(p channel.Process, notify func(method string, params json.RawMessage)) *link {
	l := &link{p: p, notify: notify, waiting: map[string]chan reply{}, over: make(chan struct{})}
	go l.read()
	return l
}

func (l *link) read() {
	defer close(l.over)
	out := l.p.Output()
	defer out.Close()
	lines := bufio.NewScanner(out)
	lines.Buffer(make([]byte, 64<<10), longestLine)
	for lines.Scan() {
		l.line(lines.Bytes())
	}
	l.p.Stop() // what it says cannot be followed any more
}

// line takes one line; what is none of JSON-RPC's is passed over: ssh has its own words.
func (l *link) line(b []byte) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		reply
	}
	if json.Unmarshal(b, &m) != nil {
		return
	}
	if m.Method != "" {
		l.notify(m.Method, m.Params)
		return
	}
	id := strings.Trim(string(m.ID), `"`)
	l.mu.Lock()
	c := l.waiting[id]
	delete(l.waiting, id)
	l.mu.Unlock()
	if c != nil {
		c <- m.reply
	}
}

// ask makes a request. sent says that imsg may have got it, when err is not its answer.
func (l *link) ask(ctx context.Context, method string, params map[string]any, result any, within time.Duration) (sent bool, err error) {
	ctx, stop := context.WithTimeout(ctx, within)
	defer stop()
	c := make(chan reply, 1)
	l.mu.Lock()
	l.next++
	id := strconv.Itoa(l.next)
	l.waiting[id] = c
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.waiting, id)
		l.mu.Unlock()
	}()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return false, fmt.Errorf("write a request: %w", err)
	}
	select {
	case <-l.over:
		return false, errEnded
	case <-ctx.Done():
		return false, ctx.Err()
	default:
	}
	if err := l.p.Write(append(body, '\n')); err != nil {
		return true, fmt.Errorf("%w: %w", errEnded, err)
	}
	select {
	case r := <-c:
		if r.Error != nil {
			return true, r.Error
		}
		if result == nil {
			return true, nil
		}
		if err := json.Unmarshal(r.Result, result); err != nil {
			return true, fmt.Errorf("imsg's answer to %s could not be read", method)
		}
		return true, nil
	case <-l.over:
		return true, errEnded
	case <-ctx.Done():
		return true, fmt.Errorf("imsg did not answer %s within %v: %w", method, within, ctx.Err())
	}
}
