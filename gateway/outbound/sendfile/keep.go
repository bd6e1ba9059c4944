package sendfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// outbox is the folder of a workspace with what was handed in for sending.
const outbox = "outbox"

// Keep puts a file into a workspace from where it is sent, and is Named for it. name is
// a harmless one, and the same bytes under the same name are the same file.
func (f *Files) Keep(workspace, name string, data []byte, network, account string) (channel.Media, error) {
	limit := f.Limits.FileLimit(network, account)
	switch {
	case len(data) == 0:
		return channel.Media{}, errors.New("the file is empty")
	case limit > 0 && int64(len(data)) > limit:
		return channel.Media{}, fmt.Errorf("it has %d MB, and at most %d MB are sent (channels.%s.mediaMaxMb)", (len(data)+1<<20-1)>>20,
			limit>>20, network)
	}
	at := KeptAt(name, data)
	p, err := f.Finder.Find(workspace, at)
	if err != nil {
		return channel.Media{}, err
	}
	defer p.Close()
	there, err := p.Stat()
	if err != nil {
		return channel.Media{}, err
	}
	if there == nil {
		if err := p.Replace(data, 0o600, nil); err != nil {
			return channel.Media{}, err
		}
	} else if err := same(p.Open, data); err != nil {
		return channel.Media{}, err
	}
	return f.Named(workspace, at, network, account)
}

// KeptAt is where Keep puts a file, below its workspace.
func KeptAt(name string, data []byte) string {
	sum := sha256.Sum256(data)
	return outbox + "/" + hex.EncodeToString(sum[:6]) + "/" + name
}

// same reports whether a file that is there has the bytes that it should.
func same[F io.ReadCloser, I any](open func() (F, I, error), data []byte) error {
	file, _, err := open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	have, err := io.ReadAll(io.LimitReader(file, int64(len(data))+1))
	if err == nil && !bytes.Equal(have, data) {
		err = errors.New("another file has its place in the folder outbox of the workspace; move that away")
	}
	return err
}
