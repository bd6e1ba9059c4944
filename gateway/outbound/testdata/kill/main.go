// Command kill delivers five messages to a file and is killed by a failpoint
// while it does. It is built and run by the crash tests of package outbound.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// file is a network that shows each message as a line.
type file struct{ path string }

func (f file) ID() string                               { return "file" }
func (f file) Account() string                          { return "default" }
func (f file) Limits() channel.Limits                   { return channel.Limits{Text: 20} }
func (f file) Run(context.Context, channel.Inbox) error { return nil }

func (f file) Send(_ context.Context, m channel.Message) (channel.Receipt, error) {
	out, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return channel.Receipt{}, err
	}
	defer out.Close()
	_, err = fmt.Fprintln(out, m.Text)
	return channel.Receipt{MessageID: m.Key}, err
}

func main() {
	dir, text := os.Args[1], os.Args[2]
	if err := run(context.Background(), dir, text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run puts the delivery, once for all runs, and prints its state when it is
// over.
func run(ctx context.Context, dir, text string) error {
	db, err := store.Open(filepath.Join(dir, "h.db"), store.Options{ReserveBytes: -1})
	if err != nil {
		return err
	}
	over := make(chan outbound.Delivery, 8)
	d := outbound.NewDeliverer(db, outbound.DelivererOptions{
		Channels: func(string, string) channel.Channel { return file{filepath.Join(dir, "seen")} },
		OnState: func(v outbound.Delivery) {
			if !v.State.Open() {
				over <- v
			}
		},
	})
	err = db.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		return d.Put(tx, outbound.Delivery{ID: "a", Channel: "file", To: channel.Target{Account: "default", Conversation: "c"}, Text: text})
	}})
	if err != nil {
		return err
	}
	v, err := d.Get("a")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.Run(ctx)
	}()
	if v.State.Open() {
		v = <-over
	}
	stop()
	<-done
	fmt.Println(v.State, v.Sent())
	return db.Close(context.Background())
}
