package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// light is a client that only looks at what the clock row needs: 200 whole
// clients in this one process would take more processor than the gateway that
// they measure.
type light struct {
	conn *websocket.Conn
	buf  bytes.Buffer
	lags []time.Duration
	err  error // why the answer did not arrive whole
}

func (g *gateway) connectLight(ctx context.Context) (*light, error) {
	url, token, err := client.Find(g.dir)
	if err != nil {
		return nil, err
	}
	conn, _, err := websocket.Dial(ctx, url, nil)
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(1 << 20)
	l := &light{conn: conn}
	if _, err := l.read(ctx); err != nil { // the challenge
		return nil, err
	}
	err = l.call(ctx, protocol.MethodConnect, protocol.ConnectParams{
		MinProtocol: protocol.Version, MaxProtocol: protocol.Version,
		Client: protocol.ClientInfo{ID: "gateway-client", Mode: "backend", Version: "bench", Platform: "linux"},
		Role:   protocol.RoleOperator, Scopes: []protocol.Scope{protocol.ScopeRead},
		Caps: []string{protocol.CapSlimDeltas}, Auth: &protocol.Auth{Token: token},
	})
	return l, err
}

// read returns the next message; it is valid until the next read.
func (l *light) read(ctx context.Context) ([]byte, error) {
	_, r, err := l.conn.Reader(ctx)
	if err != nil {
		return nil, err
	}
	l.buf.Reset()
	_, err = io.Copy(&l.buf, r)
	return l.buf.Bytes(), err
}

// call makes a request and waits until it is answered well.
func (l *light) call(ctx context.Context, method string, params any) error {
	p, err := json.Marshal(params)
	if err != nil {
		return err
	}
	frame, err := json.Marshal(protocol.Request{Type: protocol.TypeRequest, ID: method, Method: method, Params: p})
	if err != nil {
		return err
	}
	if err := l.conn.Write(ctx, websocket.MessageText, frame); err != nil {
		return err
	}
	for {
		msg, err := l.read(ctx)
		if err != nil {
			return err
		}
		var res protocol.Response
		if err := json.Unmarshal(msg, &res); err != nil {
			return err
		}
		if res.Type == protocol.TypeResponse && res.ID == method {
			if !res.OK {
				return fmt.Errorf("%s: %w", method, res.Error)
			}
			return nil
		}
	}
}

// follow reads until the end of the answer and notes how old each delta's
// first word was when it arrived.
func (l *light) follow(ctx context.Context) {
	whole := int64(0) // bytes of text without a gap
	for {
		msg, err := l.read(ctx)
		at := time.Now()
		if err != nil {
			l.err = err
			return
		}
		if !bytes.Contains(msg, []byte(`"event":"chat"`)) {
			continue
		}
		if text, ok := field(msg, `"deltaText":"`); ok {
			offset := number(msg, `"offset":`)
			if offset != whole {
				l.err = fmt.Errorf("a gap: text up to %d, then from %d", whole, offset)
				return
			}
			whole = number(msg, `"end":`)
			if sent, ok := oldestWord(text, offset); ok {
				l.lags = append(l.lags, at.Sub(sent))
			}
			continue
		}
		if bytes.Contains(msg, []byte(`"state":"final"`)) {
			if n := bytes.Count(msg, []byte("t1")); n < clockWords { // microseconds have 16 digits and begin with 1 until 2033
				l.err = fmt.Errorf("the final answer has %d of %d words", n, clockWords)
			}
			return
		}
		if !bytes.Contains(msg, []byte(`"state":"status"`)) {
			l.err = errors.New("the answer ended otherwise: " + string(msg[:min(200, len(msg))]))
			return
		}
	}
}

// field is the text after a key up to the next quote; the clock's words need
// no escapes.
func field(msg []byte, key string) (string, bool) {
	_, rest, ok := bytes.Cut(msg, []byte(key))
	if !ok {
		return "", false
	}
	text, _, ok := bytes.Cut(rest, []byte(`"`))
	return string(text), ok
}

// number is the one after a key, 0 when it is absent.
func number(msg []byte, key string) int64 {
	_, rest, _ := bytes.Cut(msg, []byte(key))
	end := bytes.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	n, _ := strconv.ParseInt(string(rest[:max(end, 0)]), 10, 64)
	return n
}
