package wire

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/sse"
)

// maxWhole bounds an answer that comes in one piece.
const maxWhole = 32 << 20

func (s *Service) records(r io.Reader, d Dialect, resp *http.Response) iter.Seq2[sse.Event, error] {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case media == "application/json" && s.Whole:
		return whole(r)
	case d.Frames != nil:
		return d.Frames(r)
	case d.Stream == NDJSON:
		return sse.Lines(r, 0)
	}
	return sse.Events(r, 0)
}

// whole is a body that is one record.
func whole(r io.Reader) iter.Seq2[sse.Event, error] {
	return func(yield func(sse.Event, error) bool) {
		body, err := io.ReadAll(io.LimitReader(r, maxWhole+1))
		switch {
		case err != nil:
			yield(sse.Event{}, err)
		case len(body) > maxWhole:
			yield(sse.Event{}, sse.ErrTooLong)
		case len(bytes.TrimSpace(body)) > 0:
			yield(sse.Event{Data: body, Open: brokeOff(body)}, nil)
		}
	}
}

// brokeOff tells JSON that is cut from bytes that never were JSON.
func brokeOff(body []byte) bool {
	var syntax *json.SyntaxError
	err := json.Unmarshal(body, new(json.RawMessage))
	return errors.As(err, &syntax) && syntax.Offset >= int64(len(body))
}

// read hands records to the decoder until the answer is whole.
func (f fault) read(recs iter.Seq2[sse.Event, error], d Decoder, a *Answer, h *head) error {
	count := 0
	for rec, err := range recs {
		if err != nil {
			if whole, endErr := d.End(a, false); whole && endErr == nil && f.ctx.Err() == nil {
				return f.left(a) // all was said; only the goodbye is missing
			}
			return f.of(err)
		}
		count++
		step, err := d.Decode(rec.Data, a)
		if a.left {
			return errConsumerLeft
		}
		if err != nil {
			return f.undecodable(rec, err, d, a)
		}
		if step != KeepAlive {
			a.watch.resume()
		}
		if step == Done || a.full {
			if _, err := d.End(a, true); err != nil && !a.full {
				return f.of(err)
			}
			return f.left(a)
		}
	}
	return f.ended(d, a, h, count)
}

func (f fault) left(a *Answer) error {
	if a.left {
		return errConsumerLeft
	}
	return nil
}

// ended judges a stream that ended cleanly but without the end mark.
func (f fault) ended(d Decoder, a *Answer, h *head, count int) error {
	if count == 0 {
		if seen := bytes.TrimSpace(h.seen); len(seen) == 0 || seen[0] == ':' { // a comment
			return f.make(model.ClassEmpty, "the service closed the connection without an answer", nil)
		}
		if beginsStream(string(h.seen)) {
			return f.make(model.ClassInterrupted, "the answer broke off", nil)
		}
		return f.make(model.ClassMalformed, "unexpected answer: "+string(h.seen), nil)
	}
	whole, err := d.End(a, false)
	if a.left {
		return errConsumerLeft
	}
	if !whole {
		return f.make(model.ClassInterrupted, "the answer broke off", nil)
	}
	if err != nil {
		return f.of(err)
	}
	return nil
}

// beginsStream tells an event stream that broke off in its first event from
// something that is no stream at all.
func beginsStream(s string) bool {
	field, _, complete := strings.Cut(s, ":")
	for _, known := range []string{"data", "event", "id", "retry"} {
		if field == known || (!complete && strings.HasPrefix(known, field)) {
			return true
		}
	}
	return false
}

// undecodable judges a record that the decoder did not like. A last record
// without its end is a cut, not a mistake of the service; and once all was
// said, garbage does not matter.
func (f fault) undecodable(rec sse.Event, err error, d Decoder, a *Answer) error {
	var r *Reported
	if errors.As(err, &r) {
		return f.reported(r)
	}
	if rec.Open {
		if whole, endErr := d.End(a, false); whole && endErr == nil {
			return f.left(a)
		}
		return f.make(model.ClassInterrupted, "the answer broke off", err)
	}
	var me *model.Error
	if errors.As(err, &me) {
		return f.of(err)
	}
	return f.make(model.ClassMalformed, fmt.Sprintf("%v in %q", err, cut(rec.Data, 80)), err)
}

func cut(b []byte, n int) []byte { return b[:min(n, len(b))] }

// head remembers how a body began, to be able to show it.
type head struct {
	r    io.Reader
	seen []byte
}

func (h *head) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	if room := 256 - len(h.seen); room > 0 && n > 0 {
		h.seen = append(h.seen, p[:min(room, n)]...)
	}
	return n, err
}

// decoded undoes a content encoding that we did not ask for.
func decoded(resp *http.Response) (io.Reader, error) {
	switch enc := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); enc {
	case "", "identity":
		return resp.Body, nil
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(resp.Body)
		if err != nil {
			return nil, fmt.Errorf("reading a compressed answer: %w", err)
		}
		return z, nil
	default:
		return nil, &model.Error{Class: model.ClassMalformed, Detail: "the answer is encoded as " + enc + ", which was not asked for"}
	}
}
