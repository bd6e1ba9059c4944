//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf16"

	"golang.org/x/sys/unix"

	"github.com/hearth-assistant/hearth/discovery"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/internal/netlab"
)

// What this binary is when the lab starts it as one of the attackers.
const (
	labRole = "HEARTH_LAB_ROLE"
	labArgs = "HEARTH_LAB_ARGS"
)

// TestLabRole is what the lab's attackers run.
func TestLabRole(t *testing.T) {
	play := map[string]func(context.Context, []string) error{"between": playBetween, "listen": playListen, "announce": playAnnounce,
		"invoke": playInvoke, "count": playCount, "stay": playStay, "enrol": playEnrol, "crowd": playCrowd,
		"model": playModel}[os.Getenv(labRole)]
	if play == nil {
		t.Skip("only the lab's attackers run this")
	}
	ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGTERM)
	defer stop()
	if err := play(ctx, strings.Split(os.Getenv(labArgs), "\n")); err != nil {
		t.Error(err)
	}
}

func (m *machine) play(role string, args ...string) *netlab.Process {
	m.t.Helper()
	exe, err := filepath.Abs(os.Args[0])
	if err != nil {
		m.t.Fatal(err)
	}
	env := append(m.env(), labRole+"="+role, labArgs+"="+strings.Join(args, "\n"))
	p := m.Start(env, exe, "-test.run=^TestLabRole$", "-test.timeout=0")
	if !netlab.Wait(netlab.Patience, func() bool { return strings.Contains(p.Output(), "ready") }) {
		m.t.Fatalf("%s does not start: %s", role, p.Output())
	}
	return p
}

// playBetween OWN TO FILE: answers TLS with a certificate of its own, asks TO
// for everything, and writes down every byte that it can read.
func playBetween(ctx context.Context, args []string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		return err
	}
	heard, err := os.Create(args[2])
	if err != nil {
		return err
	}
	defer heard.Close()
	ln, err := tls.Listen("tcp", args[0], &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = ln.Close() })()
	fmt.Println("ready")
	var mu sync.Mutex
	copyAll := func(to, from net.Conn) {
		defer to.Close()
		defer from.Close()
		b := make([]byte, 64<<10)
		for {
			n, err := from.Read(b)
			mu.Lock()
			_, _ = heard.Write(b[:n])
			mu.Unlock()
			if err != nil {
				return
			}
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
	}
	for {
		in, err := ln.Accept()
		if err != nil {
			return nil
		}
		fmt.Println("somebody came")
		out, err := tls.Dial("tcp", args[1], &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			_ = in.Close()
			continue
		}
		go copyAll(in, out)
		go copyAll(out, in)
	}
}

// playListen INTERFACE FILE: writes down every packet of its machine's cable.
func playListen(ctx context.Context, args []string) error {
	f, err := os.Create(args[1])
	if err != nil {
		return err
	}
	defer f.Close()
	return tap(ctx, args[0], func(packet []byte, _ bool) { _, _ = f.Write(words(packet)) })
}

// tap hands over every packet of an interface.
func tap(ctx context.Context, name string, take func(packet []byte, outgoing bool)) error {
	const all = unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8
	s, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, all)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	ni, err := net.InterfaceByName(name)
	if err != nil {
		return err
	}
	if err := unix.Bind(s, &unix.SockaddrLinklayer{Protocol: all, Ifindex: ni.Index}); err != nil {
		return err
	}
	_ = unix.SetsockoptTimeval(s, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 200_000})
	fmt.Println("ready")
	b := make([]byte, 1<<16)
	for ctx.Err() == nil {
		if n, from, err := unix.Recvfrom(s, b, 0); err == nil {
			link, _ := from.(*unix.SockaddrLinklayer)
			take(b[:n], link != nil && link.Pkttype == unix.PACKET_OUTGOING)
		}
	}
	return nil
}

// words are what a packet carries: of TCP without its head, so that what goes
// over several packets of one direction stands together.
func words(frame []byte) []byte {
	const ether = 14
	if len(frame) < ether+20 || binary.BigEndian.Uint16(frame[12:]) != 0x0800 || frame[ether+9] != unix.IPPROTO_TCP {
		return frame
	}
	ip := frame[ether:]
	ip = ip[:min(len(ip), int(binary.BigEndian.Uint16(ip[2:])))]
	head := int(ip[0]&15) * 4
	if len(ip) < head+20 {
		return frame
	}
	tcp := ip[head:]
	return tcp[min(len(tcp), int(tcp[12]>>4)*4):]
}

// playAnnounce NAME PORT ID: says by Bonjour that it is somebody else.
func playAnnounce(ctx context.Context, args []string) error {
	port := 0
	if _, err := fmt.Sscan(args[1], &port); err != nil {
		return err
	}
	a, err := discovery.New(discovery.Options{Name: args[0], ID: args[2], Port: port,
		Text: map[string]string{"role": "gateway", "gatewayTls": "1", "id": args[2]}, OnState: func(discovery.State) {}})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	a.Run(ctx)
	return nil
}

