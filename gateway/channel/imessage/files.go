package imessage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// attachments is the part of a path that every file of Messages has.
const attachments = "/Library/Messages/Attachments/"

// Fetch opens a file of a message: where imsg said that it lies, and nowhere else.
func (c *Client) Fetch(ctx context.Context, m channel.Media) (io.ReadCloser, error) {
	at := m.URL
	if !strings.HasPrefix(at, "/") && !strings.HasPrefix(at, "~/") || path.Clean(at) != at || !strings.Contains(at, attachments) ||
		strings.ContainsAny(at, "\x00\r\n") {
		return nil, refused("the file is none of Messages'")
	}
	if to := c.texts[keyRemote]; to != "" {
		return c.fetchFrom(ctx, to, at, m.Size)
	}
	if rest, ok := strings.CutPrefix(at, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("find the file: %w", err)
		}
		at = path.Join(home, rest)
	}
	f, err := os.Open(at)
	if err != nil {
		if errors.Is(err, os.ErrPermission) {
			return nil, fmt.Errorf("%w. Give Hearth Full Disk Access in the Mac's System Settings, Privacy & Security", err)
		}
		return nil, refused("the file is not there any more")
	}
	info, err := f.Stat()
	switch {
	case err != nil || !info.Mode().IsRegular():
		_ = f.Close()
		return nil, refused("the file is none")
	case info.Size() > c.Limits().Files && c.Limits().Files > 0:
		_ = f.Close()
		return nil, refused("the file is larger than %d MB", c.Limits().Files>>20)
	}
	return f, nil
}

// fetchFrom reads a file of another computer by ssh.
func (c *Client) fetchFrom(ctx context.Context, host, at string, size int64) (io.ReadCloser, error) {
	most := limits.Files
	if c.maxFile > 0 {
		most = min(most, c.maxFile)
	}
	if size > most {
		return nil, refused("the file is larger than %d MB", most>>20)
	}
	quoted := "'" + strings.ReplaceAll(at, "'", `'\''`) + "'"
	if rest, ok := strings.CutPrefix(at, "~/"); ok {
		quoted = `"$HOME"/'` + strings.ReplaceAll(rest, "'", `'\''`) + "'"
	}
	p, err := c.launch(ctx, ID, c.account, []string{"ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "--", host,
		"cat " + quoted})
	if err != nil {
		return nil, fmt.Errorf("ssh could not be started: %w", err)
	}
	_ = p.CloseInput()
	data, err := io.ReadAll(io.LimitReader(p.Output(), most+1))
	p.Stop()
	<-p.Done()
	_ = p.Output().Close()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the file of %s: %w", host, err)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case int64(len(data)) > most:
		return nil, refused("the file is larger than %d MB", most>>20)
	case size > 0 && int64(len(data)) < size:
		return nil, fmt.Errorf("ssh brought %d of %d bytes of the file: %s", len(data), size, p.Words())
	}
	return io.NopCloser(strings.NewReader(string(data))), nil
}
