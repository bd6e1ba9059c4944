// Command kill does an update, for tests that end it at every step: built with the
// tag failpoint, it obeys HEARTH_FAILPOINT.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hearth-assistant/hearth/gateway/release"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

func main() {
	if err := update(os.Args[1], os.Args[2], release.Build{Source: os.Args[3], Keys: os.Args[4]}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func update(root, state string, b release.Build) error {
	ctx := context.Background()
	src, anchor, err := b.Where("", "")
	if err != nil {
		return err
	}
	dir, in := statedir.Dir(state), release.At(filepath.Join(root, "hearth"))
	stopped, err := release.OpenStopped(ctx, dir, time.Now)
	if err != nil {
		return err
	}
	u := release.Updater{
		Dir: dir, Install: in, Version: "0.1.0", Source: src, Anchor: anchor, Channel: "stable", Env: func(string) string { return "" },
		Now: time.Now, Paused: stopped.Paused, Copy: stopped.Copy, Count: func(string) (int, error) { return 0, nil },
	}
	m, _, err := u.Check(ctx)
	if err == nil {
		err = u.Prepare(ctx, m)
	}
	if err == nil {
		err = in.Switch("0.1.0", m.Version)
	}
	if cerr := stopped.Close(ctx); err == nil {
		err = cerr
	}
	return err
}
