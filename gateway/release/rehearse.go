package release

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// RehearseArgs are how a version is asked to start on a copy: it migrates the store,
// makes all of itself, answers on a free port, and neither acts nor talks to anybody.
// The words are a contract between versions.
func RehearseArgs() []string { return []string{"gateway", "--rehearse", "--json", "--lifeline"} }

// ready is the line by which it says that it is up.
type ready struct {
	Type    string `json:"type"`
	URL     string `json:"url"`
	Version string `json:"version"`
}

// Rehearsal is a try of a version on a copy of what is there.
type Rehearsal struct {
	Program  string // the new hearth
	Version  string // what it has to call itself
	Dir      statedir.Dir
	Copy     string // a copy of the store, which is copied once more; "" for none
	Settings []byte // hearth.json; nil for none
	// Count counts the messages of a store, which a new version must not lose.
	Count func(path string) (int, error)
	// Within is how long it may take to answer, and then to end; 0: HealthTime.
	Within time.Duration
}

// Rehearse starts a version on a copy of the store and returns nil when it answered
// and left the copy whole. Nothing outside of the copy is touched.
func Rehearse(ctx context.Context, r Rehearsal) (err error) {
	if r.Within == 0 {
		r.Within = HealthTime
	}
	home := filepath.Join(string(r.Dir), "rehearsal")
	if err := os.RemoveAll(home); err != nil {
		return fmt.Errorf("make room for the rehearsal: %w", err)
	}
	defer func() { _ = os.RemoveAll(home) }()
	before, err := r.lay(ctx, home)
	if err != nil {
		if isFull(err) {
			err = fmt.Errorf("the disk is full: %w", err)
		}
		return fmt.Errorf("copy what is there for the rehearsal: %w", err)
	}
	failpoint.Hit("update:rehearse")
	if err := r.run(ctx, home); err != nil {
		return fmt.Errorf("version %s was tried on a copy of your data and did not pass: %w", r.Version, err)
	}
	if r.Copy == "" {
		return nil // there was nothing that it could have harmed
	}
	db := statedir.Dir(home).Store()
	if _, err := store.Check(db); err != nil {
		return fmt.Errorf("version %s was tried on a copy of your data and damaged it: %w", r.Version, err)
	}
	after, err := r.Count(db)
	if err != nil {
		return fmt.Errorf("version %s was tried on a copy of your data, which cannot be read any more: %w", r.Version, err)
	}
	if after < before {
		return fmt.Errorf("version %s was tried on a copy of your data and lost %d of %d messages", r.Version, before-after, before)
	}
	return nil
}

// lay makes the folder in which the version starts.
func (r Rehearsal) lay(ctx context.Context, home string) (messages int, err error) {
	d := statedir.Dir(home)
	if err := errors.Join(d.Ensure(), os.Mkdir(filepath.Join(home, "home"), 0o700), os.Mkdir(filepath.Join(home, "tmp"), 0o700)); err != nil {
		return 0, err
	}
	if r.Settings != nil {
		if err := os.WriteFile(filepath.Join(home, "hearth.json"), r.Settings, 0o600); err != nil {
			return 0, err
		}
	}
	if r.Copy == "" {
		return 0, nil
	}
	in, err := os.Open(r.Copy)
	if err != nil {
		return 0, err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(d.Store(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close(), still(ctx, d)); err != nil {
		return 0, err
	}
	return r.Count(d.Store())
}

// still pauses the copy: what waits in it is the running gateway's to do.
func still(ctx context.Context, d statedir.Dir) error {
	s, err := OpenStopped(ctx, d, time.Now)
	if err != nil {
		return err
	}
	_, err = s.pause.Set(ctx, pause.Everything, 0, "the rehearsal", "")
	return errors.Join(err, s.Close(ctx))
}

// rehearsed is the environment of the version that is tried: the system's, and no key
// or setting of the person's.
func rehearsed(home string) []string {
	env := []string{
		"HEARTH_HOME=" + home, "HEARTH_CONFIG=" + filepath.Join(home, "hearth.json"), "HOME=" + filepath.Join(home, "home"),
		"TMPDIR=" + filepath.Join(home, "tmp"), "TMP=" + filepath.Join(home, "tmp"), "TEMP=" + filepath.Join(home, "tmp"),
		"USERPROFILE=" + filepath.Join(home, "home"), "LOCALAPPDATA=" + filepath.Join(home, "home"),
		"APPDATA=" + filepath.Join(home, "home"),
	}
	if runtime.GOOS == "windows" { // without it nothing starts there
		env = append(env, "SystemRoot="+os.Getenv("SystemRoot"))
	}
	return env
}

func (r Rehearsal) run(ctx context.Context, home string) (err error) {
	ctx, stop := context.WithTimeout(ctx, 2*r.Within)
	defer stop()
	cmd := exec.CommandContext(ctx, r.Program, RehearseArgs()...)
	cmd.Env, cmd.Dir = rehearsed(home), home
	cmd.WaitDelay = time.Second
	said := &last{}
	cmd.Stderr = said
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("it does not start: %w", err)
	}
	ended := make(chan error, 1)
	go func() {
		err := r.answers(ctx, out)
		if err != nil {
			stop()
		}
		_ = lifeline.Close()
		_, _ = io.Copy(io.Discard, out)
		if werr := cmd.Wait(); err == nil {
			err = werr
		}
		ended <- err
	}()
	limit := time.NewTimer(r.Within)
	defer limit.Stop()
	select {
	case err = <-ended:
	case <-limit.C:
		stop()
		<-ended
		err = fmt.Errorf("it did not answer, or did not end, within %s", r.Within)
	}
	if words := said.String(); err != nil && words != "" {
		return fmt.Errorf("%w (it said: %s)", err, words)
	}
	return err
}

// answers waits for the version to say where it is, and asks it.
func (r Rehearsal) answers(ctx context.Context, out io.Reader) error {
	line, err := bufio.NewReader(io.LimitReader(out, 64<<10)).ReadBytes('\n')
	if err != nil {
		return errors.New("it ended before it answered")
	}
	var up ready
	if err := json.Unmarshal(line, &up); err != nil || up.Type != "ready" {
		return fmt.Errorf("it answered something else than that it is ready: %s", clip(string(bytes.TrimSpace(line)), 200))
	}
	if up.Version != r.Version {
		return fmt.Errorf("it calls itself %s", clip(up.Version, 40))
	}
	u, err := url.Parse(up.URL)
	if err != nil || u.Scheme != "http" || !egress.Near(u) {
		return fmt.Errorf("it says that it is at %s", clip(up.URL, 100))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, up.URL+"/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := egress.Operator().RoundTrip(req)
	if err != nil {
		return fmt.Errorf("it does not answer: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if resp.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"ok":true`)) {
		return fmt.Errorf("it is not well: %s %s", resp.Status, clip(string(body), 200))
	}
	return nil
}

// last keeps the last words of a program.
type last struct{ b []byte }

func (l *last) Write(p []byte) (int, error) {
	l.b = append(l.b, p...)
	if len(l.b) > 2<<10 {
		l.b = append(l.b[:0], l.b[len(l.b)-2<<10:]...)
	}
	return len(p), nil
}

func (l *last) String() string {
	lines := strings.FieldsFunc(string(l.b), func(r rune) bool { return r == '\n' || r == '\r' })
	return clip(strings.Join(lines[max(0, len(lines)-3):], " "), 500)
}
