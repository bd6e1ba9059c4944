//go:build linux

package netlab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Lab is one network with all that is in it. It is gone when the test ends.
type Lab struct {
	t      testing.TB
	prefix string
	dir    string
	hosts  []*Host
}

// New makes a lab with two switches, "br0" and "br1".
func New(t testing.TB, programs ...string) *Lab {
	t.Helper()
	missing := ""
	for _, p := range append([]string{"ip", "nsenter", "setpriv", "unshare"}, programs...) {
		if _, err := exec.LookPath(p); err != nil {
			missing = p
		}
	}
	l := &Lab{t: t, dir: t.TempDir()}
	if missing == "" {
		missing = l.claim()
	}
	if missing != "" {
		if os.Getenv("HEARTH_REQUIRE_LAB") != "" {
			t.Fatalf("the network lab needs %s", missing)
		}
		t.Skipf("the network lab needs %s; build/test --only lab installs what is missing", missing)
	}
	t.Cleanup(func() { l.run("ip", "netns", "del", l.space("sw")) })
	l.inSpace("sw", "link", "set", "lo", "up")
	for _, b := range []string{"br0", "br1"} {
		l.inSpace("sw", "link", "add", b, "type", "bridge", "mcast_snooping", "0")
		l.inSpace("sw", "link", "set", b, "up")
	}
	return l
}

// claim takes the first free letter for the names of this lab: several of one
// process may run at the same time. It returns what it lacks.
func (l *Lab) claim() string {
	said := []byte("too many labs at a time")
	for c := 'a'; c <= 'z'; c++ {
		l.prefix = fmt.Sprintf("hl%d%c-", os.Getpid()%100000, c)
		if _, err := os.Stat("/run/netns/" + l.space("sw")); err == nil {
			continue
		}
		out, err := exec.Command("ip", "netns", "add", l.space("sw")).CombinedOutput()
		if err == nil {
			return ""
		}
		if said = out; !strings.Contains(string(out), "File exists") {
			break
		}
	}
	return "the right to make network namespaces (" + strings.TrimSpace(string(said)) + ")"
}

func (l *Lab) space(name string) string { return l.prefix + name }

func (l *Lab) run(name string, args ...string) {
	l.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		l.t.Errorf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
}

func (l *Lab) inSpace(space string, args ...string) {
	l.t.Helper()
	l.run("ip", append([]string{"-n", l.space(space)}, args...)...)
}

// Patience is for what happens at once on a quiet machine. A test waits that
// long for a condition, so that a busy machine only makes it late.
const Patience = time.Minute

// Until waits for something to become true, and fails the test if it does not.
func (l *Lab) Until(most time.Duration, what string, is func() bool) {
	l.t.Helper()
	if !Wait(most, is) {
		l.t.Errorf("within %s: %s", most, what)
	}
}

// Wait asks until something is true or the time is over.
func Wait(most time.Duration, is func() bool) bool {
	end := time.After(most)
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		if is() {
			return true
		}
		select {
		case <-end:
			return is()
		case <-look.C:
		}
	}
}

// Host is a machine of the lab, with a host name and a /run of its own.
type Host struct {
	l      *Lab
	Name   string
	pid    int
	person bool
}

