package cli

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

type chatOptions struct {
	session string
	model   string
	timeout time.Duration
	quiet   bool
	images  []string // files
	files   []string
	sent    []protocol.Attachment
}

func newChat(a *app) *cobra.Command {
	var o chatOptions
	c := &cobra.Command{
		Use:   "chat [TEXT…]",
		Short: "Say something and print the answer as it comes",
		Long: `Say something and print the answer as it comes.

The text is what stands on the command line, or standard input when that is not
a terminal (or when TEXT is -). With neither, each line that you type is sent.

Ctrl-C stops the answer. If the gateway restarts meanwhile, the command waits
for it and goes on: a message that was taken is never lost and never sent twice.

With --json, each event is one line of JSON; the last has "type":"result".`,
		Example: "  hearth chat \"What can you do?\"\n  git diff | hearth chat - --session review\n" +
			"  hearth chat --model ollama/llama3.2 \"Tell me a story\"\n  hearth chat --image photo.jpg \"What is this?\"\n" +
			"  hearth chat --file report.pdf \"What does it say about costs?\"",
		RunE: a.run(func(ctx context.Context, args []string) error { return runChat(ctx, a, o, args) }),
	}
	o.flags(c.Flags())
	return c
}

// flags are those of every command that asks something.
func (o *chatOptions) flags(f *pflag.FlagSet) {
	f.StringVarP(&o.session, "session", "s", "", "go on with this `SESSION`; a new name begins one (default: the main one)")
	f.StringVarP(&o.model, "model", "m", "", "answer with this `MODEL`, named as in hearth models list")
	f.StringArrayVar(&o.images, "image", nil, "send this picture `FILE` along; may be given several times")
	f.StringArrayVar(&o.files, "file", nil, "send this `FILE` along, such as a PDF or a spreadsheet; may be given several times")
	f.DurationVar(&o.timeout, "timeout", 0, "give up after this `TIME`, such as 90s or 5m")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print nothing but the answer")
}

// ready checks what was asked for, and reads the pictures that go along. A conversation
// of lines takes none.
func (o *chatOptions) ready(lines bool) error {
	if o.timeout < 0 {
		return usage("--timeout must not be negative")
	}
	if len(o.images)+len(o.files) > 0 && (o.model != "" || lines) {
		return usage("--image and --file go with a message on the command line and the model of the session; choose that one with /model")
	}
	for _, name := range o.images {
		data, err := readPicture(name)
		if err != nil {
			return err
		}
		o.sent = append(o.sent, protocol.Attachment{Type: "image", FileName: filepath.Base(name), Content: data})
	}
	for _, name := range o.files {
		if _, err := fileSize(name); err != nil {
			return err
		}
	}
	return nil
}

func runChat(ctx context.Context, a *app, o chatOptions, args []string) error {
	a.quiet = o.quiet
	lines := len(args) == 0 && a.InTerminal
	if err := o.ready(lines); err != nil {
		return err
	}
	ch := newConversation(a, o)
	defer ch.close()
	if lines {
		return chatLines(ctx, a, ch)
	}
	text, err := chatText(a, args)
	if err != nil {
		return err
	}
	return ch.ask(ctx, text)
}

// maxPicture is a little more than the gateway takes, which says so in its words.
const maxPicture = 6 << 20

// readPicture is a picture as the wire takes it.
func readPicture(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", unreadable(name, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no file", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxPicture))
	if err != nil {
		return "", fmt.Errorf("the picture cannot be read: %w", cause(err))
	}
	return base64.StdEncoding.EncodeToString(data), nil
}

// chatLines is a plain conversation, a line a message.
func chatLines(ctx context.Context, a *app, ch *conversation) error {
	if !a.asJSON {
		_ = a.errs().print(dim("Each line is a message. Ctrl-D ends."), "\n")
	}
	lines := make(chan string)
	go func() { // not waited for: a read from a terminal cannot be stopped
		defer close(lines)
		s := bufio.NewScanner(a.In)
		s.Buffer(nil, protocol.MaxMessageText)
		for s.Scan() {
			lines <- s.Text()
		}
	}()
	for {
		if !a.asJSON {
			_ = a.errs().print(bold("› "))
		}
		select {
		case <-ctx.Done():
			return errInterrupted
		case text, ok := <-lines:
			if !ok {
				return nil
			}
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			if err := ch.ask(ctx, text); err != nil {
				var f *failure
				if !errors.As(err, &f) || f.code != exitAnswer {
					return err
				}
				a.complain(f)
			}
		}
	}
}
