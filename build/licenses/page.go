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
	var visit func(map[string]string) error
	visit = func(names map[string]string) error {
		for name := range names {
			if seen[name] || strings.HasPrefix(name, "@types/") { // types are no code
				continue
			}
			seen[name] = true
			m, err := n.pagePackage(frontend, name)
			if err != nil {
				return err
			}
			if err := visit(m.Dependencies); err != nil {
				return err
			}
		}
		return nil
	}
	return visit(ours.Dependencies)
}

// pagePackage adds one package. A few say their licence and bring no text; of
// those what they say is told.
func (n notices) pagePackage(frontend, name string) (manifest, error) {
	dir := filepath.Join(frontend, "node_modules", filepath.FromSlash(name))
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
