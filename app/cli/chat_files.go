package cli

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// fileSize is the size of a file that can be sent.
func fileSize(name string) (int64, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return 0, unreadable(name, err)
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%s is no file", name)
	case info.Size() == 0:
		return 0, fmt.Errorf("%s is empty", name)
	case info.Size() > protocol.MaxAttachmentBytes:
		return 0, fmt.Errorf("%s has %d MB, and at most %d MB are taken; put it into the workspace instead, and name it", name,
			info.Size()>>20, protocol.MaxAttachmentBytes>>20)
	}
	return info.Size(), nil
}

// unreadable says why a file cannot be read: mostly it is not there.
func unreadable(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &failure{exitFailure, "there is no file or folder " + line(name), "look at how its name is written, and in which folder you are"}
	}
	return fmt.Errorf("%s cannot be read: %w", name, cause(err))
}

// handIn uploads the files of the message, once.
func (c *conversation) handIn(ctx context.Context, cl *client.Client) error {
	for len(c.opts.files) > 0 {
		id, err := upload(ctx, cl, c.opts.files[0])
		if err != nil {
			return err
		}
		c.opts.sent = append(c.opts.sent, protocol.Attachment{Type: "file", FileName: filepath.Base(c.opts.files[0]), Upload: id})
		c.opts.files = c.opts.files[1:]
	}
	return nil
}

// upload gives the gateway a file in parts, and returns what it calls it.
func upload(ctx context.Context, cl *client.Client, name string) (string, error) {
	size, err := fileSize(name)
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", unreadable(name, err)
	}
	defer f.Close()
	part := make([]byte, protocol.MaxUploadPart)
	p := protocol.UploadPutParams{FileName: filepath.Base(name), Size: size}
	for p.Offset < size {
		n, err := f.ReadAt(part, p.Offset)
		if n == 0 || err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("%s changed while it was read: %w", name, cause(err))
		}
		p.Content = base64.StdEncoding.EncodeToString(part[:min(int64(n), size-p.Offset)])
		var r protocol.UploadPutResult
		if err := cl.Call(ctx, protocol.MethodUploadPut, p, &r); err != nil {
			return "", err
		}
		p.Upload, p.Offset = r.Upload, r.Received
	}
	return p.Upload, nil
}

// given tells what became of the files of a message, as far as they were not given
// whole.
func (c *conversation) given(files []protocol.AttachedFile) {
	for _, f := range files {
		kept := ""
		if f.Path != "" {
			kept = "; the whole file is in the workspace, " + f.Path
		}
		switch {
		case f.Problem != "":
			c.note(fmt.Sprintf("%s has no text that can be given: %s%s", f.Name, f.Why, kept))
		case f.Whole || f.Text == 0:
		case f.Given > 0:
			c.note(fmt.Sprintf("%s: %d of %d %ss given%s", f.Name, f.Given, f.Total, f.Unit, kept))
		default:
			c.note(fmt.Sprintf("%s: a part of its text given%s", f.Name, kept))
		}
	}
}
