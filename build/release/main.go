// Command release signs what build/package made, so that an installed Hearth takes
// it as an update. The files are those of a source of updates (docs/update.md): put
// the folder on a web server.
//
//	release key FILE                     a new key; its public half goes to standard output
//	release trust [flags] OUT            the next list of keys, signed by the root keys
//	release manifest [flags] OUT         a release, signed by the release keys
//	release sbom [flags] OUT PROGRAM…    what the programs are made of (CycloneDX)
//	release provenance [flags] OUT       what the packages were made of, and how (in-toto, SLSA)
//	release recipes [flags] OUT          what others need to hand it out (build/recipes)
//	release same FOLDER FOLDER           are two folders of packages bit for bit the same?
//
// Keys are files of minisign without a passphrase, or with the passphrase in
// HEARTH_RELEASE_PASSPHRASE; keep the root keys where no release is made.
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"aead.dev/minisign"

	"github.com/hearth-assistant/hearth/gateway/release"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("say what to do: key, trust, manifest, sbom, provenance, recipes or same")
	}
	switch args[0] {
	case "key":
		return newKey(args[1:])
	case "trust":
		return trust(args[1:])
	case "manifest":
		return manifest(args[1:])
	case "sbom":
		return sbom(args[1:])
	case "provenance":
		return provenanceOf(args[1:])
	case "recipes":
		return recipes(args[1:])
	case "same":
		return same(args[1:])
	}
	return fmt.Errorf("%q is none of key, trust, manifest, sbom, provenance, recipes and same", args[0])
}

