package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// rangeSize is how many bytes one request brings: a multiple of 320 KiB, below 60 MiB, of
// the size that Microsoft recommends.
// https://learn.microsoft.com/en-us/graph/api/driveitem-createuploadsession
const rangeSize = 32 * 320 << 10

// uploadTime is for a whole file, with all tries.
const uploadTime = 10 * time.Minute

// rising is a file on its way up.
type rising struct {
	c    *Client
	u    *url.URL
	data []byte
	at   int  // bytes that are there
	last bool // the last range was sent, and may be there without an answer
}

// upload brings bytes to an address that Teams or Graph named for them, one range after
// the other, and returns what is said of the whole file. No token goes there: the address
// is the right. After a broken request it is asked what is missing.
func (c *Client) upload(ctx context.Context, address string, data []byte) (webcall.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, uploadTime)
	defer cancel()
	u, err := c.keeps(address)
	if err != nil {
		return webcall.Answer{}, err
	}
	r := &rising{c: c, u: u, data: data}
	for tries, rest := 0, firstRest; ; {
		a, err := r.next(ctx)
		switch {
		case err != nil:
		case a.Status == http.StatusOK || a.Status == http.StatusCreated:
			if r.at == len(data) {
				return a, nil
			}
			return a, refused("%s took a part of the file for all of it", u.Host)
		case a.Status == http.StatusAccepted && r.at < len(data):
			continue
		case final(a.Status) && r.last: // it was sent before, and may have ended the upload
			return a, r.broken(fmt.Errorf("%s knows nothing of the file any more (%d)", u.Host, a.Status))
		case final(a.Status):
			return a, refused("%s does not take the file (%d %s)", u.Host, a.Status, http.StatusText(a.Status))
		default:
			err = fmt.Errorf("%s answered %d for a part of a file", u.Host, a.Status)
			if after := webcall.RetryAfter(a.Header, "Retry-After"); a.Header.Get("Retry-After") != "" {
				rest = max(rest, min(after, longRest))
			}
		}
		if tries++; tries == mostTries || sleep.For(ctx, rest) != nil {
			return a, r.broken(err)
		}
		rest *= 2
		if err := r.missing(ctx); err != nil {
			return a, r.broken(err)
		}
	}
}

// final: an answer that asking again does not change.
func final(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusRequestedRangeNotSatisfiable:
		return false
	}
	return status >= 300 && status < 500 || status == http.StatusInsufficientStorage
}

// broken is the error of an upload that did not come to its end: uncertain when all of it
// was sent.
func (r *rising) broken(err error) error {
	if r.last {
		return fmt.Errorf("%w: %w", channel.ErrUncertain, err)
	}
	return err
}

// next sends the next range.
func (r *rising) next(ctx context.Context) (webcall.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, fileTime)
	defer cancel()
	end := min(r.at+rangeSize, len(r.data))
	req, err := http.NewRequest(http.MethodPut, r.c.reach(r.u), bytes.NewReader(r.data[r.at:end]))
	if err != nil {
		return webcall.Answer{}, fmt.Errorf("write a request: %w", err)
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", r.at, end-1, len(r.data)))
	a, err := webcall.Do(ctx, r.c.http, req, maxAnswer)
	if err != nil {
		r.last = r.last || end == len(r.data)
		return a, webcall.Again(err, r.u.Host, "a part of a file")
	}
	if a.Status < 300 {
		r.at = end
	}
	r.last = r.last || end == len(r.data) && a.Status >= 500
	return a, nil
}

// missing asks which bytes are not there yet.
func (r *rising) missing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	req, err := http.NewRequest(http.MethodGet, r.c.reach(r.u), http.NoBody)
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	req.Header.Set("User-Agent", userAgent)
	a, err := webcall.Do(ctx, r.c.http, req, maxAnswer)
	if err != nil || a.Status >= 500 || a.Status == http.StatusTooManyRequests {
		return nil // the next range is sent from where it was, and is refused if it is not missing
	}
	var said struct {
		Ranges []string `json:"nextExpectedRanges"`
	}
	if a.Status != http.StatusOK || json.Unmarshal(a.Body, &said) != nil || len(said.Ranges) == 0 {
		return fmt.Errorf("%s knows nothing of the file any more (%d)", r.u.Host, a.Status)
	}
	from, _, _ := strings.Cut(said.Ranges[0], "-")
	n, err := strconv.Atoi(from)
	if err != nil || n < 0 || n >= len(r.data) || n > r.at+rangeSize {
		return fmt.Errorf("%s expects bytes that are none of the file", r.u.Host)
	}
	r.at, r.last = n, false
	return nil
}
