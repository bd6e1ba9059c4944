package client

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

// quietTime is how long events may be silent: signal-cli says something every 15
// seconds unless it is told otherwise.
const quietTime = 2 * time.Minute

// Bounds of an event.
const (
	longestLine  = 2 << 20
	longestEvent = 200 // of its name
)

// nothingYet is said where no event was taken: of one that it does not know signal-cli
// sends all that it has kept since it was first connected to.
const nothingYet = "none"

// live is one connection that events come by. Its error says why it ended.
func (c *Client) live(ctx context.Context) error {
	if err := c.login(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/api/v1/events?"+url.Values{"account": {c.number}}.Encode(), nil)
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	req.Header.Set("Accept", "text/event-stream")
	c.mu.Lock()
	req.Header.Set("Last-Event-ID", cmp.Or(c.at, nothingYet))
	c.mu.Unlock()
	resp, err := webcall.Open(ctx, c.http, req)
	if err != nil {
		return c.broken(err, call{method: "its events"})
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusBadRequest:
		return fmt.Errorf("%w: signal-cli has no account %s: `signal-cli listAccounts` shows those it has", channel.ErrAuth, c.number)
	case resp.StatusCode != http.StatusOK:
		return c.strange(webcall.Answer{Status: resp.StatusCode}, call{method: "its events"})
	}
	c.note(channel.Receiving, "")
	quiet := time.AfterFunc(quietTime, cancel)
	defer quiet.Stop()
	err = readEvents(resp.Body, func() { quiet.Reset(quietTime) }, func(e event) error {
		c.note(channel.Receiving, "")
		return c.happened(ctx, e)
	})
	if err == nil {
		err = errors.New("signal-cli has ended the connection")
	}
	return err
}

// event is one as it came: its name, and what it says.
type event struct{ id, data string }

// readEvents reads the events of a stream. A line that is longer than anybody writes
// takes its event away, and no more. heard is called for every line.
func readEvents(from io.Reader, heard func(), take func(event) error) error {
	in := bufio.NewReaderSize(from, 64<<10)
	var e event
	whole := true
	for {
		line, long, err := readLine(in)
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("the connection to signal-cli broke: %w", err)
		}
		heard()
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case long:
			whole = false
		case line == "":
			if e.data != "" && whole {
				if err := take(e); err != nil {
					return err
				}
			}
			e, whole = event{}, true
		case name == "id" && len(value) <= longestEvent:
			e.id = value
		case name == "data" && len(e.data)+len(value) < longestLine:
			e.data += value
		case name == "data":
			whole = false
		}
	}
}

// readLine is the next line without its end; long: it is too long, and was left out.
func readLine(in *bufio.Reader) (line string, long bool, err error) {
	var all []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(all)+len(part) > longestLine {
			long, all = true, nil
		} else {
			all = append(all, part...)
		}
		switch {
		case err == nil && long:
			return "", true, nil
		case err == nil:
			return strings.TrimRight(string(all), "\r\n"), false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", false, err
		}
	}
}
