// Package calendar watches a calendar: a file of iCalendar, the address of one, or
// a collection of CalDAV. An event is told when it is new, has changed or is gone,
// and, where that is asked for, some time before it begins.
package calendar

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/emersion/go-ical"
	"github.com/emersion/go-webdav"
	"github.com/emersion/go-webdav/caldav"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/watch"
)

const (
	most      = 16 << 20
	maxDetail = 2000 // of an event's description
)

// Options say which calendar.
type Options struct {
	Path string // of a file
	URL  string // of a file, or of a collection of CalDAV
	User string
	// Password is asked at each look; nil: there is none.
	Password func(ctx context.Context) (string, error)
	Ahead    time.Duration // an event is told so long before it begins; 0: not
	Zone     func() *time.Location
	Now      func() time.Time
	By       watch.Fetcher
}

// Calendar is a calendar.
type Calendar struct{ Options }

// New returns the source of a calendar.
func New(o Options) (*Calendar, error) {
	o.URL = strings.Replace(o.URL, "webcal://", "https://", 1)
	switch {
	case o.Path != "" && o.URL != "":
		return nil, errors.New("a calendar is a file or an address, not both")
	case o.Path != "" && !filepath.IsAbs(o.Path):
		return nil, fmt.Errorf("%q is not an absolute path", o.Path)
	case o.Ahead < 0 || o.Ahead > 31*24*time.Hour:
		return nil, errors.New("events are told a month before they begin at most")
	case o.Path == "":
		if _, err := watch.Address(o.URL); err != nil {
			return nil, err
		}
	}
	return &Calendar{o}, nil
}

// Look implements watch.Source.
func (s *Calendar) Look(ctx context.Context, kept json.RawMessage) (f watch.Found, err error) {
	var v watch.Validators
	if len(kept) > 0 && s.Ahead == 0 { // what begins soon changes without the calendar
		if err := json.Unmarshal(kept, &v); err != nil {
			return f, fmt.Errorf("read what was seen last: %w", err)
		}
	}
	var cals []*ical.Calendar
	switch {
	case s.Path != "":
		cals, err = s.file()
	case strings.HasSuffix(strings.ToLower(s.address()), ".ics"):
		var same bool
		if cals, same, err = s.get(ctx, &v); same {
			return watch.Found{Same: true}, nil
		}
	default:
		cals, err = s.collection(ctx)
	}
	if err != nil {
		return f, err
	}
	f.Whole = true
	for _, c := range cals {
		s.events(c, &f)
	}
	f.Kept, err = json.Marshal(v)
	return f, err
}

// address is the path of the address.
func (s *Calendar) address() string {
	u, err := watch.Address(s.URL)
	if err != nil {
		return ""
	}
	return path.Clean("/" + u.Path)
}

func (s *Calendar) file() ([]*ical.Calendar, error) {
	dir, err := os.OpenRoot(filepath.Dir(s.Path))
	if err != nil {
		return nil, fmt.Errorf("the folder of %s cannot be read: %w", s.Path, err)
	}
	defer dir.Close()
	file, err := dir.Open(filepath.Base(s.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s", s.Path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", s.Path, err)
	}
	defer file.Close()
	if st, err := file.Stat(); err != nil || !st.Mode().IsRegular() || st.Size() > most {
		return nil, fmt.Errorf("%s is no file of at most %d MB", s.Path, most>>20)
	}
	body, err := io.ReadAll(io.LimitReader(file, most))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", s.Path, err)
	}
	return Parse(body)
}

// auth is the header that says who asks.
func (s *Calendar) auth(ctx context.Context) (http.Header, error) {
	if s.User == "" || s.Password == nil {
		return http.Header{}, nil
	}
	password, err := s.Password(ctx)
	if err != nil {
		return nil, err
	}
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth(s.User, password)
	return r.Header, nil
}

func (s *Calendar) get(ctx context.Context, v *watch.Validators) (cals []*ical.Calendar, same bool, err error) {
	head, err := s.auth(ctx)
	if err != nil {
		return nil, false, err
	}
	p, same, err := watch.Get(ctx, s.By, s.URL, head, v, most)
	if err != nil || same {
		return nil, same, err
	}
	cals, err = Parse(p.Body)
	return cals, false, err
}

// collection asks a server of CalDAV for all events.
func (s *Calendar) collection(ctx context.Context) (out []*ical.Calendar, err error) {
	head, err := s.auth(ctx)
	if err != nil {
		return nil, err
	}
	u, err := watch.Address(s.URL)
	if err != nil {
		return nil, err
	}
	c, err := caldav.NewClient(asker{s.By, head}, s.URL)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", u.Hostname(), err)
	}
	objects, err := c.QueryCalendar(ctx, u.Path, &caldav.CalendarQuery{
		CompRequest: caldav.CalendarCompRequest{Name: "VCALENDAR", AllProps: true, AllComps: true},
		CompFilter:  caldav.CompFilter{Name: "VCALENDAR", Comps: []caldav.CompFilter{{Name: "VEVENT"}}},
	})
	if err != nil {
		return nil, watch.Unreached(fmt.Errorf("%s gave no calendar: %w", u.Hostname(), err))
	}
	for _, o := range objects {
		out = append(out, o.Data)
	}
	return out, nil
}

// asker sends the requests of the library by the way that we send ours.
type asker struct {
	by   watch.Fetcher
	head http.Header
}

var _ webdav.HTTPClient = asker{}

// Do sends one.
func (a asker) Do(r *http.Request) (*http.Response, error) {
	req := egress.Request{Method: r.Method, URL: r.URL.String(), Header: r.Header.Clone(), MaxBytes: most}
	for k, v := range a.head {
		req.Header[k] = v
	}
	if r.Body != nil {
		defer r.Body.Close()
		var err error
		if req.Body, err = io.ReadAll(io.LimitReader(r.Body, 1<<20)); err != nil {
			return nil, err
		}
	}
	p, err := a.by.Fetch(r.Context(), req)
	switch {
	case err != nil:
		return nil, err
	case p.Truncated:
		return nil, fmt.Errorf("the answer is larger than %d MB, or broke off", most>>20)
	case p.Status == http.StatusUnauthorized:
		return nil, errors.New("user or password are not right")
	}
	return &http.Response{
		StatusCode: p.Status, Status: fmt.Sprintf("%d %s", p.Status, http.StatusText(p.Status)), Header: p.Header, Request: r,
		Body: io.NopCloser(bytes.NewReader(p.Body)), ContentLength: int64(len(p.Body)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// maxNested is how deep the parts of a calendar may nest: those of the standard do
// three deep, and the decoder calls itself for each.
const maxNested = 20

// Parse reads calendars.
func Parse(body []byte) (out []*ical.Calendar, err error) {
	deep := 0
	for line := range bytes.Lines(body) {
		switch upper := bytes.ToUpper(line[:min(len(line), 6)]); {
		case bytes.Equal(upper, []byte("BEGIN:")):
			deep++
		case bytes.HasPrefix(upper, []byte("END:")):
			deep--
		}
		if deep > maxNested {
			return nil, fmt.Errorf("the calendar cannot be read: its parts nest more than %d deep", maxNested)
		}
	}
	dec := ical.NewDecoder(bytes.NewReader(body))
	for {
		c, err := dec.Decode()
		switch {
		case errors.Is(err, io.EOF) && len(out) > 0:
			return out, nil
		case errors.Is(err, io.EOF):
			return nil, errors.New("there is no calendar: what is there is empty")
		case err != nil:
			return nil, fmt.Errorf("the calendar cannot be read: %w", err)
		}
		out = append(out, c)
	}
}
