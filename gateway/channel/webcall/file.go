package webcall

import (
	"fmt"
	"io"
	"net/http"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// File is the body of an answer that is a file of at most most bytes; 0: any. A
// longer one is refused, at once where the service says how long it is and else when
// it has more: half a file is never taken for a whole one.
func File(resp *http.Response, most int64) (io.ReadCloser, error) {
	if most <= 0 {
		return resp.Body, nil
	}
	if resp.ContentLength > most {
		_ = resp.Body.Close()
		return nil, tooLarge(most)
	}
	return &bounded{ReadCloser: resp.Body, left: most, most: most}, nil
}

func tooLarge(most int64) error {
	return fmt.Errorf("%w: the file has more than the %d bytes that are allowed", channel.ErrRefused, most)
}

// bounded ends a file that is longer than it may be with an error.
type bounded struct {
	io.ReadCloser
	left, most int64
}

func (f *bounded) Read(p []byte) (int, error) {
	if f.left < 0 {
		return 0, tooLarge(f.most)
	}
	if int64(len(p)) > f.left+1 {
		p = p[:f.left+1]
	}
	n, err := f.ReadCloser.Read(p)
	if f.left -= int64(n); f.left < 0 {
		return n - 1, tooLarge(f.most)
	}
	return n, err
}