// Host adds a machine without a network.
func (l *Lab) Host(name string) *Host {
	l.t.Helper()
	h := &Host{l: l, Name: name}
	l.run("ip", "netns", "add", l.space(name))
	l.t.Cleanup(func() { l.run("ip", "netns", "del", l.space(name)) })
	l.inSpace(name, "link", "set", "lo", "up")
	l.run("ip", "netns", "exec", l.space(name), "sysctl", "-qw", "net.ipv6.conf.default.accept_dad=0", "net.ipv6.conf.all.accept_dad=0")
	hold := exec.Command("ip", "netns", "exec", l.space(name), "unshare", "--uts", "--mount", "--propagation", "private", "sleep", "100000")
	hold.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := hold.Start(); err != nil {
		l.t.Fatal(err)
	}
	h.pid = hold.Process.Pid
	l.t.Cleanup(func() { _ = hold.Process.Kill(); _ = hold.Wait() })
	l.Until(Patience, name+" is up", func() bool {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", h.pid))
		return err == nil && strings.TrimSpace(string(b)) == "sleep"
	})
	if err := coverRun(h.pid); err != nil {
		l.t.Fatal(err)
	}
	for _, args := range [][]string{{"hostname", "gw-" + name}, {"mkdir", "-p", "/run/avahi-daemon", "/run/dbus"}} {
		if out, err := h.Command(l.t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			l.t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	l.hosts = append(l.hosts, h)
	return h
}

// Plug gives the machine a cable to a switch, and addresses ("10.0.0.1/24");
// "" is none.
func (h *Host) Plug(name, bridge, v4, v6 string) {
	h.l.t.Helper()
	h.l.inSpace("sw", "link", "add", h.Name+"-"+name, "type", "veth", "peer", "name", name, "netns", h.l.space(h.Name))
	h.l.inSpace("sw", "link", "set", h.Name+"-"+name, "master", bridge, "up")
	h.IP("link", "set", name, "up")
	if v4 != "" {
		h.IP("addr", "add", v4, "dev", name)
	}
	if v6 != "" {
		h.IP("-6", "addr", "add", v6, "dev", name, "nodad")
	}
}

// IP runs ip on the machine.
func (h *Host) IP(args ...string) { h.l.t.Helper(); h.l.inSpace(h.Name, args...) }

// Firewall drops arriving packets of UDP port 5353: all, or so many percent.
func (h *Host) Firewall(percent int) {
	h.l.t.Helper()
	rule := "table inet f {\n chain i {\n type filter hook input priority 0\n udp dport 5353 "
	if percent < 100 {
		rule += fmt.Sprintf("numgen random mod 100 < %d ", percent)
	}
	cmd := h.Command(h.l.t.Context(), "nft", "-f", "-")
	cmd.Stdin = strings.NewReader(rule + "drop\n }\n}\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		h.l.t.Errorf("nft: %v: %s", err, out)
	}
}

// Person is the machine for who uses it: their programs have none of the rights
// that the lab has over its network. For root they are root's.
func (h *Host) Person() *Host {
	p := *h
	p.person = true
	return &p
}

// Command is a program on that machine.
func (h *Host) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	wd, _ := os.Getwd()
	in := []string{"-t", fmt.Sprint(h.pid), "--net", "--uts", "--mount", "--wdns=" + wd}
	if h.person {
		in = append(in, "setpriv", "--inh-caps=-all", "--ambient-caps=-all")
	}
	cmd := exec.CommandContext(ctx, "nsenter", append(append(in, name), args...)...)
	cmd.Env = append(os.Environ(), "DBUS_SYSTEM_BUS_ADDRESS=unix:path="+h.bus())
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// Output runs a program on the machine for at most so long and returns what it
// said.
func (h *Host) Output(most time.Duration, name string, args ...string) string {
	ctx, cancel := context.WithTimeout(h.l.t.Context(), most)
	defer cancel()
	out, _ := h.Command(ctx, name, args...).CombinedOutput()
	return string(out)
}

// Process is a program that runs on a machine.
type Process struct {
	cmd  *exec.Cmd
	out  lockedBuffer
	done chan struct{}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Start runs a program on the machine until it is stopped or the test ends.
func (h *Host) Start(env []string, name string, args ...string) *Process {
	h.l.t.Helper()
	// Not the test's context: what is killed with it could not say goodbye.
	p := &Process{cmd: h.Command(context.WithoutCancel(h.l.t.Context()), name, args...), done: make(chan struct{})}
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	if err := p.cmd.Start(); err != nil {
		h.l.t.Fatal(err)
	}
	go func() { _ = p.cmd.Wait(); close(p.done) }()
	h.l.t.Cleanup(func() { p.end(syscall.SIGTERM) })
	return p
}

// Output is what it has said so far, errors included.
func (p *Process) Output() string { return p.out.String() }

// Lives reports whether it runs.
func (p *Process) Lives() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// PID is its number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stop asks it to end and waits.
func (p *Process) Stop() { p.end(syscall.SIGTERM) }

// Kill ends it without asking.
func (p *Process) Kill() { p.end(syscall.SIGKILL) }

func (p *Process) end(sig syscall.Signal) {
	_ = p.cmd.Process.Signal(sig)
	select {
	case <-p.done:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

func (h *Host) bus() string { return filepath.Join(h.l.dir, h.Name+".bus") }

const busConfig = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path=%s</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_type="method_call"/><allow send_type="signal"/><allow send_type="method_return"/><allow send_type="error"/><allow receive_type="method_call"/><allow receive_type="method_return"/><allow receive_type="error"/><allow receive_type="signal"/><allow send_destination="*" eavesdrop="true"/></policy></busconfig>`

const avahiConfig = `[server]
use-ipv4=yes
use-ipv6=yes
ratelimit-interval-usec=1000000
ratelimit-burst=1000
[publish]
publish-hinfo=no
publish-workstation=no
[rlimits]
`

// Avahi starts Avahi on the machine: a Bonjour that nobody here wrote.
func (h *Host) Avahi() *Process {
	h.l.t.Helper()
	for name, text := range map[string]string{"dbus": fmt.Sprintf(busConfig, h.bus()), "avahi": avahiConfig} {
		if err := os.WriteFile(filepath.Join(h.l.dir, h.Name+"-"+name+".conf"), []byte(text), 0o644); err != nil {
			h.l.t.Fatal(err)
		}
	}
	_ = os.Remove(h.bus())
	config := filepath.Join(h.l.dir, h.Name+"-dbus.conf")
	bus := h.Start(nil, "dbus-daemon", "--nofork", "--nopidfile", "--print-address", "--config-file="+config)
	// It says its address when it listens; its file is there before.
	h.l.Until(Patience, "the bus is there", func() bool { return strings.Contains(bus.Output(), "unix:path=") })
	p := h.Start(nil, "avahi-daemon", "-f", filepath.Join(h.l.dir, h.Name+"-avahi.conf"), "--no-drop-root", "--no-chroot", "--no-rlimits",
		"--no-proc-title", "--debug")
	if !Wait(Patience, func() bool { return strings.Contains(p.Output(), "Server startup complete") }) {
		h.l.t.Fatalf("Avahi is not up; it runs: %v; it said:\n%s", p.Lives(), p.Output())
	}
	return p
}
