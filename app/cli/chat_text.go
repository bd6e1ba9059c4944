package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/charset"
)

// pipePatience is how long a message of the command line waits for what may come from
// standard input. Programs that start hearth often leave a pipe open and write nothing.
const pipePatience = 3 * time.Second

// chatText is the message: of the command line, of standard input, or of both, the
// command line's words first.
func chatText(ctx context.Context, a *app, args []string) (string, error) {
	words := strings.Join(args, " ")
	if len(args) > 0 && words != "-" {
		if !a.InPiped {
			return messageText(words)
		}
		piped, err := a.piped(ctx, pipePatience)
		if err != nil {
			return "", err
		}
		if strings.TrimSpace(piped) != "" {
			words += "\n\n" + piped
		}
		return messageText(words)
	}
	text, err := a.piped(ctx, 0)
	if err != nil {
		return "", err
	}
	return messageText(text)
}

// piped is all of standard input as text. With a patience it is nothing when nothing
// has come by then.
func (a *app) piped(ctx context.Context, patience time.Duration) (string, error) {
	type all struct {
		b   []byte
		err error
	}
	began, done := make(chan struct{}), make(chan all, 1)
	go func() { // not waited for: a read of an open pipe cannot be stopped
		first := make([]byte, 4096)
		n, err := io.ReadAtLeast(a.In, first, 1)
		close(began)
		b := first[:n]
		if err == nil {
			var rest []byte
			rest, err = io.ReadAll(io.LimitReader(a.In, int64(protocol.MaxMessageText+1-n)))
			b = append(b, rest...)
		} else if err == io.EOF {
			err = nil
		}
		done <- all{b, err}
	}()
	var late <-chan time.Time
	if patience > 0 {
		late = time.After(patience)
	}
	select {
	case <-began:
	case <-late:
		if !a.asJSON {
			_ = a.errs().print(dim("Nothing came from standard input, so the message goes without it; with < /dev/null it does not wait."), "\n")
		}
		return "", nil
	case <-ctx.Done():
		return "", errInterrupted
	}
	select {
	case in := <-done:
		if in.err != nil {
			return "", fmt.Errorf("read the message from standard input: %w", in.err)
		}
		if len(in.b) > protocol.MaxMessageText {
			return "", errLong
		}
		text, _, ok := charset.Decode(in.b)
		if !ok && utf8.Valid(in.b) && !bytes.Contains(in.b, []byte{0}) { // with more control characters than a file has
			text, ok = string(in.b), true
		}
		if !ok {
			return "", usage("what comes from standard input is no text; send it as a file with --file")
		}
		return text, nil
	case <-ctx.Done():
		return "", errInterrupted
	}
}

var errLong = usage("the message is larger than %d MiB; send it in parts, or as a file with --file", protocol.MaxMessageText>>20)

// messageText is a message as it is sent.
func messageText(text string) (string, error) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	switch {
	case text == "":
		return "", usage("there is no message; write it behind `hearth chat` or pipe it in")
	case len(text) > protocol.MaxMessageText:
		return "", errLong
	}
	return text, nil
}
