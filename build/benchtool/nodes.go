package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const (
	nodeCalls = 1000
	nodeFlock = 500
)

// bareNode is a device that answers at once.
type bareNode struct {
	*client.Client
	id  string
	key ed25519.PrivateKey
}

func (g *gateway) node(ctx context.Context, key ed25519.PrivateKey) (*bareNode, error) {
	sum := sha256.Sum256(key.Public().(ed25519.PublicKey))
	n := &bareNode{id: hex.EncodeToString(sum[:]), key: key}
	ready := make(chan struct{})
	var err error
	n.Client, err = client.Open(ctx, g.dir, client.Options{
		Client: protocol.ClientInfo{ID: "node-host", Mode: "node", Version: "bench", Platform: "linux", DisplayName: "bench"},
		Role:   protocol.RoleNode, Commands: []string{"device.info"}, Device: &client.Identity{Key: key},
		OnEvent: func(ev protocol.Event) {
			var q protocol.NodeInvokeRequest
			if ev.Event != protocol.EventNodeInvokeRequest || json.Unmarshal(ev.Payload, &q) != nil {
				return
			}
			<-ready
			payload := `{"model":"bench"}`
			_ = n.Call(ctx, protocol.MethodNodeInvokeResult, protocol.NodeResultParams{ID: q.ID, NodeID: n.id, OK: true, PayloadJSON: &payload}, nil)
		},
	})
	close(ready)
	return n, err
}

// measureNodes calls a node that answers at once, and has many of them come
// back to a gateway that was away.
func measureNodes(ctx context.Context, b *bench) ([]figure, error) {
	dir, err := b.home()
	if err != nil {
		return nil, err
	}
	g, err := b.startGateway(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { g.stop() }()
	keys := make([]ed25519.PrivateKey, nodeFlock)
	for i := range keys {
		if _, keys[i], err = ed25519.GenerateKey(rand.Reader); err != nil {
			return nil, err
		}
	}
	times, err := g.invokeTimes(ctx, keys[0])
	if err != nil {
		return nil, err
	}
	if _, err := g.flock(ctx, keys); err != nil { // they are known now
		return nil, err
	}
	g.stop()
	if g, err = b.startGateway(ctx, dir); err != nil {
		return nil, err
	}
	back, err := g.flock(ctx, keys)
	if err != nil {
		return nil, err
	}
	return []figure{
		{name: "node.invoke and its answer, p95", measured: quantile(times, 0.95), budget: 5, unit: "ms",
			note: fmt.Sprintf("p50 %.2f ms, %d calls, a node that answers at once", quantile(times, 0.5), nodeCalls)},
		{name: fmt.Sprintf("%d nodes come back at once", nodeFlock), measured: back.Seconds() * 1000, budget: 5000, unit: "ms",
			note: "after the gateway was away"},
	}, nil
}

func (g *gateway) invokeTimes(ctx context.Context, key ed25519.PrivateKey) ([]time.Duration, error) {
	n, err := g.node(ctx, key)
	if err != nil {
		return nil, err
	}
	defer n.Close()
	c, err := g.connect(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var pairs protocol.NodePairs
	if err := c.Call(ctx, protocol.MethodNodePairList, nil, &pairs); err != nil || len(pairs.Pending) != 1 {
		return nil, fmt.Errorf("one node should wait, not %d: %w", len(pairs.Pending), err)
	}
	if err := c.Call(ctx, protocol.MethodNodePairApprove, protocol.NodeRequestParams{RequestID: pairs.Pending[0].RequestID}, nil); err != nil {
		return nil, err
	}
	var times []time.Duration
	for i := range nodeCalls {
		began := time.Now()
		var res protocol.NodeInvokeResult
		if err := c.Call(ctx, protocol.MethodNodeInvoke, protocol.NodeInvokeParams{NodeID: n.id, Command: "device.info",
			IdempotencyKey: fmt.Sprint("bench-", i)}, &res); err != nil {
			return nil, err
		}
		times = append(times, time.Since(began))
	}
	return times, nil
}

// flock connects all keys at once and says how long it took until the last.
func (g *gateway) flock(ctx context.Context, keys []ed25519.PrivateKey) (time.Duration, error) {
	all, errs := make([]*bareNode, len(keys)), make([]error, len(keys))
	var wg sync.WaitGroup
	began := time.Now()
	for i, key := range keys {
		wg.Go(func() { all[i], errs[i] = g.node(ctx, key) })
	}
	wg.Wait()
	took := time.Since(began)
	for i, n := range all {
		if errs[i] == nil {
			_ = n.Close()
		}
	}
	return took, errors.Join(errs...)
}
