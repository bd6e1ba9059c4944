// Command licenses writes internal/licenses/THIRD_PARTY_LICENSES: what the
// programs are linked with, on all systems they are made for, and the licence of
// each. It ends with an error when one has none.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

const written = "internal/licenses/THIRD_PARTY_LICENSES"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	root := flag.String("root", ".", "the checkout")
	check := flag.Bool("check", false, "compare only")
	flag.Parse()
	if err := run(ctx, *root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root string, check bool) error {
	text, err := collect(ctx, root)
	if err != nil {
		return err
	}
	file := filepath.Join(root, filepath.FromSlash(written))
	if !check {
		return os.WriteFile(file, []byte(text), 0o644)
	}
	have, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if string(have) != text {
		return fmt.Errorf("%s is not what the programs are made of any more; run: go run ./build/licenses", written)
	}
	return nil
}

// collect is the whole text.
func collect(ctx context.Context, root string) (string, error) {
	all := notices{}
	if err := all.modules(ctx, root); err != nil {
		return "", err
	}
	if err := all.toolchain(ctx); err != nil {
		return "", err
	}
	if err := all.page(filepath.Join(root, "frontend")); err != nil {
		return "", err
	}
	if err := all.byHand(filepath.Join(root, "build", "licenses", "byhand")); err != nil {
		return "", err
	}
	return all.String(), nil
}
