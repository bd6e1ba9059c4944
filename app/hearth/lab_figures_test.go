//go:build linux

package main

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/internal/netlab"
)

// TestLabFigures measures what docs/bench.md says of the network, between
// machines of the lab. build/bench runs it; it prints and judges nothing.
func TestLabFigures(t *testing.T) {
	if os.Getenv("HEARTH_FIGURES") == "" {
		t.Skip("build/bench --only network measures; a busy machine would only say how busy it is")
	}
	l := newLab(t)
	home := newMachine(t, l, "h1", "10.77.0.1/24", "fd77::1/64")
	laptop := newMachine(t, l, "h2", "10.77.0.2/24", "fd77::2/64")
	other := newMachine(t, l, "h3", "10.77.0.3/24", "fd77::3/64")
	home.gateway()
	home.hearth("lan", "on")
	l.Until(10*time.Second, "it is found", func() bool { out, err := laptop.try("discover", "--time", "1s"); return err == nil && out != "" })

	show("idle-packets", float64(home.idlePackets(laptop)))
	show("discover-go", p95(25, func() time.Duration { return laptop.firstLine("hearth", "discover", "--time", "3s") }))
	show("discover-avahi", p95(8, func() time.Duration {
		avahi := other.Avahi()
		defer avahi.Stop()
		return other.firstLine("=;", "avahi-browse", "-r", "-p", "_openclaw-gw._tcp")
	}))
	show("pair-to-chat", p95(5, func() time.Duration {
		m := &machine{Host: laptop.Host, t: t, exe: laptop.exe, home: filepath.Join(t.TempDir(), "one")}
		code := strings.TrimSpace(home.hearth("qr", "--code"))
		start := time.Now()
		m.hearth("connect", code, "--name", "home")
		m.hearth("--gateway", "home", "chat", "hello")
		return time.Since(start)
	}))
	code := strings.TrimSpace(home.hearth("qr", "--code"))
	laptop.hearth("connect", code, "--name", "home")
	show("reconnect", p95(8, func() time.Duration { return laptop.comesBack(home) }))

	list := filepath.Join(t.TempDir(), "devices")
	enrol := home.play("enrol", "500", list)
	enrol.Stop()
	crowd := laptop.play("crowd", list, "home")
	defer crowd.Stop()
	l.Until(60*time.Second, "all are there", func() bool { return strings.Contains(crowd.Output(), "all in") })
	var ms float64
	_, rest, _ := strings.Cut(crowd.Output(), "all in ")
	if _, err := fmt.Sscan(rest, &ms); err != nil {
		t.Error(crowd.Output())
	}
	show("crowd-of-500", ms)
}

func show(name string, v float64) { fmt.Printf("figure %s %.3f\n", name, v) }

// p95 is in milliseconds.
func p95(n int, measure func() time.Duration) float64 {
	var all []time.Duration
	for range n {
		all = append(all, measure())
	}
	slices.Sort(all)
	return float64(all[min(n-1, n*95/100)].Microseconds()) / 1000
}

// firstLine is how long a program takes, from its start, to a line with a text;
// "hearth" is ours, and any line.
func (m *machine) firstLine(has string, args ...string) time.Duration {
	m.t.Helper()
	if has == "hearth" {
		args, has = append([]string{m.exe}, args...), ""
	}
	ctx, cancel := context.WithTimeout(m.t.Context(), 15*time.Second)
	defer cancel()
	c := m.Person().Command(ctx, args[0], args[1:]...)
	c.Env = append(c.Env, m.env()...)
	out, err := c.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	start := time.Now()
	if err := c.Start(); err != nil {
		m.t.Fatal(err)
	}
	defer func() { cancel(); _ = c.Wait() }()
	for in := bufio.NewScanner(out); in.Scan(); {
		if strings.Contains(in.Text(), has) && in.Text() != "" {
			return time.Since(start)
		}
	}
	m.t.Errorf("%v: nothing", args)
	return time.Since(start)
}

// idlePackets is how many packets of Bonjour a gateway sends in a minute in
// which nobody asks.
func (m *machine) idlePackets(asks *machine) int {
	m.t.Helper()
	<-time.After(8 * time.Second) // the announcement itself
	file := filepath.Join(m.t.TempDir(), "packets")
	tap := m.play("count", "eth0", file, "5353")
	defer tap.Stop()
	<-time.After(time.Minute)
	b, err := os.ReadFile(file)
	if err != nil {
		m.t.Fatal(err)
	}
	asks.hearth("discover", "--time", "1s")
	if !netlab.Wait(3*time.Second, func() bool { now, _ := os.ReadFile(file); return len(now) > len(b) }) {
		m.t.Error("an answer was not counted, so the count says nothing")
	}
	return len(b)
}

// playCount INTERFACE FILE PORT: writes a byte for every packet that leaves for
// a port.
func playCount(ctx context.Context, args []string) error {
	f, err := os.Create(args[1])
	if err != nil {
		return err
	}
	defer f.Close()
	var port uint16
	if _, err := fmt.Sscan(args[2], &port); err != nil {
		return err
	}
	return tap(ctx, args[0], func(packet []byte, outgoing bool) {
		const ether = 14
		udp := 0
		switch {
		case len(packet) > ether+28 && packet[12] == 0x08 && packet[ether+9] == unix.IPPROTO_UDP:
			udp = ether + int(packet[ether]&15)*4
		case len(packet) > ether+48 && packet[12] == 0x86 && packet[ether+6] == unix.IPPROTO_UDP:
			udp = ether + 40
		}
		if outgoing && udp > 0 && len(packet) > udp+4 && uint16(packet[udp+2])<<8|uint16(packet[udp+3]) == port {
			_, _ = f.Write([]byte{'.'})
		}
	})
}