// forms are the ways in which a word could be written.
func forms(word string) map[string][]byte {
	utf := []byte{}
	for _, u := range utf16.Encode([]rune(word)) {
		utf = binary.LittleEndian.AppendUint16(utf, u)
	}
	out := map[string][]byte{"as it is": []byte(word), "in hex": []byte(hex.EncodeToString([]byte(word))), "in UTF-16": utf}
	for shift := range 3 { // base64 depends on what stands before
		raw := base64.StdEncoding.EncodeToString(append(bytes.Repeat([]byte{'x'}, shift), word...))
		inner := raw[4 : len(raw)-4]
		out[fmt.Sprint("in base64, ", shift)] = []byte(inner)
		out[fmt.Sprint("in base64url, ", shift)] = []byte(strings.NewReplacer("+", "-", "/", "_").Replace(inner))
	}
	return out
}

// heard fails the test for every secret that a file has in it, in any form.
func heard(t *testing.T, file string, secrets map[string]string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for what, word := range secrets {
		if len(word) < 12 {
			t.Errorf("%s is too short to look for: %q", what, word)
			continue
		}
		for form, w := range forms(word) {
			if bytes.Contains(b, w) {
				t.Errorf("%s was read %s by somebody else", what, form)
			}
		}
	}
}

// Pairing, chat and rights over the network, with one machine that listens to
// every packet and one that would like to be the gateway.
func TestLabManInTheMiddle(t *testing.T) {
	l := newLab(t)
	home := newMachine(t, l, "h1", "10.77.0.1/24", "")
	laptop := newMachine(t, l, "h2", "10.77.0.2/24", "")
	thief := newMachine(t, l, "h3", "10.77.0.3/24", "")
	gw := home.gateway()
	home.hearth("lan", "on")
	dir := t.TempDir()
	packets := filepath.Join(dir, "packets")
	tap := laptop.play("listen", "eth0", packets)

	// By a code, with everything that is secret about it.
	const question = "the quiet word is seven-three-nine-one"
	code := strings.TrimSpace(home.hearth("qr", "--code"))
	start := time.Now()
	laptop.hearth("connect", code, "--name", "home")
	answer := strings.TrimSpace(laptop.hearth("--gateway", "home", "chat", question))
	t.Logf("from the code to the first answer: %s", time.Since(start).Round(time.Millisecond))
	parsed, err := protocol.ParseSetupCode(code)
	if err != nil {
		t.Fatal(err)
	}
	known, err := client.FindRemote(statedir.Dir(laptop.home), "home")
	if err != nil {
		t.Fatal(err)
	}
	shared, err := os.ReadFile(statedir.Dir(home.home).Token())
	if err != nil {
		t.Fatal(err)
	}
	secrets := map[string]string{"the setup code": parsed.BootstrapToken, "the device's token": known.DeviceToken,
		"the shared token": strings.TrimSpace(string(shared)), "the question": question, "the answer": answer}

	// The key is going to change: who connects learns the next one, from the old.
	home.hearth("lan", "rotate")
	laptop.hearth("--gateway", "home", "status")
	if again, err := client.FindRemote(statedir.Dir(laptop.home), "home"); err != nil || len(again.Pins) != 2 ||
		again.Pins[0] != known.Pins[0] {
		t.Errorf("the next key was not learned: %v %v", again.Pins, err)
	}

	// By digits, from a second machine of the same person.
	guest := &machine{Host: laptop.Host, t: t, exe: laptop.exe, home: filepath.Join(t.TempDir(), "guest")}
	byDigits(t, home, guest)
	if out := guest.hearth("--gateway", "house", "chat", question); strings.TrimSpace(out) == "" {
		t.Error("no answer after pairing by digits")
	}
	second, err := client.FindRemote(statedir.Dir(guest.home), "house")
	if err != nil {
		t.Fatal(err)
	}
	secrets["the second device's token"] = second.DeviceToken

	// What listens hears what is said in the clear, or it proves nothing.
	const clear = "this is said in the clear for all"
	l.Until(netlab.Patience, "the tap works", func() bool {
		c := laptop.Command(t.Context(), "busybox", "nc", "-w", "5", "10.77.0.1", "18789")
		c.Stdin = strings.NewReader(clear + "\n")
		_ = c.Run()
		b, err := os.ReadFile(packets)
		return err == nil && bytes.Contains(b, []byte(clear))
	})
	tap.Stop()
	t.Run("TestSec_A_NET_17_NothingInTheClear", func(t *testing.T) { heard(t, packets, secrets) })

	theft(t, home, laptop, thief, filepath.Join(dir, "heard"), secrets)

	// Removed: the second machine is out, also by digits of before.
	removed(t, home, guest)
	gw.Stop()
	if strings.Contains(gw.Output(), "DATA RACE") {
		t.Error(gw.Output())
	}
}

