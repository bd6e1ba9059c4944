package server

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// rawSocket opens a socket and returns the connection below it, after the
// challenge, for frames that no library would send.
func (g *gateway) rawSocket(t testing.TB) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", g.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\n%s\r\n\r\n", g.addr, strings.Join(upgradeHeaders(), "\r\n"))
	br := bufio.NewReader(conn)
	resp, err := http.ReadResponse(br, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(resp, err)
	}
	if op, _ := readRawFrame(t, br); op != 1 {
		t.Fatalf("first frame has opcode %d", op)
	}
	return conn, br
}

func readRawFrame(t testing.TB, br *bufio.Reader) (opcode byte, payload []byte) {
	t.Helper()
	var head [2]byte
	if _, err := io.ReadFull(br, head[:]); err != nil {
		return 0, nil
	}
	n := uint64(head[1] & 0x7f)
	switch n {
	case 126:
		var l [2]byte
		_, _ = io.ReadFull(br, l[:])
		n = uint64(binary.BigEndian.Uint16(l[:]))
	case 127:
		var l [8]byte
		_, _ = io.ReadFull(br, l[:])
		n = binary.BigEndian.Uint64(l[:])
	}
	payload = make([]byte, n)
	if _, err := io.ReadFull(br, payload); err != nil {
		return 0, nil
	}
	return head[0] & 0x0f, payload
}

// rawClose reads to the close frame and returns its code, 0 without one.
func rawClose(t testing.TB, br *bufio.Reader) int {
	t.Helper()
	for {
		op, payload := readRawFrame(t, br)
		switch {
		case op == 8 && len(payload) >= 2:
			return int(binary.BigEndian.Uint16(payload))
		case op == 0 && payload == nil:
			return 0
		}
	}
}

// rawFrame is a masked frame with a zero mask; extra sets header bits.
func rawFrame(first byte, payload []byte) []byte {
	b := []byte{first, 0x80 | 127}
	b = binary.BigEndian.AppendUint64(b, uint64(len(payload)))
	return append(append(b, 0, 0, 0, 0), payload...)
}

func TestSec_A_DOS_01_HugeFrameBeforeHello(t *testing.T) {
	g := start(t, nil)
	t.Run("70 KB connect", func(t *testing.T) {
		c := g.dial(t, nil)
		p := asCLI()
		p.UserAgent = strings.Repeat("x", 70_000)
		c.send(requestText("1", "connect", p.ConnectParams))
		if ce := c.closed(); ce.Code != websocket.StatusMessageTooBig {
			t.Errorf("%v", ce)
		}
	})
	t.Run("length 2^62", func(t *testing.T) {
		conn, br := g.rawSocket(t)
		head := binary.BigEndian.AppendUint64([]byte{0x81, 0x80 | 127}, 1<<62)
		_, _ = conn.Write(append(head, 0, 0, 0, 0))
		_, _ = conn.Write(make([]byte, protocol.MaxPreAuth+2))
		if code := rawClose(t, br); code != 1009 {
			t.Errorf("closed with %d", code)
		}
	})
	t.Run("continuations", func(t *testing.T) {
		conn, br := g.rawSocket(t)
		_, _ = conn.Write(rawFrame(0x01, nil))
		piece := rawFrame(0x00, make([]byte, 1024))
		for range 66 {
			_, _ = conn.Write(piece)
		}
		if code := rawClose(t, br); code != 1009 {
			t.Errorf("closed with %d", code)
		}
	})
}

func TestSec_A_DOS_02_HugeFrameAfterHello(t *testing.T) {
	g := start(t, nil)
	c := g.connected(t, asCLI())
	if f := c.call("health", map[string]string{"a": strings.Repeat("x", 2<<20)}); !f.OK {
		t.Errorf("2 MiB: %+v", f.Error)
	}
	_ = c.trySend(websocket.MessageText, `{"type":"req","id":"big","method":"health","params":{"a":"`+strings.Repeat("x", 26<<20)+`"}}`)
	if ce := c.closed(); ce.Code != websocket.StatusMessageTooBig {
		t.Errorf("%v", ce)
	}
	if f := g.connected(t, asCLI()).call("health", nil); !f.OK {
		t.Errorf("another client: %+v", f.Error)
	}
}