func newKey(args []string) error {
	if len(args) != 1 {
		return errors.New("name the file of the new key")
	}
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	text, err := private.MarshalText()
	if pass := os.Getenv("HEARTH_RELEASE_PASSPHRASE"); pass != "" {
		text, err = minisign.EncryptKey(pass, private)
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(args[0], os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	_, err = fmt.Println(publicText(public))
	return err
}

// publicText is the one line of a public key.
func publicText(k minisign.PublicKey) string {
	lines := strings.Fields(k.String())
	return lines[len(lines)-1]
}

// list is a flag that may be given several times.
type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func readKey(file string) (minisign.PrivateKey, error) {
	k, err := minisign.PrivateKeyFromFile(os.Getenv("HEARTH_RELEASE_PASSPHRASE"), file)
	if err == nil {
		return k, nil
	}
	b, rerr := os.ReadFile(file)
	if rerr != nil {
		return k, rerr
	}
	if k.UnmarshalText(b) != nil {
		return k, fmt.Errorf("%s: %w", file, err)
	}
	return k, nil
}

func publicOf(file string) (string, error) {
	k, err := readKey(file)
	if err != nil {
		return "", err
	}
	public, ok := k.Public().(minisign.PublicKey)
	if !ok {
		return "", fmt.Errorf("%s has no public half", file)
	}
	return publicText(public), nil
}

// sign writes data and what each key says of it.
func sign(file string, data []byte, keys []string, words string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	for _, k := range keys {
		private, err := readKey(k)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%s.%016X.minisig", file, private.ID())
		if err := os.WriteFile(name, minisign.SignWithComments(private, data, words, "signature of Hearth's release key"), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(file, data, 0o644)
}

func marshal(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	return append(b, '\n'), err
}

// trust writes OUT/keys/SERIAL.json. The root keys of the list before sign it too.
func trust(args []string) error {
	fs := flag.NewFlagSet("trust", flag.ContinueOnError)
	var roots, releases, before list
	fs.Var(&roots, "root", "the `FILE` of a root key that the list has; may be repeated")
	fs.Var(&releases, "release", "the public key `RW…` of releases that the list has; may be repeated")
	fs.Var(&before, "before", "the `FILE` of a root key of the list before, which signs this one; may be repeated")
	serial := fs.Int("serial", 1, "the number of the list: one more than the last")
	rootThreshold := fs.Int("root-threshold", 1, "how many root keys sign the next list")
	threshold := fs.Int("threshold", 1, "how many release keys sign a release")
	expires := fs.Duration("expires", 2*365*24*time.Hour, "how long the list holds")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() != 1 || len(roots) == 0 || len(releases) == 0 {
		return errors.New("trust needs -root, -release and the folder that it goes to")
	}
	t := release.Trust{Format: 1, Serial: *serial, RootThreshold: *rootThreshold, Threshold: *threshold, Releases: releases,
		Expires: time.Now().UTC().Add(*expires).Truncate(time.Second)}
	for _, file := range roots {
		k, err := publicOf(file)
		if err != nil {
			return err
		}
		t.Roots = append(t.Roots, k)
	}
	data, err := marshal(t)
	if err != nil {
		return err
	}
	name := filepath.Join(fs.Arg(0), "keys", strconv.Itoa(*serial)+".json")
	return sign(name, data, append(roots, before...), fmt.Sprintf("Hearth, list of keys %d", *serial))
}

// packageName says what an archive of build/package is.
var packageName = regexp.MustCompile(`^hearth(-gateway)?_(\d.*)_(linux|darwin|windows)_(amd64|arm64)\.(tar\.gz|zip)$`)

// manifest writes OUT/CHANNEL.json about the archives in a folder.
func manifest(args []string) error {
	fs := flag.NewFlagSet("manifest", flag.ContinueOnError)
	var keys list
	fs.Var(&keys, "key", "the `FILE` of a release key; may be repeated")
	packages := fs.String("packages", "build/packages", "the `FOLDER` of the archives")
	channel := fs.String("channel", "stable", "stable or beta")
	sequence := fs.Int64("sequence", time.Now().Unix(), "only grows; default: seconds since 1970")
	notes := fs.String("notes", "", "the `FILE` of what is new")
	expires := fs.Duration("expires", 30*24*time.Hour, "after which it has to be signed anew")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() != 1 || len(keys) == 0 {
		return errors.New("manifest needs -key and the folder that it goes to")
	}
	now := time.Now().UTC().Truncate(time.Second)
	m := release.Manifest{Format: 1, Channel: *channel, Sequence: *sequence, Issued: now, Expires: now.Add(*expires)}
	if *notes != "" {
		b, err := os.ReadFile(*notes)
		if err != nil {
			return err
		}
		m.Notes = string(b)
	}
	if err := files(&m, *packages, fs.Arg(0)); err != nil {
		return err
	}
	data, err := marshal(m)
	if err != nil {
		return err
	}
	if err := m.Check(*channel); err != nil {
		return err
	}
	return sign(filepath.Join(fs.Arg(0), *channel+".json"), data, keys, "Hearth "+m.Version+", "+*channel)
}

// files lists the archives of a folder, and puts them beside the manifest.
func files(m *release.Manifest, folder, out string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		parts := packageName.FindStringSubmatch(e.Name())
		if parts == nil {
			continue
		}
		if m.Version != "" && m.Version != parts[2] {
			return fmt.Errorf("%s has archives of %s and of %s", folder, m.Version, parts[2])
		}
		m.Version = parts[2]
		f := release.File{OS: parts[3], Arch: parts[4], Kind: release.KindDesktop, Name: e.Name()}
		if parts[1] != "" {
			f.Kind = release.KindGateway
		}
		if err := describe(&f, filepath.Join(folder, e.Name())); err != nil {
			return fmt.Errorf("%s: %w", e.Name(), err)
		}
		if err := beside(filepath.Join(folder, e.Name()), filepath.Join(out, e.Name())); err != nil {
			return err
		}
		m.Files = append(m.Files, f)
	}
	if len(m.Files) == 0 {
		return fmt.Errorf("%s has no archives; build/package makes them", folder)
	}
	return nil
}

// describe fills in what an archive and its programs are.
func describe(f *release.File, file string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if f.Size, f.SHA, err = digest(in); err != nil {
		return err
	}
	program := func(name string, r io.Reader) error {
		name = path.Base(name)
		if !release.IsProgram(name) {
			return nil
		}
		size, sha, err := digest(r)
		f.Programs = append(f.Programs, release.Program{Name: name, Size: size, SHA: sha})
		return err
	}
	if strings.HasSuffix(file, ".zip") {
		return inZip(file, program)
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag == tar.TypeReg && h.Mode&0o111 != 0 {
			if err := program(h.Name, r); err != nil {
				return err
			}
		}
	}
}

func inZip(file string, program func(string, io.Reader) error) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	defer func() { _ = z.Close() }()
	for _, e := range z.File {
		if !strings.HasSuffix(e.Name, ".exe") {
			continue
		}
		r, err := e.Open()
		if err != nil {
			return err
		}
		if err := errors.Join(program(e.Name, r), r.Close()); err != nil {
			return err
		}
	}
	return nil
}

func digest(r io.Reader) (int64, string, error) {
	h := sha256.New()
	n, err := io.Copy(h, r)
	return n, hex.EncodeToString(h.Sum(nil)), err
}

// beside puts a file where the manifest is.
func beside(from, to string) error {
	if from == to {
		return nil
	}
	_ = os.Remove(to)
	if os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
