//go:build linux

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/internal/netlab"
)

// machine is one of the lab with a Hearth of its own.
type machine struct {
	*netlab.Host
	t    *testing.T
	exe  string
	home string
}

func newMachine(t *testing.T, l *netlab.Lab, name, v4, v6 string) *machine {
	t.Helper()
	exe, err := exec.LookPath("hearth")
	if err != nil {
		t.Fatal(err)
	}
	h := l.Host(name)
	if v4 != "" {
		h.Plug("eth0", "br0", v4, v6)
	}
	return &machine{Host: h, t: t, exe: exe, home: filepath.Join(t.TempDir(), "home")}
}

func (m *machine) env() []string {
	return []string{"HEARTH_HOME=" + m.home, "HOME=" + filepath.Dir(m.home), "GORACE=" + noNap, "NO_COLOR=1"}
}

// try runs hearth there.
func (m *machine) try(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(m.t.Context(), 30*time.Second)
	defer cancel()
	c := m.Command(ctx, m.exe, args...)
	c.Env = append(c.Env, m.env()...)
	out, err := c.CombinedOutput()
	if strings.Contains(string(out), "DATA RACE") {
		m.t.Errorf("hearth %v: %s", args, out)
	}
	return string(out), err
}

func (m *machine) hearth(args ...string) string {
	m.t.Helper()
	out, err := m.try(args...)
	if err != nil {
		m.t.Fatalf("%s: hearth %v: %v: %s", m.Name, args, err, out)
	}
	return out
}

// gateway starts one and waits until it answers.
func (m *machine) gateway() *netlab.Process {
	m.t.Helper()
	p := m.Start(m.env(), m.exe, "gateway", "--port", "18789")
	if !netlab.Wait(20*time.Second, func() bool { _, err := m.try("status"); return err == nil }) {
		m.t.Fatalf("the gateway does not answer: %s", p.Output())
	}
	return p
}

func newLab(t *testing.T) *netlab.Lab {
	t.Helper()
	if os.Getenv("HEARTH_LAB") == "" {
		t.Skip("the network lab takes long: set HEARTH_LAB=1, as build/test --only lab does")
	}
	return netlab.New(t, "avahi-daemon", "avahi-browse", "dbus-daemon", "openssl", "busybox")
}

// A gateway lets itself be found when it is told to, by us and by Avahi, and
// serves other machines by TLS only.
func TestLabGatewayIsFound(t *testing.T) {
	l := newLab(t)
	home := newMachine(t, l, "h1", "10.77.0.1/24", "fd77::1/64")
	laptop := newMachine(t, l, "h2", "10.77.0.2/24", "fd77::2/64")
	other := newMachine(t, l, "h3", "10.77.0.3/24", "fd77::3/64")
	other.Avahi()
	gw := home.gateway()

	const browse = "_openclaw-gw._tcp"
	see := func() string { return other.Output(8*time.Second, "avahi-browse", "-r", "-p", "-t", browse) }
	knock := func() string {
		return laptop.Output(5*time.Second, "busybox", "nc", "-w", "2", "10.77.0.1", "18789")
	}
	if out := see(); strings.Contains(out, "=;") {
		t.Errorf("it is announced before anybody asked for it: %s", out)
	}
	if out := knock(); !strings.Contains(out, "refused") {
		t.Errorf("it can be reached before anybody asked for it: %s", out)
	}
	if out := home.hearth("lan"); !strings.Contains(out, "Only this machine") {
		t.Error(out)
	}

	if out := home.hearth("lan", "on"); !strings.Contains(out, "10.77.0.1:18789") || !strings.Contains(out, "[fd77::1]:18789") {
		t.Fatalf("%s", out)
	}
	l.Until(5*time.Second, "avahi finds it", func() bool { return strings.Contains(see(), ";10.77.0.1;18789;") })
	start := time.Now()
	out := laptop.hearth("discover", "--time", "1500ms")
	if !strings.Contains(out, "10.77.0.1:18789") || !strings.Contains(out, "Hearth ") {
		t.Errorf("discover: %s", out)
	}
	t.Logf("discover: %s, in %s with all", strings.TrimSpace(out), time.Since(start).Round(time.Millisecond))
	t.Run("TestSec_A_DISC_03_NothingButTheGateway", func(t *testing.T) {
		out := see()
		for _, private := range []string{"gw-h1", "version", "dev", "user", home.home, "root", "sshPort", "cliPath"} {
			if strings.Contains(out, private) {
				t.Errorf("the announcement tells %q: %s", private, out)
			}
		}
	})
	t.Run("TestSec_A_NET_17_TLSOnly", func(t *testing.T) {
		c := laptop.Command(t.Context(), "busybox", "nc", "-w", "3", "10.77.0.1", "18789")
		c.Stdin = strings.NewReader("GET / HTTP/1.1\r\nHost: 10.77.0.1:18789\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
		if out, _ := c.CombinedOutput(); strings.Contains(string(out), "101") || strings.Contains(string(out), "200 OK") {
			t.Errorf("plaintext was answered: %s", out)
		}
		for version, want := range map[string]bool{"-tls1_2": false, "-tls1_3": true} {
			out := laptop.Output(5*time.Second, "openssl", "s_client", "-connect", "10.77.0.1:18789", version)
			if got := strings.Contains(out, "Server certificate"); got != want {
				t.Errorf("%s: %v: %s", version, got, out)
			}
		}
	})

	// A network that comes later is served too.
	home.Plug("eth1", "br1", "10.88.0.1/24", "")
	far := newMachine(t, l, "h5", "", "")
	far.Plug("eth0", "br1", "10.88.0.5/24", "")
	l.Until(12*time.Second, "it is found on a network that came later", func() bool {
		out, err := far.try("discover", "--time", "1s")
		return err == nil && strings.Contains(out, "10.88.0.1:18789") && !strings.Contains(out, "10.77.")
	})

	if out := home.hearth("lan", "off"); !strings.Contains(out, "Only this machine") {
		t.Error(out)
	}
	l.Until(5*time.Second, "it is not announced any more", func() bool { return !strings.Contains(see(), "=;") })
	if out := knock(); !strings.Contains(out, "refused") {
		t.Errorf("it can be reached after it was switched off: %s", out)
	}
	gw.Stop()
	if strings.Contains(gw.Output(), "DATA RACE") {
		t.Error(gw.Output())
	}
}
