package client

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// kept is what the account keeps over restarts.
type kept struct {
	Validity uint32   `json:"validity"` // of the numbers; another one means that all are new
	Next     uint32   `json:"next"`     // the first message that was not looked at
	Letters  []answer `json:"letters"`  // that can be answered, the newest last
}

// answer is what an answer to a message needs to stand below it.
type answer struct {
	From       string   `json:"from"`
	ID         string   `json:"id"`
	Subject    string   `json:"subject"`
	References []string `json:"references,omitempty"`
}

const (
	keptKey     = "mailbox"
	mostLetters = 200
)

// remember reads what was kept.
func (c *Client) remember(ctx context.Context) error {
	if c.durable == nil {
		return nil
	}
	b, err := c.durable.Get(ctx, keptKey)
	if err != nil || len(b) == 0 {
		return err
	}
	var k kept
	if err := json.Unmarshal(b, &k); err != nil {
		return fmt.Errorf("read how far the mailbox was read: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = k
	return nil
}

// keep changes what is kept.
func (c *Client) keep(ctx context.Context, change func(*kept)) error {
	c.mu.Lock()
	change(&c.kept)
	b, err := json.Marshal(c.kept)
	c.mu.Unlock()
	if err != nil || c.durable == nil {
		return err
	}
	return c.durable.Put(ctx, keptKey, b)
}

// add remembers a message for its answer.
func (k *kept) add(a answer) {
	k.Letters = slices.DeleteFunc(k.Letters, func(b answer) bool { return b.From == a.From && b.ID == a.ID })
	k.Letters = append(k.Letters, a)
	if n := len(k.Letters) - mostLetters; n > 0 {
		k.Letters = slices.Delete(k.Letters, 0, n)
	}
}

// answered finds the message that is answered: the named one, else the newest of the
// conversation.
func (c *Client) answered(from, id string) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found answer
	for _, a := range slices.Backward(c.kept.Letters) {
		if a.From != from {
			continue
		}
		if a.ID == id {
			return a, true
		}
		if found.From == "" {
			found = a
		}
	}
	return found, found.From != ""
}
