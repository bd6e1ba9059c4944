package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// manifest is what a package of the page says of itself.
type manifest struct {
	Version      string
	License      string
	Dependencies map[string]string
}

// page adds the packages that the page is built of, and what those need.
func (n notices) page(frontend string) error {
	ours, err := manifestOf(frontend)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	var visit func(string, map[string]string) error
	visit = func(from string, names map[string]string) error {
		for name := range names {
			dir := packageDir(frontend, from, name)
			if seen[dir] || strings.HasPrefix(name, "@types/") { // types are no code
				continue
			}
			seen[dir] = true
			m, err := n.pagePackage(dir, name)
			if err != nil {
				return err
			}
			if err := visit(dir, m.Dependencies); err != nil {
				return err
			}
		}
		return nil
	}
	return visit(frontend, ours.Dependencies)
}

// packageDir is where a package is that the one in from asks for: inside of it, where
// two of the page's packages want different versions, or beside it.
func packageDir(frontend, from, name string) string {
	for dir := from; ; dir = filepath.Dir(dir) {
		found := filepath.Join(dir, "node_modules", filepath.FromSlash(name))
		if _, err := os.Stat(found); err == nil || len(dir) <= len(frontend) {
			return found
		}
	}
}

// pagePackage adds one package. A few say their licence and bring no text; of
// those what they say is told.
func (n notices) pagePackage(dir, name string) (manifest, error) {
	m, err := manifestOf(dir)
	if err != nil {
		return m, fmt.Errorf("the page's packages are not installed: %w", err)
	}
	name += " " + m.Version
	if err := n.folder(name, dir, dir); err == nil {
		return m, nil
	}
	if !slices.Contains([]string{"MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0"}, m.License) {
		return m, fmt.Errorf("%s has no licence that may be handed on: %q", name, m.License)
	}
	n.add(name, "Under the licence "+m.License+", as its package says.")
	return m, nil
}

func manifestOf(dir string) (m manifest, err error) {
	b, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(b, &m)
}

// byHand adds what neither Go nor npm knows of; a file's first line is its name.
func (n notices) byHand(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return err
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		name, text, _ := strings.Cut(string(b), "\n")
		n.add(name, text)
	}
	return nil
}
