// Command kill writes to a store that is compacted meanwhile, and is killed by a
// failpoint while it does. It is built and run by the crash tests of package store.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/store"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run says "wrote N" and "removed N" after each write that was acknowledged.
func run(ctx context.Context, path string) error {
	db, err := store.Open(path, store.Options{ReserveBytes: -1})
	if err != nil {
		return err
	}
	rows := store.NewBucket[string]("rows")
	put := func(n int) error {
		err := db.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
			_, err := rows.NextSeq(tx)
			if err != nil {
				return err
			}
			return rows.Put(tx, store.Uint64Key(uint64(n)), strings.Repeat(fmt.Sprint(n, " "), 100))
		}})
		if err == nil {
			_, err = fmt.Printf("wrote %d\n", n)
		}
		return err
	}
	over, stop := context.WithCancel(ctx)
	var writing sync.WaitGroup
	var failed error
	writing.Go(func() {
		for n := 1; over.Err() == nil && failed == nil; n++ {
			if failed = put(n); failed == nil && n > 5 && n%3 == 0 {
				failed = db.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
					return rows.Delete(tx, store.Uint64Key(uint64(n-5)))
				}})
				fmt.Printf("removed %d\n", n-5)
			}
		}
	})
	for range 3 {
		if _, _, err := db.Compact(ctx, func(int64) {}); err != nil {
			stop()
			writing.Wait()
			return err
		}
	}
	stop()
	writing.Wait()
	if failed != nil {
		return failed
	}
	return db.Close(ctx)
}