// theft: a machine says by Bonjour that it is the gateway, ends TLS with a key
// of its own and passes on what it hears.
func theft(t *testing.T, home, laptop, thief *machine, file string, secrets map[string]string) {
	var st protocol.ReachStatus
	if err := json.Unmarshal([]byte(home.hearth("lan", "--json")), &st); err != nil {
		t.Fatal(err)
	}
	between := thief.play("between", "10.77.0.3:18789", "10.77.0.1:18789", file)
	defer between.Stop()
	rumour := thief.play("announce", "Thief", "18789", st.ID)
	defer rumour.Stop()
	laptop.IP("route", "add", "prohibit", "10.77.0.1/32")
	if !netlab.Wait(netlab.Patience, func() bool {
		out, _ := laptop.try("discover", "--time", "1s")
		return strings.Contains(out, "10.77.0.3:18789")
	}) {
		t.Error("the thief is not found; the test proves nothing")
	}
	t.Run("TestSec_A_DISC_05_NobodyIsCalledUnasked", func(t *testing.T) {
		if strings.Contains(between.Output(), "somebody came") {
			t.Error("looking for gateways connected to one")
		}
	})
	t.Run("TestSec_A_DISC_01_APairedMachineIsNotLedAway", func(t *testing.T) {
		laptop.refusedAs("not the gateway you paired with", "chat", "hello there, is that you")
		if !strings.Contains(between.Output(), "somebody came") {
			t.Error(between.Output())
		}
		if b, err := os.ReadFile(file); err != nil || len(b) > 0 {
			t.Errorf("it read %q %v", b, err)
		}
	})
	t.Run("TestSec_A_NET_18_NothingIsPairedThroughIt", func(t *testing.T) {
		victim := &machine{Host: laptop.Host, t: t, exe: laptop.exe, home: filepath.Join(t.TempDir(), "victim")}
		before := home.hearth("devices", "--json")
		c, cancel := victim.asking("10.77.0.3:18789", "y\n")
		defer cancel()
		out, err := c.CombinedOutput()
		if err == nil {
			t.Errorf("paired: %s", out)
		}
		if all, err := client.Remotes(statedir.Dir(victim.home)); err != nil || len(all) != 0 {
			t.Errorf("it is known now: %+v %v", all, err)
		}
		if after := home.hearth("devices", "--json"); len(waitingIn(t, after)) != 0 || strings.Count(after, `"deviceId"`) != strings.Count(before,
			`"deviceId"`) {
			t.Errorf("the gateway: %s", after)
		}
		heard(t, file, secrets)
	})
	laptop.IP("route", "del", "prohibit", "10.77.0.1/32")
}

// asking is `hearth connect` with answers of a person.
func (m *machine) asking(where, answers string) (*exec.Cmd, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(m.t.Context(), 2*netlab.Patience)
	c := m.Person().Command(ctx, m.exe, "connect", where, "--name", "house")
	c.Env = append(c.Env, m.env()...)
	c.Stdin = strings.NewReader(answers)
	return c, cancel
}

func waitingIn(t *testing.T, devices string) []protocol.PairRequest {
	t.Helper()
	var list protocol.PairedDevices
	if err := json.Unmarshal([]byte(devices), &list); err != nil {
		t.Fatal(err, devices)
	}
	return list.Pending
}

// byDigits pairs a machine that has no code, as two people do.
func byDigits(t *testing.T, home, guest *machine) {
	t.Helper()
	c, cancel := guest.asking("10.77.0.1:18789", "y\n")
	defer cancel()
	var said bytes.Buffer
	out, in := io.Pipe()
	c.Stdout, c.Stderr = in, in
	read := make(chan struct{})
	go func() { _, _ = io.Copy(&said, out); close(read) }()
	start := time.Now()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var asks []protocol.PairRequest
	if !netlab.Wait(netlab.Patience, func() bool { asks = waitingIn(t, home.hearth("devices", "--json")); return len(asks) == 1 }) {
		t.Fatal("nobody asks")
	}
	if out, err := home.try("devices", "approve", asks[0].RequestID, "--code", protocol.ShownCode(asks[0].Code)); err != nil ||
		strings.Contains(out, "admin") {
		t.Errorf("%v %s", err, out)
	}
	err := c.Wait()
	_ = in.Close()
	<-read
	if err != nil || !strings.Contains(said.String(), protocol.ShownCode(asks[0].Code)) || strings.Contains(said.String(), "DATA RACE") {
		t.Errorf("here %s, there %v: %s", asks[0].Code, err, said.String())
	}
	t.Logf("paired by digits in %s", time.Since(start).Round(time.Millisecond))
}

// removed takes the machine's access away and sees that it is out.
func removed(t *testing.T, home, guest *machine) {
	t.Helper()
	var list protocol.PairedDevices
	if err := json.Unmarshal([]byte(home.hearth("devices", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	for _, d := range list.Paired {
		if d.ApprovedVia == "owner" {
			home.hearth("devices", "remove", d.DeviceID)
		}
	}
	if out, err := guest.try("--gateway", "house", "status"); err == nil {
		t.Errorf("TestSec_A_NET_12: still in: %s", out)
	}
	if asks := waitingIn(t, home.hearth("devices", "--json")); len(asks) != 0 {
		t.Errorf("a removed device with its old token interrupts people: %+v", asks)
	}
}
