//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// command is what the scripted model passes to the tool exec.
func command(text string) string {
	b, _ := json.Marshal(map[string]string{"command": text, "why": "a test"})
	return string(b)
}

// approve says yes to the one request that waits.
func (h *house) approve() {
	h.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		out, err := h.hearth("approvals", "list", "--json").Output()
		var list []struct{ ID string }
		if err == nil && json.Unmarshal(out, &list) == nil && len(list) > 0 {
			if out, err := h.hearth("approvals", "approve", list[0].ID).CombinedOutput(); err != nil {
				h.t.Fatalf("%v %s", err, out)
			}
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("nothing waits: %s %v", out, err)
		}
	}
}

func processesWith(mark string) (out []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, _ := os.ReadFile(f); bytes.Contains(b, []byte(mark)) && !bytes.Contains(b, []byte("chat")) {
			out = append(out, f+" "+string(b))
		}
	}
	return out
}

// The whole way: the model asks, a person says yes, it runs once, confined,
// with a guardian that is this program.
func TestExec(t *testing.T) {
	h := newHouse(t, "tool-text-exec")
	gw := h.gateway()
	k := h.talk(command("echo it ran; echo x >> counter; env"))
	h.approve()
	k.until("it ran")
	if code := k.end(); code != 0 || strings.Contains(k.said.String(), "HEARTH") {
		t.Errorf("%d %q", code, k.said.String())
	}
	if b, err := os.ReadFile(filepath.Join(h.home, "Hearth", "counter")); err != nil || string(b) != "x\n" {
		t.Errorf("%q %v", b, err)
	}
	h.kill(gw)
}

// The gateway is killed while a command runs: nothing of it is left, what it
// would have done does not happen, and the next gateway neither runs it again
// nor says that it went well.
func TestFault_F_CRASH_08_KilledWhileACommandRuns(t *testing.T) {
	h := newHouse(t, "tool-text-exec")
	gw := h.gateway()
	mark := "1000." + strconv.Itoa(os.Getpid())
	k := h.talk(command(fmt.Sprintf("(setsid sleep %s &) ; sleep %s; touch effect", mark, mark)))
	h.approve()
	until(t, "the command did not start", func() bool { return len(processesWith("sleep\x00"+mark)) == 2 })
	h.kill(gw)
	begin := time.Now()
	until(t, "survivors", func() bool { return len(processesWith("sleep\x00"+mark)) == 0 })
	t.Logf("gone after %v", time.Since(begin))
	h.gateway()
	k.end()
	if out, err := h.hearth("approvals", "list").Output(); err != nil || !strings.Contains(string(out), "Nothing waits") {
		t.Errorf("%s %v", out, err)
	}
	if strings.Contains(k.said.String(), "The tool said") {
		t.Errorf("%q", k.said.String())
	}
	if left := processesWith("sleep\x00" + mark); len(left) > 0 {
		t.Errorf("it was run again: %q", left)
	}
	if _, err := os.Stat(filepath.Join(h.home, "Hearth", "effect")); err == nil {
		t.Error("the effect happened")
	}
}

// Killed at any moment around the effect: it happens at most once.
func TestFault_F_CRASH_09_EffectAtMostOnce(t *testing.T) {
	h := newHouse(t, "tool-text-exec")
	counter := filepath.Join(h.home, "Hearth", "counter")
	happened := 0
	for i := range 6 {
		_ = os.Remove(counter)
		gw := h.gateway()
		k := h.talk("--session", "s"+strconv.Itoa(i), command("echo x >> counter; sleep 0.0"+strconv.Itoa(i)))
		h.approve()
		if i%2 == 0 {
			until(t, "no effect", func() bool { _, err := os.Stat(counter); return err == nil })
		}
		h.kill(gw)
		gw = h.gateway()
		k.end()
		b, _ := os.ReadFile(counter)
		if len(b) > 2 {
			t.Errorf("round %d: %q", i, b)
		}
		happened += len(b) / 2
		h.kill(gw)
	}
	if happened < 3 {
		t.Errorf("the effect was seen %d times, so nothing was tested", happened)
	}
}
