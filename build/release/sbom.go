package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// bill is a software bill of materials as CycloneDX 1.6 has it
// (https://cyclonedx.org/docs/1.6/json/), as far as it is needed here.
type bill struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     billOf       `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type billOf struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string        `json:"type"`
	Ref        string        `json:"bom-ref"`
	Name       string        `json:"name"`
	Version    string        `json:"version,omitempty"`
	Hashes     []hash        `json:"hashes,omitempty"`
	Licenses   []licenceText `json:"licenses,omitempty"`
	PURL       string        `json:"purl,omitempty"`
	Properties []property    `json:"properties,omitempty"`
}

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

type licenceText struct {
	Expression string `json:"expression"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// source is what this is the source of.
const source = "github.com/hearth-assistant/hearth"

// sbom writes what the programs are made of: of Go what the compiler wrote into
// them, of the page what its lock file says, and what only bytes are taken of.
func sbom(args []string) error {
	fs := flag.NewFlagSet("sbom", flag.ContinueOnError)
	version := fs.String("version", "", "of the release")
	lock := fs.String("lock", "frontend/package-lock.json", "the `FILE` of npm that names the page's packages")
	hand := fs.String("by-hand", "build/licenses/byhand", "the `FOLDER` of what neither Go nor npm knows of")
	epoch := fs.Int64("time", 0, "of the commit, in seconds since 1970")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() < 2 || *version == "" {
		return errors.New("sbom needs -version, the file that it goes to, and the programs")
	}
	b := bill{Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: billOf{time.Unix(*epoch, 0).UTC().Format(time.RFC3339), component{Type: "application", Ref: "hearth", Name: "hearth",
			Version:  *version,
			Licenses: []licenceText{{"MIT"}}, PURL: "pkg:golang/" + source + "@" + *version}}}
	var programs []string
	for _, file := range fs.Args()[1:] {
		ref, err := b.program(file, *version)
		if err != nil {
			return err
		}
		programs = append(programs, ref)
	}
	page, err := b.page(*lock)
	if err != nil {
		return err
	}
	carried, err := b.byHand(*hand)
	if err != nil {
		return err
	}
	b.depends("hearth", append(programs, append(page, carried...)...))
	b.finish()
	data, err := marshal(b)
	if err != nil {
		return err
	}
	return os.WriteFile(fs.Arg(0), data, 0o644)
}

// program adds an executable and the modules that are linked into it.
func (b *bill) program(file, version string) (string, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("what is in %s: %w", file, err)
	}
	setting := func(key string) string {
		i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
		if i < 0 {
			return ""
		}
		return info.Settings[i].Value
	}
	in, err := os.Open(file)
	if err != nil {
		return "", err
	}
	_, sum, err := digest(in)
	if err = errors.Join(err, in.Close()); err != nil {
		return "", err
	}
	name := strings.TrimSuffix(filepath.Base(file), ".exe")
	ref := fmt.Sprintf("%s %s/%s", name, setting("GOOS"), setting("GOARCH"))
	b.add(component{Type: "application", Ref: ref + " " + sum[:12], Name: name, Version: version, Hashes: []hash{{"SHA-256", sum}},
		Properties: []property{{"go:os", setting("GOOS")}, {"go:arch", setting("GOARCH")}, {"go:tags", setting("-tags")}}})
	std := component{Type: "library", Ref: "pkg:golang/std@" + info.GoVersion, Name: "std", Version: info.GoVersion,
		PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}
	b.add(std)
	uses := []string{std.Ref}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := component{Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version}
		c.Ref = c.PURL
		if m.Sum != "" {
			c.Properties = []property{{"go:sum", m.Sum}}
		}
		b.add(c)
		uses = append(uses, c.Ref)
	}
	b.depends(ref+" "+sum[:12], uses)
	return ref + " " + sum[:12], nil
}

// locked is a package in npm's lock file.
type locked struct {
	Version   string
	Integrity string
	License   string
	Dev       bool
}

// page adds what npm installs for the page, but for what only builds and tests it.
func (b *bill) page(lock string) ([]string, error) {
	text, err := os.ReadFile(lock)
	if err != nil {
		return nil, err
	}
	var all struct{ Packages map[string]locked }
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", lock, err)
	}
	var refs []string
	for place, p := range all.Packages {
		_, name, _ := cutLast(place, "node_modules/")
		if place == "" || p.Dev || strings.HasPrefix(name, "@types/") { // types are no code
			continue
		}
		c := component{Type: "library", Name: name, Version: p.Version, PURL: "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version}
		c.Ref = c.PURL
		if p.License != "" {
			c.Licenses = []licenceText{{p.License}}
		}
		if sum, found := strings.CutPrefix(p.Integrity, "sha512-"); found {
			raw, err := base64.StdEncoding.DecodeString(sum)
			if err != nil {
				return nil, fmt.Errorf("%s: the checksum of %s: %w", lock, name, err)
			}
			c.Hashes = []hash{{"SHA-512", hex.EncodeToString(raw)}}
		}
		b.add(c)
		refs = append(refs, c.Ref)
	}
	return refs, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// byHand adds what neither Go nor npm knows of; a file's first line is its name.
func (b *bill) byHand(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	var refs []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		name, _, _ := strings.Cut(string(text), "\n")
		b.add(component{Type: "library", Ref: name, Name: name})
		refs = append(refs, name)
	}
	return refs, nil
}

// add takes a component that is not there yet.
func (b *bill) add(c component) {
	if !slices.ContainsFunc(b.Components, func(o component) bool { return o.Ref == c.Ref }) {
		b.Components = append(b.Components, c)
	}
}

func (b *bill) depends(ref string, on []string) {
	if slices.ContainsFunc(b.Dependencies, func(d dependency) bool { return d.Ref == ref }) {
		return
	}
	on = slices.Clone(on)
	slices.Sort(on)
	b.Dependencies = append(b.Dependencies, dependency{ref, slices.Compact(on)})
}

// finish puts all in order and gives it the number that follows from it, so that
// the same programs have the same bill.
func (b *bill) finish() {
	slices.SortFunc(b.Components, func(x, y component) int { return strings.Compare(x.Ref, y.Ref) })
	slices.SortFunc(b.Dependencies, func(x, y dependency) int { return strings.Compare(x.Ref, y.Ref) })
	text, _ := json.Marshal(b.Components) // plain structs
	n := sha256.Sum256(append(text, b.Metadata.Component.Version...))
	n[6], n[8] = n[6]&0x0f|0x80, n[8]&0x3f|0x80 // version 8 of RFC 9562: as its maker likes
	b.Serial = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", n[:4], n[4:6], n[6:8], n[8:10], n[10:16])
}
