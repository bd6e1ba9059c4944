package cli

import (
	"bufio"
	"bytes"
	"errors"
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
func chatText(a *app, args []string) (string, error) {
	words := strings.Join(args, " ")
	if len(args) > 0 && words != "-" {
		if !a.InPiped {
			return messageText(words)
		}
		piped, err := a.piped(pipePatience)
		if err != nil {
			return "", err
		}
		if strings.TrimSpace(piped) != "" {
			words += "\n\n" + piped
		}
		return messageText(words)
	}
	text, err := a.piped(0)
	if err != nil {
		return "", err
	}
	return messageText(text)
}

// piped is all of standard input as text. With a patience it is nothing when nothing
// has come by then.
func (a *app) piped(patience time.Duration) (string, error) {
	in := bufio.NewReader(a.input())
	if patience > 0 && !came(in, patience) {
		if !a.asJSON && !a.quiet {
			_ = a.errs().print(dim("Nothing came from standard input, so the message goes without it; with < /dev/null it does not wait."), "\n")
		}
		return "", nil
	}
	b, err := io.ReadAll(io.LimitReader(in, protocol.MaxMessageText+1))
	switch {
	case errors.Is(err, errInterrupted):
		return "", errInterrupted
	case err != nil:
		return "", fmt.Errorf("read the message from standard input: %w", err)
	case len(b) > protocol.MaxMessageText:
		return "", errLong
	}
	text, _, ok := charset.Decode(b)
	if !ok && utf8.Valid(b) && !bytes.Contains(b, []byte{0}) { // with more control characters than a file has
		text, ok = string(b), true
	}
	if !ok {
		return "", usage("what comes from standard input is no text; send it as a file with --file")
	}
	return text, nil
}

// came waits until something can be read, or the end of it.
func came(in *bufio.Reader, patience time.Duration) bool {
	ready := make(chan struct{})
	go func() { // not waited for: a read of an open pipe cannot be stopped
		defer close(ready)
		_, _ = in.Peek(1) // what is wrong is told by the next read
	}()
	select {
	case <-ready:
		return true
	case <-time.After(patience):
		return false
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
