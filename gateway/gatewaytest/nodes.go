package gatewaytest

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// FakeNode is a device that answers as it is told.
type FakeNode struct {
	*client.Client
	t    testing.TB
	id   string
	key  ed25519.PrivateKey
	asks chan protocol.NodeInvokeRequest // those that nobody answers by itself

	Mu     sync.Mutex
	answer map[string]func(json.RawMessage) (any, *protocol.NodeError)
	Seen   []protocol.NodeInvokeRequest
	events []protocol.Event
}

// NodeKey makes a device key and its id.
func NodeKey(t *testing.T) (ed25519.PrivateKey, string) {
	t.Helper()
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(pub)
	return key, hex.EncodeToString(sum[:])
}

func (n *FakeNode) on(ev protocol.Event) {
	n.Mu.Lock()
	n.events = append(n.events, ev)
	n.Mu.Unlock()
	var q protocol.NodeInvokeRequest
	if ev.Event != protocol.EventNodeInvokeRequest || json.Unmarshal(ev.Payload, &q) != nil {
		return
	}
	n.Mu.Lock()
	n.Seen = append(n.Seen, q)
	answer := n.answer[q.Command]
	n.Mu.Unlock()
	if answer == nil {
		n.asks <- q
		return
	}
	params := json.RawMessage("null")
	if q.ParamsJSON != nil {
		params = json.RawMessage(*q.ParamsJSON)
	}
	payload, fault := answer(params)
	n.reply(q.ID, payload, fault)
}

// reply answers a call; the acknowledgement is not waited for in OnEvent.
func (n *FakeNode) reply(id string, payload any, fault *protocol.NodeError) {
	p := protocol.NodeResultParams{ID: id, NodeID: n.id, OK: fault == nil, Error: fault}
	if fault == nil {
		raw, err := json.Marshal(payload)
		if err != nil {
			n.t.Error(err)
		}
		text := string(raw)
		p.PayloadJSON = &text
	}
	if err := n.Call(n.t.Context(), protocol.MethodNodeInvokeResult, p, nil); err != nil && !errors.Is(err, client.ErrLost) &&
		!errors.Is(err, client.ErrClosed) && n.t.Context().Err() == nil {
		n.t.Errorf("answer: %v", err)
	}
}

// Does says how it answers a command.
func (n *FakeNode) Does(command string, f func(json.RawMessage) (any, *protocol.NodeError)) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.answer[command] = f
}

// Asked waits for a command that nobody answers by itself.
func (n *FakeNode) Asked() protocol.NodeInvokeRequest {
	n.t.Helper()
	select {
	case q := <-n.asks:
		return q
	case <-time.After(10 * time.Second):
		n.t.Fatal("the node was not asked")
		return protocol.NodeInvokeRequest{}
	}
}

// FaultOf is what the gateway answered, as an error of the wire.
func FaultOf(err error) *protocol.Error {
	var e *protocol.Error
	errors.As(err, &e)
	if e == nil {
		return &protocol.Error{}
	}
	return e
}

// Node connects a device that declares the commands.
func (r *Rig) Node(key ed25519.PrivateKey, commands ...string) *FakeNode {
	r.T.Helper()
	n, err := r.DialNode(key, commands...)
	if err != nil {
		r.T.Fatal(err)
	}
	return n
}

// DialNode is Node where that may fail.
func (r *Rig) DialNode(key ed25519.PrivateKey, commands ...string) (*FakeNode, error) {
	url, token, err := r.find()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(key.Public().(ed25519.PublicKey))
	n := &FakeNode{t: r.T, id: hex.EncodeToString(sum[:]), key: key, asks: make(chan protocol.NodeInvokeRequest, 64),
		answer: map[string]func(json.RawMessage) (any, *protocol.NodeError){}}
	n.Client, err = client.Dial(r.T.Context(), client.Options{
		URL: url, Token: token, Role: protocol.RoleNode, Commands: commands, Caps: []string{"device"}, Device: &client.Identity{Key: key},
		Client: protocol.ClientInfo{ID: "node-host", Mode: "node", Version: "test", Platform: "linux", DeviceFamily: "Linux",
			DisplayName: "Attic"},
		OnEvent: n.on,
	})
	if err != nil {
		return nil, err
	}
	r.T.Cleanup(func() { _ = n.Close() })
	// The gateway knows it a moment after the hello, and before its first request:
	// one that is refused will do.
	if err := n.Call(r.T.Context(), protocol.MethodStatus, struct{}{}, nil); err != nil && FaultOf(err).Code == "" {
		return nil, err
	}
	return n, nil
}
