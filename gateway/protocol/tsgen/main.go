// Command tsgen writes frontend/src/protocol.ts from the Go source of
// gateway/protocol, so that the page and the gateway cannot disagree about the
// wire. It owns the mapping from Go to TypeScript and the table that says which
// shape belongs to which method and event; it knows nothing about how frames
// travel.
//
//	go run ./gateway/protocol/tsgen          write the file
//	go run ./gateway/protocol/tsgen -check   fail when the file is not up to date
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

const output = "frontend/src/protocol.ts"

func main() {
	check := flag.Bool("check", false, "write nothing, fail when "+output+" is not up to date")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "tsgen:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	want, err := generate(root)
	if err != nil {
		return err
	}
	path := filepath.Join(root, filepath.FromSlash(output))
	have, err := os.ReadFile(path)
	if err == nil && bytes.Equal(have, want) {
		return nil
	}
	if check {
		return fmt.Errorf("%s is not what gateway/protocol says; run `go run ./gateway/protocol/tsgen` and commit the result", output)
	}
	return os.WriteFile(path, want, 0o644)
}

// moduleRoot is the folder above us that holds go.mod, so that the command
// works from anywhere in the checkout.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod here or above; run this inside the checkout")
		}
		dir = parent
	}
}

// generate returns the whole TypeScript file for the checkout at root.
func generate(root string) ([]byte, error) {
	src, err := load(root, "gateway/protocol", "gateway/model")
	if err != nil {
		return nil, err
	}
	return src.emit()
}