// Sockets that dribble are ended by time-outs; honest ones are not held up.
func TestSec_A_DOS_03_Slowloris(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startMemory(t, nil)
		ln := g.http.Transport.(*http.Transport).DialContext
		var slow sync.WaitGroup
		for range 200 {
			conn, err := ln(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			slow.Go(func() {
				defer conn.Close()
				go func() { _, _ = io.Copy(io.Discard, conn) }()
				for _, b := range []byte("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + strings.Repeat("a", 100)) {
					if _, err := conn.Write([]byte{b}); err != nil {
						return
					}
					pass(time.Second)
				}
			})
		}
		began := time.Now()
		if f := g.connected(t, asCLI()).call("health", nil); !f.OK {
			t.Errorf("%+v", f)
		}
		if d := time.Since(began); d > 100*time.Millisecond {
			t.Errorf("an honest client waited %v", d)
		}
		slow.Wait()
		if d := time.Since(began); d > 30*time.Second {
			t.Errorf("the slow ones held on for %v", d)
		}
	})
}

// Idle sockets push out each other, never a client that says hello.
func TestSec_A_DOS_04_IdleConnections(t *testing.T) {
	g := start(t, func(o *Options) { o.Limits.Pending, o.Limits.PendingPerPeer = 50, 20 })
	first := g.connected(t, asCLI())
	var idle []*client
	for range 60 {
		idle = append(idle, g.dial(t, nil))
	}
	if f := first.call("health", nil); !f.OK {
		t.Errorf("%+v", f)
	}
	if f := g.connected(t, asCLI()).call("health", nil); !f.OK {
		t.Errorf("%+v", f)
	}
	if ce := idle[0].closed(); ce.Code != websocket.StatusTryAgainLater {
		t.Errorf("%v", ce)
	}
	g.mu.Lock()
	n, peers := g.pending.order.Len(), len(g.pending.peers)
	g.mu.Unlock()
	if n > 20 || peers > 1 {
		t.Errorf("%d sockets of %d peers are waiting", n, peers)
	}
}

func TestSec_A_DOS_04_ConnectionsWithoutRequest(t *testing.T) {
	r := newRawConns(3)
	var conns []net.Conn
	for range 5 {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		r.track(ours, http.StateNew)
		conns = append(conns, ours)
	}
	for i, c := range conns {
		err := c.SetDeadline(time.Time{})
		if closed := errors.Is(err, io.ErrClosedPipe); closed != (i < 2) {
			t.Errorf("connection %d closed: %v", i, closed)
		}
	}
	r.track(conns[2], http.StateClosed)
	r.track(conns[3], http.StateHijacked)
	if r.order.Len() != 1 || len(r.at) != 1 {
		t.Errorf("%d in order, %d known", r.order.Len(), len(r.at))
	}
}

