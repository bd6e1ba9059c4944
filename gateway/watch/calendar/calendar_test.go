package calendar_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/watch/calendar"
	"github.com/hearth-assistant/hearth/gateway/watch/watchtest"
	"github.com/hearth-assistant/hearth/internal/freeport"
)

func event(uid, name, start string, more ...string) string {
	return "BEGIN:VEVENT\r\nUID:" + uid + "\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:" + start + "\r\nSUMMARY:" + name + "\r\n" +
		strings.Join(append(more, ""), "\r\n") + "END:VEVENT\r\n"
}

func ics(events ...string) string {
	return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//\r\n" + strings.Join(events, "") + "END:VCALENDAR\r\n"
}

func now() time.Time { return time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC) }

func zone() *time.Location { return time.UTC }

func TestConformanceOfFiles(t *testing.T) {
	watchtest.Run(t, func(t *testing.T) *watchtest.World {
		file := filepath.Join(t.TempDir(), "cal", "c.ics")
		put := func(text string) func(*testing.T) {
			return func(t *testing.T) {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		there := event("a", "There", "20261201T100000Z")
		put(ics(there))(t)
		s, err := calendar.New(calendar.Options{Path: file, Zone: zone, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		return &watchtest.World{
			Source: s,
			Change: func(t *testing.T, n int) string {
				all = append(all, event(fmt.Sprint("n", n), fmt.Sprintf("Meeting %d.", n), "20261202T100000Z"))
				put(ics(append(all, there)...))(t)
				return fmt.Sprintf("Meeting %d.", n)
			},
			Away: func(t *testing.T, away bool) {
				from, to := file, file+".away"
				if !away {
					from, to = to, from
				}
				if err := os.Rename(from, to); err != nil {
					t.Fatal(err)
				}
			},
			Hostile: []func(*testing.T){
				put(""), put("BEGIN:VCALENDAR\r\n"), put(strings.Repeat("BEGIN:VEVENT\r\n", 500_000)), put(strings.Repeat("x", 1<<20)),
				put(ics(event("r", "R", "19700101T000000Z", "RRULE:FREQ=SECONDLY"))), put(ics(event("z", "Z", "20261201", "DTEND;TZID=../../etc:x"))),
				put(ics(strings.Repeat(event("s", "S", "20261201T100000Z"), 30_000))), put(ics(event("l", strings.Repeat("l", 1<<20), "x"))),
			},
			Mend: put(ics(there)),
		}
	})
}

// TestConformanceOfCalDAV is against a real server.
func TestConformanceOfCalDAV(t *testing.T) {
	program, err := exec.LookPath("radicale")
	if err != nil {
		watchtest.Missing(t, "radicale")
	}
	watchtest.Run(t, func(t *testing.T) *watchtest.World {
		s := &server{t: t, program: program, dir: t.TempDir(), address: free(t)}
		s.up()
		base := "http://" + s.address + "/me/cal/"
		s.ask("MKCALENDAR", base, "")
		s.ask(http.MethodPut, base+"there.ics", ics(event("there", "There", "20261201T100000Z")))
		by, err := egress.Only("http://" + s.address)
		if err != nil {
			t.Fatal(err)
		}
		src, err := calendar.New(calendar.Options{
			URL: base, User: "me", Zone: zone, Now: now, By: by, Password: func(context.Context) (string, error) { return "secret", nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		return &watchtest.World{
			Source: src,
			Change: func(_ *testing.T, n int) string {
				name := fmt.Sprintf("Meeting %d.", n)
				s.ask(http.MethodPut, fmt.Sprintf("%s%d.ics", base, n), ics(event(fmt.Sprint("n", n), name, "20261202T100000Z")))
				return name
			},
			Away: func(_ *testing.T, away bool) {
				if away {
					s.down()
				} else {
					s.up()
				}
			},
		}
	})
}

// server is a radicale.
type server struct {
	t                     *testing.T
	program, dir, address string
	cmd                   *exec.Cmd
}

func free(t *testing.T) string {
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

func (s *server) up() {
	s.t.Helper()
	conf := filepath.Join(s.dir, "conf")
	users := filepath.Join(s.dir, "users")
	text := "[server]\nhosts = " + s.address + "\n[auth]\ntype = htpasswd\nhtpasswd_filename = " + users + "\nhtpasswd_encryption = plain\n" +
		"[storage]\nfilesystem_folder = " + filepath.Join(s.dir, "data") + "\n"
	for name, text := range map[string]string{conf: text, users: "me:secret\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	cmd := exec.Command(s.program, "--config", conf)
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.cmd = cmd
	s.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	watchtest.Answers(s.t, s.address)
}

func (s *server) down() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func (s *server) ask(method, url, body string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.SetBasicAuth("me", "secret")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode > 299 {
		s.t.Fatalf("%s %s: %s", method, url, resp.Status)
	}
}

// What begins soon is told once, by its time, also what repeats; what is over, was
// cancelled or repeats absurdly is not.
func TestAhead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.ics")
	text := ics(
		event("1", "Soon", "20261123T091000Z"), event("2", "Later", "20261123T100000Z"), event("3", "Over", "20261123T085900Z"),
		event("4", "Daily", "20260101T090500Z", "RRULE:FREQ=DAILY"), event("5", "Never", "20261123T090500Z", "STATUS:CANCELLED"),
		event("6", "Absurd", "19700101T000000Z", "RRULE:FREQ=SECONDLY"),
	)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := calendar.New(calendar.Options{Path: file, Zone: zone, Now: now, Ahead: 15 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Look(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var soon []string
	for _, it := range f.Items {
		if strings.HasPrefix(it.ID, "soon ") {
			soon = append(soon, it.Title)
		}
	}
	want := "Soon begins at 09:10 on Monday 23 November|Daily begins at 09:05 on Monday 23 November"
	if got := strings.Join(soon, "|"); got != want || f.Again != 45*time.Minute {
		t.Errorf("soon %q, again in %s", got, f.Again)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(ics(event("a", "b", "20261123T091000Z"))))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = calendar.Parse(b) })
}
