package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/awake"
	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/failpoint"
)

// Times of a source that does not answer as it should.
const (
	sayTime   = 45 * time.Second // for a description or signature
	quietTime = 30 * time.Second // without a byte of an archive
	wholeTime = 2 * time.Hour    // for an archive; the next try goes on from there
	maxChain  = 32               // lists of keys that follow one another
)

// Source is where releases are published: a folder of files on a web server.
type Source struct {
	base *url.URL
	http *http.Client
	// Quiet and Whole replace quietTime and wholeTime in tests.
	Quiet, Whole time.Duration
}

// NewSource is the one at an address. It must be https, unless it is on this
// computer or a network that not everybody reaches, and every redirect too: what is
// read there is believed by its signature only, but who reads is nobody's business.
func NewSource(address string) (*Source, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is no address of a source of releases", clip(address, 120))
	}
	if !allowed(u) {
		return nil, fmt.Errorf("%q is not safe from other people's eyes: it has to begin with https://", clip(address, 120))
	}
	s := &Source{base: u, Quiet: quietTime, Whole: wholeTime}
	s.http = &http.Client{Transport: egress.Around(u, egress.Options{}), CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > 5 || !allowed(r.URL) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	return s, nil
}

func allowed(u *url.URL) bool { return u.Scheme == "https" || u.Scheme == "http" && egress.Near(u) }

// Host is how people are told which source it is.
func (s *Source) Host() string { return s.base.Host }

// errAbsent: the source has no such file.
var errAbsent = errors.New("the source has no such file")

func (s *Source) request(ctx context.Context, name string) (*http.Request, error) {
	u := *s.base
	u.Path = path.Join("/", u.Path, name)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", s.Host(), err)
	}
	r.Header.Set("User-Agent", "Hearth") // no version, no machine: nobody is counted
	r.Header.Set("Accept-Encoding", "identity")
	return r, nil
}

// small reads a file of a few lines.
func (s *Source) small(ctx context.Context, name string, limit int64) ([]byte, error) {
	ctx, stop := awake.WithTimeout(ctx, sayTime)
	defer stop()
	r, err := s.request(ctx, name)
	if err != nil {
		return nil, err
	}
	resp, err := s.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("ask %s for %s: %w", s.Host(), name, unwrapURL(err))
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%s: %w", name, errAbsent)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answered %s for %s", s.Host(), resp.Status, name)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s from %s: %w", name, s.Host(), err)
	case int64(len(b)) > limit:
		return nil, fmt.Errorf("%s of %s is longer than %d bytes", name, s.Host(), limit)
	}
	return b, nil
}

func unwrapURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// signed reads a file and what the keys say of it; keys that have not signed are
// left out.
func (s *Source) signed(ctx context.Context, name string, limit int64, keys []string) (data []byte, signatures [][]byte, err error) {
	if data, err = s.small(ctx, name, limit); err != nil {
		return nil, nil, err
	}
	for _, k := range keys {
		id, err := KeyName(k)
		if err != nil {
			return nil, nil, err
		}
		sig, err := s.small(ctx, name+"."+id+".minisig", maxSig)
		if errors.Is(err, errAbsent) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		signatures = append(signatures, sig)
	}
	return data, signatures, nil
}

func trustName(serial int) string { return "keys/" + strconv.Itoa(serial) + ".json" }

// trust follows the chain of keys from what is known to its end.
func (s *Source) trust(ctx context.Context, a Anchor, known *Trust) (Trust, error) {
	var t Trust
	if known != nil {
		t = *known
	} else {
		data, sigs, err := s.signed(ctx, trustName(a.Serial), maxTrust, a.Roots)
		if err != nil {
			return t, err
		}
		// Its own roots sign it too, which those that are built in may be a part of.
		if t, err = a.First(data, sigs); err != nil {
			return t, err
		}
	}
	for range maxChain {
		name := trustName(t.Serial + 1)
		data, err := s.small(ctx, name, maxTrust)
		if errors.Is(err, errAbsent) {
			return t, nil
		}
		if err != nil {
			return t, err
		}
		// Which keys the new list has is read before it is believed, only to know whose
		// signatures to ask for.
		var draft Trust
		keys := t.Roots
		if strict(data, maxTrust, &draft) == nil && len(draft.Roots) <= maxKeys {
			keys = union(keys, draft.Roots)
		}
		_, sigs, err := s.signed(ctx, name, maxTrust, keys)
		if err != nil {
			return t, err
		}
		if t, err = t.Next(data, sigs); err != nil {
			return t, err
		}
	}
	return t, fmt.Errorf("%s has more than %d lists of keys to follow; install the newest version by hand", s.Host(), maxChain)
}