func TestSec_A_DOS_05_ProtocolAbuse(t *testing.T) {
	g := start(t, nil)
	deflated := rawFrame(0xC1, []byte("x")) // RSV1 without the extension
	unmasked := []byte{0x81, 0x02, '{', '}'}
	fragmentedPing := rawFrame(0x09, nil)
	tests := []struct {
		name string
		send []byte
		code int // 0: cut without a close frame is fine too
	}{
		{"compression bomb", deflated, 1002},
		{"unmasked", unmasked, 1002},
		{"fragmented ping", fragmentedPing, 1002},
		{"long ping", rawFrame(0x89, make([]byte, 126)), 1002},
		{"unknown opcode", rawFrame(0x83, nil), 1002},
		{"continuation of nothing", rawFrame(0x80, []byte("x")), 1002},
		{"text inside text", append(rawFrame(0x01, []byte("{")), rawFrame(0x81, []byte("}"))...), 1002},
		{"bad UTF-8", rawFrame(0x81, []byte("\xff\xfe")), 1007},
		{"close code 1006", rawFrame(0x88, []byte{0x03, 0xee}), 1002},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			conn, br := g.rawSocket(t)
			if _, err := conn.Write(tt.send); err != nil {
				t.Fatal(err)
			}
			if code := rawClose(t, br); code != tt.code && code != 0 {
				t.Errorf("closed with %d, want %d", code, tt.code)
			}
		})
	}
	t.Run("no compression", func(t *testing.T) {
		resp := g.ask(t, "GET", "/", "own", append(upgradeHeaders(), "Sec-WebSocket-Extensions: permessage-deflate")...)
		if resp.Header.Get("Sec-WebSocket-Extensions") != "" {
			t.Error("compression was agreed")
		}
	})
	if f := g.connected(t, asCLI()).call("health", nil); !f.OK {
		t.Errorf("%+v", f)
	}
}

func TestSec_A_DOS_05_PingFlood(t *testing.T) {
	g := start(t, nil)
	conn, br := g.rawSocket(t)
	flood := make(chan struct{})
	go func() {
		defer close(flood)
		ping := rawFrame(0x89, []byte("p"))
		for range 20_000 {
			if _, err := conn.Write(ping); err != nil {
				return
			}
		}
	}()
	pongs, code := 0, 0
	for code == 0 {
		switch op, payload := readRawFrame(t, br); {
		case op == 10:
			pongs++
		case op == 8 && len(payload) >= 2:
			code = int(binary.BigEndian.Uint16(payload))
		case op == 0 && payload == nil:
			code = -1
		}
	}
	_ = conn.Close()
	<-flood
	if pongs > 100 || code != 1008 && code != -1 {
		t.Errorf("%d pongs, closed with %d", pongs, code)
	}
}

func TestSec_A_DOS_10_RefusalsDoNotFillTheLog(t *testing.T) {
	var logged lockedBuffer
	g := start(t, func(o *Options) { o.Logger = logged.logger() })
	for range 300 {
		c := g.dial(t, nil)
		if f := c.connect(asCLI().auth(&protocol.Auth{Token: "wrong"})); f.OK {
			t.Fatal("accepted")
		}
		_ = c.ws.CloseNow()
	}
	if n := strings.Count(logged.String(), "connect refused"); n < 50 || n > 250 {
		t.Errorf("%d lines for 300 refusals", n)
	}
}

