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
	ctx, cancel := context.WithTimeout(m.t.Context(), 2*netlab.Patience)
	defer cancel()
	c := m.Person().Command(ctx, m.exe, args...)
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
	p := m.Person().Start(m.env(), m.exe, "gateway", "--port", "18789")
	if !netlab.Wait(netlab.Patience, func() bool { _, err := m.try("status"); return err == nil }) {
		m.t.Fatalf("the gateway does not answer: %s", p.Output())
	}
	return p
}

func newLab(t *testing.T) *netlab.Lab {
	t.Helper()
	if os.Getenv("HEARTH_LAB") == "" {
		t.Skip("the network lab takes long: set HEARTH_LAB=1, as build/test --only lab does")
	}
	return netlab.New(t, "avahi-daemon", "avahi-browse", "dbus-daemon", "openssl", "busybox", "nft")
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
	see := func() string { return other.Output(netlab.Patience, "avahi-browse", "-r", "-p", "-t", browse) }
	knock := func() string {
		return laptop.Output(netlab.Patience, "busybox", "nc", "-w", "20", "10.77.0.1", "18789")
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
	l.Until(netlab.Patience, "avahi finds it", func() bool { return strings.Contains(see(), ";10.77.0.1;18789;") })
	start := time.Now()
	var out string
	l.Until(netlab.Patience, "we find it", func() bool {
		out = laptop.hearth("discover", "--time", "1500ms")
		return strings.Contains(out, "10.77.0.1:18789") && strings.Contains(out, "Hearth ")
	})
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
		c := laptop.Command(t.Context(), "busybox", "nc", "-w", "20", "10.77.0.1", "18789")
		c.Stdin = strings.NewReader("GET / HTTP/1.1\r\nHost: 10.77.0.1:18789\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
		if out, _ := c.CombinedOutput(); strings.Contains(string(out), "101") || strings.Contains(string(out), "200 OK") {
			t.Errorf("plaintext was answered: %s", out)
		}
		for version, want := range map[string]bool{"-tls1_2": false, "-tls1_3": true} {
			out := laptop.Output(netlab.Patience, "openssl", "s_client", "-connect", "10.77.0.1:18789", version)
			if got := strings.Contains(out, "Server certificate"); got != want {
				t.Errorf("%s: %v: %s", version, got, out)
			}
		}
	})

	// A network that comes later is served too.
	home.Plug("eth1", "br1", "10.88.0.1/24", "")
	far := newMachine(t, l, "h5", "", "")
	far.Plug("eth0", "br1", "10.88.0.5/24", "")
	l.Until(netlab.Patience, "it is found on a network that came later", func() bool {
		out, err := far.try("discover", "--time", "1s")
		return err == nil && strings.Contains(out, "10.88.0.1:18789") && !strings.Contains(out, "10.77.")
	})

	if out := home.hearth("lan", "off"); !strings.Contains(out, "Only this machine") {
		t.Error(out)
	}
	l.Until(netlab.Patience, "it is not announced any more", func() bool { return !strings.Contains(see(), "=;") })
	if out := knock(); !strings.Contains(out, "refused") {
		t.Errorf("it can be reached after it was switched off: %s", out)
	}
	gw.Stop()
	if strings.Contains(gw.Output(), "DATA RACE") {
		t.Error(gw.Output())
	}
}

