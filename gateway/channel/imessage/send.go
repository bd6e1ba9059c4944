package imessage

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/markup"
	"github.com/hearth-assistant/hearth/internal/text"
)

// sent is what imsg says of a message, in the forms of its versions; old ones name none.
type sent struct {
	OK    bool            `json:"ok"`
	GUID  string          `json:"guid"`
	ID    json.RawMessage `json:"id"`
	Named json.RawMessage `json:"message_id"`
	Older json.RawMessage `json:"messageId"`
}

func (s sent) id() string {
	for _, raw := range []json.RawMessage{s.Named, s.Older, s.ID} {
		if v := strings.Trim(string(raw), `"`); v != "" && v != "null" {
			return cmp.Or(s.GUID, v)
		}
	}
	return cmp.Or(s.GUID, "sent-"+rand.Text())
}

// Send sends a message with its files. Messages takes one file at a time: a second one
// is a message of its own.
func (c *Client) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	to, err := c.recipient(m.To.Conversation)
	if err != nil {
		return channel.Receipt{}, err
	}
	plain, _ := markup.PlainStyled(m.Text)
	if n := utf8.RuneCountInString(plain); n > limits.Text {
		return channel.Receipt{}, refused("the message has %d characters, and at most %d are sent", n, limits.Text)
	}
	if strings.TrimSpace(plain) == "" && len(m.Media) == 0 {
		return channel.Receipt{}, refused("there is nothing to send")
	}
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	if l == nil {
		return channel.Receipt{}, errors.New("imsg is not running")
	}
	files, clean, err := c.stage(l, m.Media)
	defer clean()
	if err != nil {
		return channel.Receipt{}, err
	}
	var first channel.Receipt
	for i := range max(len(files), 1) {
		params := map[string]any{"service": cmp.Or(c.texts[keyService], "auto"), "region": cmp.Or(strings.ToUpper(c.texts[keyRegion]), "US")}
		for k, v := range to {
			params[k] = v
		}
		if i == 0 && plain != "" {
			params["text"] = plain
		}
		if len(files) > 0 {
			params["file"] = files[i]
		}
		var s sent
		done, err := l.ask(ctx, "send", params, &s, sendTime)
		if err = verdict(done, err); err != nil && i > 0 {
			return first, fmt.Errorf("%w: %d of %d files were sent: %w", channel.ErrUncertain, i, len(files), err)
		} else if err != nil {
			return channel.Receipt{}, err
		}
		if i == 0 {
			first.MessageID = s.id()
		}
	}
	return first, nil
}

// codeParams is JSON-RPC's code of a request that cannot be.
const codeParams = -32602

// verdict says what an error of a send means. What AppleScript says is no proof that
// nothing left the Mac, but for what it refused to begin with.
func verdict(done bool, err error) error {
	var e *rpcError
	switch {
	case err == nil:
		return nil
	case !done:
		return err
	case !errors.As(err, &e):
		return fmt.Errorf("%w: %w", channel.ErrUncertain, err)
	case e.Code == codeParams || e.Code == -32601 || e.Code == -32600:
		return fmt.Errorf("%w: %w", channel.ErrRefused, e)
	}
	words := e.Error()
	switch {
	case strings.Contains(words, "-1743") || strings.Contains(strings.ToLower(words), "not authorized to send apple events"):
		return fmt.Errorf("%w. Let Hearth (or your terminal) and imsg control Messages: System Settings of the Mac, Privacy & Security, "+
			"Automation", e)
	case strings.Contains(words, "-1728") || strings.Contains(words, "Can’t get") || strings.Contains(words, "Can't get"):
		return fmt.Errorf("%w: %w. Nobody is reached there by this service", channel.ErrRefused, e)
	}
	return fmt.Errorf("%w: %w", channel.ErrUncertain, e)
}

// recipient is where a request goes to, in the words of imsg.
func (c *Client) recipient(conversation string) (map[string]any, error) {
	if number, ok := strings.CutPrefix(conversation, groupSign); ok {
		id, err := strconv.ParseInt(number, 10, 64)
		if err != nil || id <= 0 {
			return nil, refused("%q is no group: one is called %s and its number, which `imsg chats` shows", text.Ellipsis(conversation, 60),
				groupSign)
		}
		return map[string]any{"chat_id": id}, nil
	}
	to := handle(conversation)
	if to == "" || strings.HasPrefix(to, "-") || !strings.ContainsAny(to, "@0123456789") {
		return nil, refused("%q is nobody: a person is called by their phone number with + and country, or by their address",
			text.Ellipsis(conversation, 60))
	}
	return map[string]any{"to": to}, nil
}

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{channel.ErrRefused}, args...)...)
}

// stage puts copies of files where imsg reads them; clean removes them.
func (c *Client) stage(l *link, list []channel.Media) (paths []string, clean func(), err error) {
	clean = func() {}
	if len(list) == 0 {
		return nil, clean, nil
	}
	if c.texts[keyRemote] != "" {
		return nil, clean, refused("files cannot be sent through a Mac elsewhere")
	}
	if c.openFile == nil {
		return nil, clean, refused("no file may be sent from here")
	}
	dir, err := os.MkdirTemp(l.p.Folder(), "out-")
	if err != nil {
		return nil, clean, fmt.Errorf("make room for a file: %w", err)
	}
	clean = func() { _ = os.RemoveAll(dir) }
	for i, m := range list {
		to := filepath.Join(dir, strconv.Itoa(i))
		if err := os.Mkdir(to, 0o700); err != nil {
			return nil, clean, fmt.Errorf("make room for a file: %w", err)
		}
		to = filepath.Join(to, harmless(cmp.Or(m.Name, path.Base(filepath.ToSlash(m.URL)))))
		if err := c.copyFile(m.URL, to); err != nil {
			return nil, clean, err
		}
		paths = append(paths, to)
	}
	return paths, clean, nil
}

// harmless is a name as a file in a folder.
func harmless(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:`, r) {
			return '_'
		}
		return r
	}, name)
	if name = strings.TrimLeft(name, ".-"); name == "" || len(name) > 200 {
		return "file"
	}
	return name
}

func (c *Client) copyFile(from, to string) error {
	in, err := c.openFile(from)
	if err != nil {
		return refused("the file cannot be opened: %v", err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("copy a file: %w", err)
	}
	most := c.Limits().Files
	n, err := io.Copy(out, io.LimitReader(in, most+1))
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("copy a file: %w", err)
	}
	if n > most {
		return refused("the file is larger than %d MB", most>>20)
	}
	return nil
}
