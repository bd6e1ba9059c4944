package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"
)

// recipe is what recipes are filled in with.
type recipe struct {
	Version    string
	Commit     string
	Date       string // of the commit, as 2026-11-26
	Source     string // github.com/…
	Launchable string // the entry of the menu
	Hardening  []setting
	at         string            // where the archives are
	sums       map[string]string // of them
}

// Tag is the version as the name of an image may have it.
func (r recipe) Tag() string { return strings.ReplaceAll(r.Version, "+", "-") }

// Folder is what an archive unpacks to.
func (r recipe) Folder(kind, system string) string { return kind + "_" + r.Version + "_" + system }

// URL is where an archive is.
func (r recipe) URL(kind, system string) string { return r.at + "/" + r.Folder(kind, system) }

// errNoArchive: this machine made no archive of that kind.
var errNoArchive = errors.New("the archive is not there")

// Sum is the SHA-256 of an archive.
func (r recipe) Sum(kind, system string) (string, error) {
	sum, found := r.sums[r.Folder(kind, system)]
	if !found {
		return "", fmt.Errorf("%s: %w", r.Folder(kind, system), errNoArchive)
	}
	return sum, nil
}

// SRI is the same as Nix writes it.
func (r recipe) SRI(kind, system string) (string, error) {
	sum, err := r.Sum(kind, system)
	if err != nil {
		return "", err
	}
	raw, err := hex.DecodeString(sum)
	return "sha256-" + base64.StdEncoding.EncodeToString(raw), err
}

// setting is a line of a unit.
type setting struct{ Key, Value string }

// Nix is the value as a string of Nix; names that are given twice stay two lines.
func (s setting) Nix() string {
	lines := strings.Split(s.Value, "\n")
	for i, l := range lines {
		lines[i] = `"` + strings.ReplaceAll(l, `"`, `\"`) + `"`
	}
	if len(lines) == 1 {
		return lines[0]
	}
	return "[ " + strings.Join(lines, " ") + " ]"
}

// hardening reads the settings of the service, without their comments.
func hardening(file string) ([]setting, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []setting
	for line := range strings.Lines(string(text)) {
		key, value, found := strings.Cut(strings.TrimSpace(line), "=")
		if !found || strings.HasPrefix(key, "#") {
			continue
		}
		if n := len(all); n > 0 && all[n-1].Key == key {
			all[n-1].Value += "\n" + value
			continue
		}
		all = append(all, setting{key, value})
	}
	return all, nil
}

// recipes fills in what lies in build/recipes. What names an archive that was not
// made here is left out, and said.
func recipes(args []string) error {
	flags := flag.NewFlagSet("recipes", flag.ContinueOnError)
	from := flags.String("from", "build/recipes", "the `FOLDER` of what is filled in")
	hard := flags.String("hardening", "build/linux/hardening", "the `FILE` with what the service may not do")
	packages := flags.String("packages", "build/packages", "the `FOLDER` of the archives")
	at := flags.String("at", "", "the `URL` of the folder that they can be had from; default: the release on GitHub")
	only := flags.String("only", "", "fill in this `FILE` alone")
	epoch := flags.Int64("time", 0, "of the commit, in seconds since 1970")
	r := recipe{Source: source}
	flags.StringVar(&r.Version, "version", "", "of the release")
	flags.StringVar(&r.Commit, "commit", "", "the `HASH` it was made of")
	flags.StringVar(&r.Launchable, "launchable", "org.hearth.Hearth.desktop", "the `NAME` of the menu's entry")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || r.Version == "" {
		return errors.New("recipes needs -version and the folder that they go to")
	}
	r.at = *at
	if r.at == "" {
		r.at = "https://" + source + "/releases/download/v" + r.Version
	}
	r.Date = time.Unix(*epoch, 0).UTC().Format(time.DateOnly)
	var err error
	if r.Hardening, err = hardening(*hard); err != nil {
		return err
	}
	if r.sums, err = sumsOf(*packages); err != nil && *only == "" {
		return err
	}
	return filepath.WalkDir(*from, func(file string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(*from, file) // below from
		if err != nil || e.IsDir() || name == "README.md" || name == "check" || *only != "" && *only != name {
			return err
		}
		err = r.fill(file, filepath.Join(flags.Arg(0), name))
		if errors.Is(err, errNoArchive) {
			_, err = fmt.Printf("  left out: %s (%v)\n", name, errors.Unwrap(err))
		}
		return err
	})
}

func (r recipe) fill(file, to string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	t, err := template.New(filepath.Base(file)).Option("missingkey=error").
		Funcs(template.FuncMap{"upper": strings.ToUpper, "lines": func(s string) []string { return strings.Split(s, "\n") }}).Parse(string(text))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, r); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, b.Bytes(), 0o644)
}