// comesBack is how long a connected machine takes, once its network is there
// again, to get an answer.
func (m *machine) comesBack(home *machine) time.Duration {
	m.t.Helper()
	p := m.play("stay", "home")
	defer p.Stop()
	home.rule("tcp dport 18789 reject with tcp reset")
	if !netlab.Wait(20*time.Second, func() bool { return strings.Contains(p.Output(), "lost") }) {
		m.t.Errorf("it does not notice: %s", p.Output())
	}
	<-time.After(1500 * time.Millisecond)
	start := time.Now()
	home.Output(5*time.Second, "nft", "flush", "ruleset")
	if !netlab.Wait(20*time.Second, func() bool { return strings.Contains(p.Output(), "back") }) {
		m.t.Errorf("it does not come back: %s", p.Output())
	}
	return time.Since(start)
}

func (m *machine) rule(text string) {
	m.t.Helper()
	c := m.Command(m.t.Context(), "nft", "-f", "-")
	c.Stdin = strings.NewReader("table inet g {\n chain i {\n type filter hook input priority 0\n " + text + "\n }\n}\n")
	if out, err := c.CombinedOutput(); err != nil {
		m.t.Fatalf("nft: %v %s", err, out)
	}
}

// playStay NAME: stays connected as programs do, and says when it was not.
func playStay(ctx context.Context, args []string) error {
	dir := statedir.Dir(os.Getenv("HEARTH_HOME"))
	r, err := client.FindRemote(dir, args[0])
	if err != nil {
		return err
	}
	me, err := client.RemoteIdentity(ctx, dir)
	if err != nil {
		return err
	}
	link := &client.Link{OnLost: func(error) { fmt.Println("lost") }, Dial: func(ctx context.Context) (*client.Client, error) {
		c, _, err := client.DialPinned(ctx, r.URLs, r.Pins, nil, client.Options{Device: me, Auth: &protocol.Auth{DeviceToken: r.DeviceToken},
			Scopes: []protocol.Scope{protocol.ScopeRead}, Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Version: "test"}})
		return c, err
	}}
	defer link.Close()
	first, err := link.Client(ctx)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for ctx.Err() == nil {
		c, err := link.Client(ctx)
		if err != nil {
			return err
		}
		if err := c.Call(ctx, protocol.MethodHealth, struct{}{}, nil); err == nil && c != first {
			fmt.Println("back")
			<-ctx.Done()
		}
		<-time.After(10 * time.Millisecond)
	}
	return nil
}

// enrolled is a device that was paired on the gateway's own machine.
type enrolled struct {
	Seed  []byte
	Token string
}

// playEnrol COUNT FILE: pairs so many devices, as this machine may.
func playEnrol(ctx context.Context, args []string) error {
	n := 0
	if _, err := fmt.Sscan(args[0], &n); err != nil {
		return err
	}
	dir := statedir.Dir(os.Getenv("HEARTH_HOME"))
	all := make([]enrolled, n)
	for i := range all {
		seed := make([]byte, ed25519.SeedSize)
		_, _ = rand.Read(seed)
		c, err := client.Open(ctx, dir, client.Options{Device: &client.Identity{Key: ed25519.NewKeyFromSeed(seed)},
			Scopes: []protocol.Scope{protocol.ScopeRead}, Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Version: "test"}})
		if err != nil {
			return err
		}
		all[i] = enrolled{seed, c.Hello().Auth.DeviceToken}
		_ = c.Close()
	}
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return os.WriteFile(args[1], b, 0o600)
}

// playCrowd FILE NAME: all of the devices come at once, by TLS, and try again as
// programs do when they are sent away.
func playCrowd(ctx context.Context, args []string) error {
	b, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var all []enrolled
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	r, err := client.FindRemote(statedir.Dir(os.Getenv("HEARTH_HOME")), args[1])
	if err != nil {
		return err
	}
	fmt.Println("ready")
	var in, again atomic.Int64
	var work sync.WaitGroup
	start := time.Now()
	for _, d := range all {
		work.Go(func() {
			for ctx.Err() == nil {
				c, _, err := client.DialPinned(ctx, r.URLs[:1], r.Pins, nil,
					client.Options{Device: &client.Identity{Key: ed25519.NewKeyFromSeed(d.Seed)},
						Auth: &protocol.Auth{DeviceToken: d.Token}, Scopes: []protocol.Scope{protocol.ScopeRead}, Client: protocol.ClientInfo{
							ID: "cli", Mode: "cli", Version: "test"}})
				var refusal *protocol.Error
				if errors.As(err, &refusal) && !refusal.Retryable {
					fmt.Println(err)
					return
				}
				if err != nil {
					again.Add(1)
					<-time.After(100 * time.Millisecond)
					continue
				}
				in.Add(1)
				defer c.Close()
				break
			}
			if in.Load() == int64(len(all)) {
				return
			}
			<-ctx.Done()
		})
	}
	for in.Load() < int64(len(all)) && ctx.Err() == nil {
		<-time.After(5 * time.Millisecond)
	}
	fmt.Printf("all in %.1f ms, %d tried again\n", float64(time.Since(start).Microseconds())/1000, again.Load())
	<-ctx.Done()
	work.Wait()
	return nil
}