// Too many requests at a time are refused one by one; the rest goes on.
func TestSec_A_DOS_08_InFlightCap(t *testing.T) {
	release := make(chan struct{})
	g := start(t, func(o *Options) {
		o.Limits.InFlight = 4
		o.Handlers[protocol.MethodAgentWait] = func(ctx context.Context, _ *Caller, _ json.RawMessage) (any, error) {
			select {
			case <-release:
				return "done", nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	})
	c := g.connected(t, asCLI(protocol.ScopeWrite))
	for i := range 6 {
		c.send(requestText(fmt.Sprint("w", i), protocol.MethodAgentWait, nil))
	}
	for _, id := range []string{"w4", "w5"} {
		if f := c.answer(id); f.Error == nil || f.Error.Code != protocol.CodeUnavailable || !f.Error.Retryable {
			t.Errorf("%s: %+v", id, f)
		}
	}
	close(release)
	got := make(map[string]bool)
	for len(got) < 4 {
		if f := c.next(); f.Type == protocol.TypeResponse {
			if !f.OK {
				t.Errorf("%+v", f)
			}
			got[f.ID] = true
		}
	}
}

// TestFault_F_WS_01_SlowReader: one client stops reading. It is cut off after
// its share; the others do not notice and memory stays bounded.
func TestFault_F_WS_01_SlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startMemory(t, nil)
		stalled := g.connected(t, asCLI(protocol.ScopeRead))
		good := g.connected(t, asCLI(protocol.ScopeRead))
		payload := strings.Repeat("x", 64<<10)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for n := 0; n < 100; {
				if f := good.next(); f.Event == protocol.EventSessionMessage {
					n++
				}
			}
		}()
		var peak int
		for range 100 { // 6.4 MB: more than a client's share
			began := time.Now()
			g.Broadcast(Broadcast{Event: protocol.EventSessionMessage, Payload: payload})
			if d := time.Since(began); d > 0 {
				t.Fatalf("Broadcast waited %v", d)
			}
			for _, c := range *g.conns.Load() {
				c.out.mu.Lock()
				peak = max(peak, c.out.events)
				c.out.mu.Unlock()
			}
			pass(time.Millisecond)
		}
		<-done
		if limit := 4<<20 + len(payload) + 100; peak > limit {
			t.Errorf("%d bytes were queued", peak)
		}
		synctest.Wait()
		pass(3 * time.Second)
		synctest.Wait()
		if n := g.Clients(); n != 1 {
			t.Errorf("%d clients", n)
		}
		for {
			if _, err := stalled.tryRead(); err != nil {
				break // the rest of one frame, then nothing: the frame it hung in was cut
			}
		}
	})
}

// A slow client that takes its time but goes on reading is told why it is cut.
func TestFault_F_WS_01_SlowReaderIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startMemory(t, nil)
		c := g.connected(t, asCLI(protocol.ScopeRead))
		for range 70 {
			g.Broadcast(Broadcast{Event: protocol.EventSessionMessage, Payload: strings.Repeat("x", 64<<10)})
		}
		if ce := c.closed(); ce.Code != 1013 || ce.Reason != "slow" {
			t.Errorf("%d %q", ce.Code, ce.Reason)
		}
	})
}

// A client that takes nothing at all is cut after the write time-out.
func TestFault_F_WS_01_StalledWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startMemory(t, nil)
		g.connected(t, asCLI(protocol.ScopeRead))
		g.Broadcast(Broadcast{Event: protocol.EventSessionMessage, Payload: "x"})
		pass(9 * time.Second)
		synctest.Wait()
		if n := g.Clients(); n != 1 {
			t.Fatalf("%d clients after 9 s", n)
		}
		pass(4 * time.Second)
		synctest.Wait()
		if n := g.Clients(); n != 0 {
			t.Errorf("%d clients after 13 s", n)
		}
	})
}

// A client that reads slowly gets fewer and longer deltas, not a queue of them.
func TestSlowReaderGetsMergedDeltas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startMemory(t, nil)
		c := g.connected(t, slimCLI())
		c.call(protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: "s"})
		text := ""
		for range 500 {
			text += "word "
			g.Delta(Delta{RunID: "r", SessionKey: "s", Text: text})
			pass(20 * time.Millisecond) // 10 s in all: inside the write time-out
			if len(text) == 5*480 {
				break
			}
		}
		var events []protocol.ChatEvent
		joined := ""
		for joined != text {
			e := c.chat()
			events = append(events, e)
			joined += e.DeltaText
		}
		if len(events) > 3 {
			t.Errorf("%d deltas waited", len(events))
		}
	})
}

func TestGoroutinesComeBack(t *testing.T) {
	before := runtime.NumGoroutine()
	g := start(t, func(o *Options) { o.Limits.CloseWait = 100 * time.Millisecond })
	for range 20 {
		c := g.connected(t, asCLI(protocol.ScopeRead))
		c.call("health", nil)
		_ = c.ws.Close(websocket.StatusNormalClosure, "")
	}
	g.dial(t, nil)
	if err := g.stop(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before+3 {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
}
