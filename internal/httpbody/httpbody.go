// Package httpbody reads the bodies of requests of strangers: so much of them, and within
// so much time.
package httpbody

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// Why there is no body to take. What net/http said is wrapped too.
var (
	ErrLarge = errors.New("the body is too large")
	ErrLate  = errors.New("the body did not arrive in time")
	ErrCut   = errors.New("the body did not arrive whole")
)

// Read takes a body of at most so many bytes, which has some time to come. From then on
// the connection may be quiet, and that it ends is noticed all the same. The limit of a
// body that did not come stays, and the connection ends with the answer: the rest is not
// waited for.
func Read(w http.ResponseWriter, r *http.Request, most int64, within time.Duration) ([]byte, error) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(within))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err == nil {
		_ = c.SetReadDeadline(time.Time{})
		return body, nil
	}
	w.Header().Set("Connection", "close")
	var large *http.MaxBytesError
	why := ErrCut
	switch {
	case errors.As(err, &large):
		why = ErrLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		why = ErrLate
	}
	return nil, fmt.Errorf("%w: %w", why, err)
}
