package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// house is a state folder with gateways that come and go.
type house struct {
	t      *testing.T
	home   string
	port   string
	models *scripted.Handler
}

func newHouse(t *testing.T, model string) *house {
	h := &house{t: t, home: t.TempDir(), models: scripted.New()}
	srv := httptest.NewServer(h.models)
	t.Cleanup(srv.Close)
	var err error
	if h.port, err = freePort(); err != nil {
		t.Fatal(err)
	}
	if err := writeSettings(h.home, srv.URL, model); err != nil {
		t.Fatal(err)
	}
	return h
}

// hearth is a run of the program that ends with the test at the latest.
func (h *house) hearth(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(h.t.Context(), "hearth", args...)
	cmd.Env = []string{"HEARTH_HOME=" + h.home, "HOME=" + h.home, "PATH=" + os.Getenv("PATH"), "GORACE=" + noNap}
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// gateway starts one and waits until it answers.
func (h *house) gateway() *exec.Cmd {
	h.t.Helper()
	cmd := h.hearth("gateway", "--quiet", "--port", h.port)
	cmd.Stderr = h.t.Output()
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	if err := await(h.t.Context(), statedir.Dir(h.home)); err != nil {
		h.t.Fatal(err)
	}
	return cmd
}

// kill ends a gateway without warning.
func (h *house) kill(cmd *exec.Cmd) {
	h.t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		h.t.Fatal(err)
	}
	_ = cmd.Wait()
}

// until repeats a command until it prints a text.
func (h *house) until(text string, args ...string) {
	h.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		out, err := h.hearth(args...).Output()
		if strings.Contains(string(out), text) {
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("hearth %v: %q, %v", args, out, err)
		}
	}
}

// talk is a `hearth chat` that is under way.
type talk struct {
	*exec.Cmd
	t    *testing.T
	out  *bufio.Reader
	said strings.Builder
	errs syncBuffer
}

func (h *house) talk(args ...string) *talk {
	h.t.Helper()
	k := &talk{Cmd: h.hearth(append([]string{"chat"}, args...)...), t: h.t}
	pipe, err := k.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	k.out, k.Stderr = bufio.NewReader(pipe), &k.errs
	if err := k.Start(); err != nil {
		h.t.Fatal(err)
	}
	return k
}

// until reads the answer until it holds a text.
func (k *talk) until(text string) {
	k.t.Helper()
	for !strings.Contains(k.said.String(), text) {
		r, _, err := k.out.ReadRune()
		if err != nil {
			k.t.Fatalf("the answer ended with %q: %v\n%s", k.said.String(), err, k.errs.String())
		}
		k.said.WriteRune(r)
	}
}

// end reads the rest and returns the exit code.
func (k *talk) end() int {
	k.t.Helper()
	b, err := io.ReadAll(k.out)
	if err != nil {
		k.t.Fatal(err)
	}
	k.said.Write(b)
	err = k.Wait()
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) {
		k.t.Fatal(err)
	}
	return k.ProcessState.ExitCode()
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// A gateway killed in the middle of an answer: the words that were printed are
// not printed again, and the command says that the answer is not whole.
func TestFault_F_CRASH_02_ChatOverAKill(t *testing.T) {
	h := newHouse(t, "stream-400-20")
	gw := h.gateway()
	k := h.talk("count")
	k.until("w70 ") // beyond the first second, when what was said is stored
	h.kill(gw)
	h.gateway()
	if code := k.end(); code != 5 {
		t.Errorf("exit code %d, want 5\n%s", code, k.errs.String())
	}
	said := k.said.String()
	if strings.Count(said, "re: count") != 1 || strings.Count(said, "w3 ") != 1 {
		t.Errorf("words were lost or printed twice: %q", said)
	}
	if e := k.errs.String(); !strings.Contains(e, "connection was lost") || !strings.Contains(e, "stopped while it was answering") {
		t.Errorf("the person was told: %q", e)
	}
	if n := h.models.Calls("count"); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

// Killed before anything of the answer was stored: the run is begun again, and
// the command prints on where the new answer goes beyond the old one.
func TestFault_F_CRASH_02_ChatOverAnEarlyKill(t *testing.T) {
	h := newHouse(t, "stream-30-20")
	gw := h.gateway()
	k := h.talk("count")
	k.until("w3 ")
	h.kill(gw)
	h.gateway()
	if code := k.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, k.errs.String())
	}
	said := k.said.String()
	for _, once := range []string{"re: count\n", "w1 ", "w3 ", "w30 "} {
		if strings.Count(said, once) != 1 {
			t.Errorf("%q is not there once: %q", once, said)
		}
	}
}

// A message that was accepted and waits behind another answer survives the
// kill: it is answered by the next gateway, once, and the command prints it.
func TestFault_F_CRASH_03_QueuedChatOverAKill(t *testing.T) {
	h := newHouse(t, "echo")
	gw := h.gateway()
	first := h.talk("--model", "scripted/stream-400-20", "first")
	first.until("w70 ")
	second := h.talk("second")
	h.until(`"queuedRuns": 1`, "status", "--json")
	h.kill(gw)
	h.gateway()
	if code := second.end(); code != 0 || second.said.String() != "echo: second\n" {
		t.Errorf("exit code %d, answer %q\n%s", code, second.said.String(), second.errs.String())
	}
	if code := first.end(); code != 5 {
		t.Errorf("first: exit code %d", code)
	}
	if n := h.models.Calls("second"); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

// Ctrl-C stops the answer in the gateway too, not only its printing.
func TestChatInterrupt(t *testing.T) {
	h := newHouse(t, "stream-400-20")
	h.gateway()
	k := h.talk("count")
	k.until("w2 ")
	if err := k.Process.Signal(os.Interrupt); err != nil {
		t.Skip("this system has no interrupts between programs")
	}
	if code := k.end(); code != 130 {
		t.Errorf("exit code %d, want 130\n%s", code, k.errs.String())
	}
	if !strings.HasSuffix(k.said.String(), "\n") {
		t.Errorf("the last line was left open: %q", k.said.String())
	}
	out, err := h.hearth("sessions", "show").Output()
	if err != nil || !strings.Contains(string(out), "aborted") {
		t.Errorf("the conversation shows %q, %v", out, err)
	}
	if s := h.models; s.Snapshot().InFlight != 0 {
		t.Errorf("the model still answers")
	}
}

// Stopping a gateway in good order is no loss to a chat either.
func TestChatOverARestart(t *testing.T) {
	h := newHouse(t, "stream-100-20")
	gw := h.gateway()
	k := h.talk("count")
	k.until("w3 ")
	if err := gw.Process.Signal(os.Interrupt); err != nil {
		t.Skip("this system has no interrupts between programs")
	}
	if err := gw.Wait(); err != nil {
		t.Errorf("gateway: %v", err)
	}
	h.gateway()
	k.end()
	if said := k.said.String(); strings.Count(said, "re: count") != 1 || strings.Count(said, "w3 ") != 1 {
		t.Errorf("words were lost or printed twice: %q", said)
	}
}
