package update_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/release"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/internal/seed"
)

// noted is a house in which everything is ready for another version: the next start
// of the gateway puts it on trial.
func noted(t *testing.T, publish func(*house)) *house {
	t.Helper()
	h := newHouse(t)
	h.env = []string{"HEARTH_FAILPOINT_TIMES=update:health=1500ms,update:watch=800ms"}
	h.start()
	h.runs("0.2.0")
	c := h.dial(t.Context())
	h.say(c, 0)
	_ = c.Close()
	h.stop()
	publish(h)
	if out, err := h.says("update"); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if st, err := release.Read(h.dir); err != nil || st.Trial == nil {
		t.Fatalf("nothing is on trial: %+v %v", st, err)
	}
	return h
}

// say sends message n until it is acknowledged, as far as c goes.
func (h *house) say(c *client.Client, n int) bool {
	return c.Call(h.t.Context(), protocol.MethodChatSend, protocol.ChatSendParams{
		SessionKey: "agent:main:main", Message: fmt.Sprintf("message %d.", n), IdempotencyKey: fmt.Sprintf("m%d", n),
	}, nil) == nil
}

// again is a copy of a house, whose programs share their bytes with it.
func (h *house) again(t *testing.T) *house {
	t.Helper()
	n := *h
	n.t, n.gateway, n.root, n.dir = t, nil, t.TempDir(), statedir.Dir(filepath.Join(t.TempDir(), "state"))
	each := func(from, to string, file func(from, to string) error) {
		err := filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(from, p)
			into := filepath.Join(to, rel)
			switch {
			case d.IsDir():
				return os.MkdirAll(into, 0o700)
			case d.Type()&fs.ModeSymlink != 0:
				at, err := os.Readlink(p)
				if err != nil {
					return err
				}
				return os.Symlink(at, into)
			case !d.Type().IsRegular():
				return nil
			}
			return file(p, into)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	each(h.root, n.root, os.Link)
	each(string(h.dir), string(n.dir), func(from, to string) error {
		b, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if filepath.Base(from) == "update.json" { // names where it is
			b = []byte(strings.NewReplacer(h.root, n.root, string(h.dir), string(n.dir)).Replace(string(b)))
		}
		return os.WriteFile(to, b, 0o600)
	})
	n.meanwhile = n.serve
	return &n
}

// serve starts the gateway again when it ended by itself, as a service does: a version
// that has proved itself is not watched any more.
func (h *house) serve() {
	h.t.Helper()
	if h.gateway == nil {
		return
	}
	// What /proc calls a zombie may be becoming another program: then its first thread is one for a moment.
	var ended unix.Siginfo
	err := unix.Waitid(unix.P_PID, h.gateway.Process.Pid, &ended, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	if err != nil || ended.Signo == 0 {
		return
	}
	h.wholly()
	h.start()
}

// processes are the gateways that run for a house: who watches, and what is watched.
func (h *house) processes() (pids []int) {
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range list {
		env, err := os.ReadFile(path)
		args, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if err == nil && strings.Contains("\x00"+string(env), "\x00HEARTH_HOME="+string(h.dir)+"\x00") &&
			strings.Contains(string(args), "\x00gateway\x00") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// wholly waits until the gateway and all that it started are gone.
func (h *house) wholly() {
	h.t.Helper()
	if h.gateway != nil {
		_ = h.gateway.Wait()
		h.gateway = nil
	}
	for end := time.Now().Add(20 * time.Second); len(h.processes()) > 0; <-time.After(5 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatal("a version goes on without its watcher")
		}
	}
}

// end kills whatever runs for a house until nothing does: what becomes another program
// at this moment is in no list.
func (h *house) end() {
	h.t.Helper()
	if h.gateway != nil {
		_ = h.gateway.Process.Kill()
		_ = h.gateway.Wait()
		h.gateway = nil
	}
	for quiet, late := 0, time.Now().Add(20*time.Second); quiet < 5; <-time.After(5 * time.Millisecond) {
		list := h.processes()
		for _, pid := range list {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if quiet++; len(list) > 0 {
			quiet = 0
		}
		if time.Now().After(late) {
			h.t.Fatal("what runs cannot be killed")
		}
	}
}

// afterSwitch kills at random what runs after a version was put in its place.
type afterSwitch struct {
	r      *rand.Rand
	kills  int
	killed map[string]int // which process
	found  map[string]int // what stood there then
	ended  map[string]int // how it came to an end
}

// kill ends one of the processes, or all of them as a power cut does, at a random
// moment. It says whether who was started ended, so that it has to be started again.
func (a *afterSwitch) kill(h *house, within time.Duration) (started bool) {
	h.t.Helper()
	<-time.After(time.Duration(a.r.Int64N(int64(within))))
	watcher := h.gateway.Process.Pid
	var child int
	pids := h.processes()
	for _, pid := range pids {
		if pid != watcher {
			child = pid
		}
	}
	a.kills++
	switch what := a.r.IntN(3); {
	case what == 0 && child != 0:
		a.killed["the new version"]++
		_ = syscall.Kill(child, syscall.SIGKILL)
		return false
	case what == 1:
		a.killed["the watcher"]++
		_ = syscall.Kill(watcher, syscall.SIGKILL)
	default:
		a.killed["both"]++
		for _, pid := range append(pids, watcher) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	h.wholly()
	return true
}

// look is what must hold at each moment: the programs are of one version, which is
// one of the two.
func (a *afterSwitch) look(h *house) {
	h.t.Helper()
	of := func(program string) string {
		at, err := filepath.EvalSymlinks(filepath.Join(h.root, program))
		if st, serr := os.Stat(at); err != nil || serr != nil || st.Size() == 0 {
			h.t.Fatalf("%s is not there whole: %v %v", program, err, serr)
		}
		if dir := filepath.Base(filepath.Dir(at)); dir != filepath.Base(h.root) {
			return dir
		}
		return "0.2.0" // as it was unpacked
	}
	version := of("hearth")
	if other := of("hearth-channels"); other != version {
		h.t.Fatalf("hearth is %s and hearth-channels %s", version, other)
	}
	st, err := release.Read(h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	a.found[fmt.Sprintf("%s, trial %v, going back %v", version, st.Trial != nil, st.Going != nil)]++
}

// kept looks for what was acknowledged: it is in the database, or in the one that is
// named as kept, with as many messages as are missing.
func (a *afterSwitch) kept(h *house, acked map[int]bool) {
	h.t.Helper()
	out, err := h.says("sessions", "export", "agent:main:main")
	if err != nil {
		h.t.Fatalf("%v %s", err, out)
	}
	missing := 0
	for n := range acked {
		switch strings.Count(out, fmt.Sprintf(`"message %d."`, n)) {
		case 0:
			missing++
		case 1:
		default:
			h.t.Fatalf("message %d is there more than once", n)
		}
	}
	st, err := release.Read(h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	if missing == 0 {
		return
	}
	if st.Last == nil || st.Last.Lost < missing || st.Last.Kept == "" {
		h.t.Fatalf("%d messages are missing, and what is said of it is %+v", missing, st.Last)
	}
	if _, err := os.Stat(st.Last.Kept); err != nil {
		h.t.Fatalf("the newer database was not kept: %v", err)
	}
}

// round lets one house change over, with a kill or several, until it has decided.
func (a *afterSwitch) round(h *house, bad bool) {
	h.t.Helper()
	defer h.end()
	acked, said := map[int]bool{0: true}, 1
	h.start()
	for range 1 + a.r.IntN(4) {
		if a.kill(h, 700*time.Millisecond) {
			a.look(h)
			h.start()
		}
		if a.r.IntN(2) == 0 {
			soon, stop := context.WithTimeout(h.t.Context(), 800*time.Millisecond)
			if c := h.dial(soon); c != nil {
				if h.say(c, said) {
					acked[said] = true
				}
				said++
				_ = c.Close()
			}
			stop()
		}
	}
	st := h.until("at an end", func(s release.State) bool { return s.Trial == nil && s.Going == nil && s.Last != nil })
	want := map[string]string{release.Updated: "0.4.0", release.RolledBack: "0.2.0"}[st.Last.Result]
	if want == "" || bad && want != "0.2.0" {
		h.t.Fatalf("it ended as %+v", st.Last)
	}
	h.runs(want)
	a.ended[st.Last.Result]++
	a.kept(h, acked)
	if st.Last.Result != release.Updated || a.r.IntN(2) == 0 {
		return
	}
	// Back to the old version, and that is killed too.
	back := h.hearth("update", "--back", "--yes")
	if err := back.Start(); err != nil {
		h.t.Fatal(err)
	}
	if a.kill(h, 500*time.Millisecond) {
		a.look(h)
		h.start()
	}
	_ = back.Wait() // it may have met nobody, or somebody who was killed then
	st = h.until("gone back, or not begun", func(s release.State) bool { return s.Going == nil })
	want = "0.4.0"
	if st.Last.Result == release.WentBack {
		want = "0.2.0"
	}
	h.runs(want)
	a.ended["then "+st.Last.Result]++
	a.kept(h, acked)
}

// TestFault_F_OPS_UpdateKilledAfterTheSwitch kills, at random, the version that is on
// trial, the one that watches over it, or both, while it migrates, is looked at, is
// taken back, and while a person goes back from it. The programs are of one version,
// the next start goes on, it comes to an end that is told, and what was acknowledged
// is there or in the database that is named as kept.
func TestFault_F_OPS_UpdateKilledAfterTheSwitch(t *testing.T) {
	good := noted(t, func(h *house) { h.publishReal("0.4.0") })
	hangs := noted(t, func(h *house) { h.publishFaulty("0.5.0", "hang") })
	a := &afterSwitch{r: seed.New(t), killed: map[string]int{}, found: map[string]int{}, ended: map[string]int{}}
	want := seed.Rounds(6, 150)
	for n := 0; a.kills < want && !t.Failed(); n++ {
		from := good
		if n%3 == 1 {
			from = hangs
		}
		t.Run(fmt.Sprint(n), func(t *testing.T) { a.round(from.again(t), from == hangs) })
	}
	t.Logf("%d kills of %v; found %v; in the end %v", a.kills, a.killed, a.found, a.ended)
}