// A machine is paired with a code, controls the gateway over the network, finds
// it again at another address, and is out at once when it is removed. A machine
// in the gateway's place gets nothing.
func TestLabPairing(t *testing.T) {
	l := newLab(t)
	home := newMachine(t, l, "h1", "10.77.0.1/24", "")
	laptop := newMachine(t, l, "h2", "10.77.0.2/24", "")
	third := newMachine(t, l, "h3", "10.77.0.3/24", "")
	gw := home.gateway()

	if out, err := home.try("qr", "--code"); err == nil || !strings.Contains(out, "hearth lan on") {
		t.Errorf("a code that nobody can use: %v %s", err, out)
	}
	home.hearth("lan", "on")
	code := strings.TrimSpace(home.hearth("qr", "--code"))
	start := time.Now()
	if out := laptop.hearth("connect", code, "--name", "home"); !strings.Contains(out, "wss://10.77.0.1:18789") ||
		strings.Contains(out, "admin") {
		t.Errorf("connect: %s", out)
	}
	if out := laptop.hearth("--gateway", "home", "chat", "hello"); strings.TrimSpace(out) == "" {
		t.Error("no answer over the network")
	}
	t.Logf("from the code to the first answer: %s", time.Since(start).Round(time.Millisecond))
	if out := laptop.hearth("--gateway", "home", "status"); !strings.Contains(out, home.home) {
		t.Errorf("status of another gateway: %s", out)
	}
	for name, try := range map[string]struct {
		m    *machine
		args []string
		says string
	}{
		"a second device":            {third, []string{"connect", code}, "already used"},
		"more than it was given":     {laptop, []string{"--gateway", "home", "audit", "list"}, "hearth qr --full"},
		"files of this machine":      {laptop, []string{"--gateway", "home", "config", "get"}, "own machine"},
		"a gateway it does not know": {laptop, []string{"--gateway", "office", "status"}, "home"},
		"half a code":                {third, []string{"connect", code[:40]}, "copy all of it"},
	} {
		if out, err := try.m.try(try.args...); err == nil || !strings.Contains(out, try.says) {
			t.Errorf("%s: %v %s", name, err, out)
		}
	}

	// The address changes: it is found by its id and known by its key.
	home.IP("addr", "del", "10.77.0.1/24", "dev", "eth0")
	home.IP("addr", "add", "10.77.0.77/24", "dev", "eth0")
	l.Until(netlab.Patience, "it is found at its new address", func() bool {
		out, err := laptop.try("--gateway", "home", "status")
		return err == nil && strings.Contains(out, home.home)
	})

	// A firewall that says nothing: it is named, and without it all is as before.
	firewall := home.Command(t.Context(), "nft", "-f", "-")
	firewall.Stdin = strings.NewReader("table inet f {\n chain i {\n type filter hook input priority 0\n tcp dport 18789 drop\n }\n}\n")
	if out, err := firewall.CombinedOutput(); err != nil {
		t.Fatalf("nft: %v: %s", err, out)
	}
	laptop.refusedAs("does a firewall there", "status")
	home.Output(netlab.Patience, "nft", "flush", "ruleset")
	laptop.hearth("--gateway", "home", "status")

	// Somebody else at the old address, with a key of their own.
	third.IP("addr", "add", "10.77.0.1/24", "dev", "eth0")
	rogue := third.gateway()
	third.hearth("lan", "on")
	home.hearth("lan", "off")
	laptop.forgetAddress(t)
	laptop.IP("neigh", "flush", "dev", "eth0") // it would ask the old card first
	if out := laptop.refusedAs("not the gateway you paired with", "status"); !strings.Contains(out, "should be") {
		t.Errorf("TestSec_A_NET_18_Impostor: %s", out)
	}
	if logged, err := os.ReadFile(filepath.Join(third.home, "gateway.log")); err != nil ||
		strings.Contains(string(logged), "connect refused") || strings.Contains(string(logged), "AUTH_") {
		t.Errorf("TestSec_A_DISC_01_NoCredentialByte: the impostor was sent something: %v %s", err, logged)
	}
	rogue.Stop()
	third.IP("addr", "del", "10.77.0.1/24", "dev", "eth0")

	// Removed: what runs is cut off, and nothing starts again.
	home.hearth("lan", "on")
	l.Until(netlab.Patience, "it is there again", func() bool { _, err := laptop.try("--gateway", "home", "status"); return err == nil })
	id := ""
	for _, line := range strings.Split(home.hearth("devices"), "\n") {
		if strings.Contains(line, "setup") {
			id = strings.Fields(line)[0]
		}
	}
	if out := home.hearth("devices", "remove", id); !strings.Contains(out, "Removed") {
		t.Error(out)
	}
	laptop.refusedAs("pair again", "status")
	gw.Stop()
	if strings.Contains(gw.Output()+rogue.Output(), "DATA RACE") {
		t.Error(gw.Output(), rogue.Output())
	}
}

// refusedAs runs a command with the gateway "home" until it fails with these
// words. To succeed is wrong every time; that nobody answers is how it looks
// from a busy machine.
func (m *machine) refusedAs(words string, args ...string) (out string) {
	m.t.Helper()
	if !netlab.Wait(netlab.Patience, func() bool {
		said, err := m.try(append([]string{"--gateway", "home"}, args...)...)
		if out = said; err == nil {
			m.t.Fatalf("hearth %v should fail with %q: %s", args, words, out)
		}
		return strings.Contains(out, words)
	}) {
		m.t.Errorf("hearth %v should fail with %q: %s", args, words, out)
	}
	return out
}

// forgetAddress makes the machine look at the gateway's first address first.
func (m *machine) forgetAddress(t *testing.T) {
	t.Helper()
	file := filepath.Join(m.home, "gateway.remotes")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(b), "10.77.0.77", "10.77.0.1")), 0o600); err != nil {
		t.Fatal(err)
	}
}