func union(a, b []string) []string {
	out := append([]string{}, a...)
	for _, k := range b {
		if _, err := KeyName(k); err == nil && !contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

func contains(list []string, k string) bool {
	for _, l := range list {
		if l == k {
			return true
		}
	}
	return false
}

// Look asks what the newest release of a channel is. known is the newest list of
// keys that was verified before, nil for none; the one that holds now comes back,
// also when what it should have signed is refused.
func (s *Source) Look(ctx context.Context, a Anchor, known *Trust, channel string, seen int64, now time.Time) (Manifest, Trust, error) {
	t, err := s.trust(ctx, a, known)
	if err != nil {
		return Manifest{}, t, err
	}
	data, sigs, err := s.signed(ctx, channel+".json", maxManifest, t.Releases)
	if errors.Is(err, errAbsent) {
		return Manifest{}, t, fmt.Errorf("%s publishes nothing for the channel %q", s.Host(), channel)
	}
	if err != nil {
		return Manifest{}, t, err
	}
	m, err := t.Manifest(data, sigs, channel, seen, now)
	return m, t, err
}

// Errors of a download that the next try does not mend by itself.
var (
	ErrWrongBytes = errors.New("what came is not what was signed")
	ErrTooMuch    = errors.New("more came than was announced")
)

// errQuiet is the cause of a download that was ended because nothing came.
var errQuiet = errors.New("nothing came any more")

// Download brings an archive into folder, going on where an earlier try ended, and
// returns where it is once all of it is what was signed. told is called with what is
// there, now and then.
func (s *Source) Download(ctx context.Context, f File, folder string, told func(have int64)) (string, error) {
	if told == nil {
		told = func(int64) {}
	}
	whole := filepath.Join(folder, f.SHA+".archive")
	if sum(whole) == f.SHA {
		return whole, nil
	}
	part := filepath.Join(folder, f.SHA+".part")
	for again := true; ; again = false {
		resumed, err := s.fetch(ctx, f, part, told)
		if err != nil {
			return "", err
		}
		failpoint.Hit("update:downloaded")
		if sum(part) == f.SHA {
			break
		}
		_ = os.Remove(part)
		if !resumed || !again {
			return "", fmt.Errorf("%s from %s: %w; nothing was changed", f.Name, s.Host(), ErrWrongBytes)
		}
		// What was there before may have been of something else: once more, all of it.
	}
	if err := os.Rename(part, whole); err != nil {
		return "", fmt.Errorf("keep the download: %w", err)
	}
	return whole, nil
}

// sum is the SHA-256 of a file, "" when it cannot be read.
func sum(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fetch adds to part what it lacks. resumed: it did not begin at nothing.
func (s *Source) fetch(ctx context.Context, f File, part string, told func(int64)) (resumed bool, err error) {
	out, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return false, fmt.Errorf("keep the download: %w", err)
	}
	defer func() { _ = out.Close() }()
	have, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return false, fmt.Errorf("keep the download: %w", err)
	}
	if have == f.Size {
		return true, nil
	}
	if have > f.Size {
		have = 0
	}
	ctx, stop := awake.WithTimeout(ctx, s.Whole)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := awake.AfterFunc(s.Quiet, func() { cancel(errQuiet) })
	defer quiet.Stop()
	body, from, err := s.body(ctx, f, have, part)
	if err != nil {
		return false, s.why(ctx, f, err)
	}
	defer func() { _ = body.Close() }()
	if err := out.Truncate(from); err != nil {
		return false, fmt.Errorf("keep the download: %w", err)
	}
	if _, err := out.Seek(from, io.SeekStart); err != nil {
		return false, fmt.Errorf("keep the download: %w", err)
	}
	if err := s.pour(out, &fed{body, quiet, s.Quiet}, f, from, told); err != nil {
		return from > 0, s.why(ctx, f, err)
	}
	if err := out.Sync(); err != nil {
		return from > 0, full(fmt.Errorf("keep the download: %w", err), part)
	}
	return from > 0, nil
}

// body asks for an archive from a byte on. The server may begin anew: from says so.
func (s *Source) body(ctx context.Context, f File, have int64, part string) (body io.ReadCloser, from int64, err error) {
	r, err := s.request(ctx, f.Name)
	if err != nil {
		return nil, 0, err
	}
	mark, _ := os.ReadFile(part + ".mark")
	if have > 0 {
		r.Header.Set("Range", "bytes="+strconv.FormatInt(have, 10)+"-")
		if len(mark) > 0 {
			r.Header.Set("If-Range", string(mark))
		}
	}
	resp, err := s.http.Do(r)
	if err != nil {
		return nil, 0, unwrapURL(err)
	}
	switch resp.StatusCode {
	case http.StatusOK:
		have = 0
	case http.StatusPartialContent:
		if !strings.HasPrefix(resp.Header.Get("Content-Range"), "bytes "+strconv.FormatInt(have, 10)+"-") {
			_ = resp.Body.Close()
			return nil, 0, errors.New("another part than was asked for came")
		}
	case http.StatusRequestedRangeNotSatisfiable:
		_ = resp.Body.Close()
		_ = os.Remove(part)
		return nil, 0, errors.New("the server has less than was there already; try again")
	default:
		_ = resp.Body.Close()
		return nil, 0, fmt.Errorf("it answered %s", resp.Status)
	}
	if resp.ContentLength > f.Size-have {
		_ = resp.Body.Close()
		return nil, 0, ErrTooMuch
	}
	tag := resp.Header.Get("ETag")
	if strings.HasPrefix(tag, "W/") || len(tag) > 256 {
		tag = ""
	}
	if err := os.WriteFile(part+".mark", []byte(tag), 0o600); err != nil {
		_ = resp.Body.Close()
		return nil, 0, full(err, part)
	}
	return resp.Body, have, nil
}

// pour copies what comes, and not a byte more than was announced.
func (s *Source) pour(out *os.File, in io.Reader, f File, have int64, told func(int64)) error {
	buf := make([]byte, 256<<10)
	for {
		n, err := in.Read(buf)
		if have+int64(n) > f.Size {
			_ = out.Close()
			_ = os.Remove(out.Name())
			return ErrTooMuch
		}
		if n > 0 {
			if _, werr := out.Write(buf[:n]); werr != nil {
				return full(fmt.Errorf("keep the download: %w", werr), out.Name())
			}
			failpoint.Hit("update:piece")
			have += int64(n)
			told(have)
		}
		switch {
		case errors.Is(err, io.EOF) && have < f.Size:
			return fmt.Errorf("it ended after %d of %d bytes", have, f.Size)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// full gives the room back that a download took when there is none left.
func full(err error, part string) error {
	if isFull(err) {
		_ = os.Remove(part)
		return fmt.Errorf("the disk is full: %w; nothing was changed. Make room, then try again", err)
	}
	return err
}

func (s *Source) why(ctx context.Context, f File, err error) error {
	if errors.Is(context.Cause(ctx), errQuiet) {
		err = errQuiet
	}
	if isFull(err) {
		return err
	}
	return fmt.Errorf("download %s from %s: %w; what came is kept, and the next try goes on from there", f.Name, s.Host(), err)
}

// fed pushes the timer along with every read that brought something.
type fed struct {
	r     io.Reader
	timer *awake.Timer
	d     time.Duration
}

func (f *fed) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if n > 0 {
		f.timer.Reset(f.d)
	}
	return n, err
}
