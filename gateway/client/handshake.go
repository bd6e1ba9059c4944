package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// connectID is the id of the one connect request of a connection.
const connectID = "connect"

// frame is any of the three shapes that a gateway sends.
type frame struct {
	Type string `json:"type"`
	// response
	ID    string          `json:"id"`
	OK    bool            `json:"ok"`
	Error *protocol.Error `json:"error"`
	// event
	Event        string                 `json:"event"`
	Seq          uint64                 `json:"seq"`
	StateVersion *protocol.StateVersion `json:"stateVersion"`
	// both
	Payload json.RawMessage `json:"payload"`
}

// handshake waits for the challenge, answers it and returns the hello.
func handshake(ctx context.Context, conn *websocket.Conn, o *Options) (hello protocol.HelloOK, err error) {
	ch, err := challenge(ctx, conn)
	if err != nil {
		return hello, err
	}
	if err := sendConnect(ctx, conn, o, ch); err != nil {
		return hello, err
	}
	for {
		f, err := readFrame(ctx, conn)
		if err != nil {
			return hello, handshakeError(err)
		}
		if f.Type != protocol.TypeResponse || f.ID != connectID {
			continue
		}
		if !f.OK {
			return hello, refusal(f.Error)
		}
		if err := json.Unmarshal(f.Payload, &hello); err != nil {
			return hello, fmt.Errorf("the gateway's greeting is not understood, its version may differ from this program's: %w", err)
		}
		return hello, nil
	}
}

func challenge(ctx context.Context, conn *websocket.Conn) (ch protocol.Challenge, err error) {
	f, err := readFrame(ctx, conn)
	if err != nil {
		return ch, handshakeError(err)
	}
	if f.Type != protocol.TypeEvent || f.Event != protocol.EventConnectChallenge {
		return ch, errors.New("the program at this address is not a Hearth gateway: it did not send a challenge")
	}
	if err := json.Unmarshal(f.Payload, &ch); err != nil || ch.Nonce == "" {
		return ch, errors.New("the program at this address is not a Hearth gateway: its challenge is not understood")
	}
	return ch, nil
}

func sendConnect(ctx context.Context, conn *websocket.Conn, o *Options, ch protocol.Challenge) error {
	p := protocol.ConnectParams{
		MinProtocol: protocol.Version, MaxProtocol: protocol.Version,
		Client: o.Client, Role: o.Role, Scopes: o.Scopes, Caps: o.Caps, Auth: o.Auth,
		Commands: o.Commands, Permissions: o.Permissions, PathEnv: o.PathEnv,
	}
	if p.Role == "" {
		p.Role = protocol.RoleOperator
	}
	if p.Client.Platform == "" {
		p.Client.Platform = runtime.GOOS
	}
	if p.Auth == nil && o.Token != "" {
		p.Auth = &protocol.Auth{Token: o.Token}
	}
	if o.Device != nil {
		p.Device = o.Device.sign(&p, ch)
	}
	b, err := request(connectID, protocol.MethodConnect, p)
	if err != nil {
		return err
	}
	if err := conn.Write(ctx, websocket.MessageText, b); err != nil {
		return handshakeError(err)
	}
	return nil
}

func request(id, method string, params any) ([]byte, error) {
	r := protocol.Request{Type: protocol.TypeRequest, ID: id, Method: method}
	if params != nil {
		b, err := json.Marshal(params)
		if err != nil {
			return nil, fmt.Errorf("encode the parameters of %s: %w", method, err)
		}
		r.Params = b
	}
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode the request %s: %w", method, err)
	}
	return b, nil
}

func readFrame(ctx context.Context, conn *websocket.Conn) (frame, error) {
	_, b, err := conn.Read(ctx)
	if err != nil {
		return frame{}, err
	}
	var f frame
	if err := json.Unmarshal(b, &f); err != nil {
		return frame{}, fmt.Errorf("not a frame of the protocol: %w", err)
	}
	return f, nil
}

// refusal never returns nil, whatever the gateway left out.
func refusal(e *protocol.Error) error {
	if e == nil || e.Message == "" {
		return &protocol.Error{Code: protocol.CodeUnavailable, Message: "the gateway refused without saying why; `hearth logs` may tell"}
	}
	return e
}

// handshakeError: a gateway that is stopping, or another program on the port.
func handshakeError(err error) error {
	return fmt.Errorf("%w before it answered: %w", ErrLost, err)
}
