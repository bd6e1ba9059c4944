package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"aead.dev/minisign"

	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// keyPair is a key of the publisher.
type keyPair struct {
	private minisign.PrivateKey
	text    string
}

func newKey(t testing.TB) keyPair {
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(public.String())
	return keyPair{private, lines[len(lines)-1]}
}

func texts(keys ...keyPair) (out []string) {
	for _, k := range keys {
		out = append(out, k.text)
	}
	return out
}

// publisher is a source of releases: what its server has, and how it misbehaves.
type publisher struct {
	t     testing.TB
	roots []keyPair
	keys  []keyPair
	url   string

	mu    sync.Mutex
	files map[string][]byte
	asked []string // names and ranges
	// handle takes a request in place of the server; false: as usual.
	handle func(w http.ResponseWriter, r *http.Request, name string, data []byte) bool
}

func newPublisher(t testing.TB) *publisher {
	p := &publisher{t: t, roots: []keyPair{newKey(t)}, keys: []keyPair{newKey(t)}, files: map[string][]byte{}}
	srv := httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(srv.Close)
	p.url = srv.URL + "/releases"
	p.trust(1, 1, p.roots, p.roots)
	return p
}

func (p *publisher) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/releases/")
	p.mu.Lock()
	data, ok := p.files[name]
	p.asked = append(p.asked, strings.TrimSpace(name+" "+r.Header.Get("Range")))
	handle := p.handle
	p.mu.Unlock()
	switch {
	case handle != nil && handle(w, r, name, data):
	case !ok:
		http.NotFound(w, r)
	default:
		w.Header().Set("ETag", `"`+digest(data)[:16]+`"`)
		http.ServeContent(w, r, path.Base(name), time.Time{}, bytes.NewReader(data))
	}
}

func (p *publisher) put(name string, data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files[name] = data
}

func (p *publisher) sign(name string, data []byte, keys ...keyPair) {
	p.put(name, data)
	for _, k := range keys {
		p.put(fmt.Sprintf("%s.%016X.minisig", name, k.private.ID()), minisign.Sign(k.private, data))
	}
}

// trust publishes a list of keys that signers sign.
func (p *publisher) trust(serial, threshold int, roots, signers []keyPair) Trust {
	tr := Trust{Format: 1, Serial: serial, Roots: texts(roots...), RootThreshold: len(roots), Releases: texts(p.keys...),
		Threshold: threshold, Expires: time.Now().Add(1000 * time.Hour)}
	data, err := json.Marshal(tr)
	if err != nil {
		p.t.Fatal(err)
	}
	p.sign(trustName(serial), data, signers...)
	return tr
}

// release publishes a version with the programs given, and returns what it says.
func (p *publisher) release(sequence int64, version string, programs map[string][]byte, edit func(*Manifest)) Manifest {
	archive, list := packed(p.t, programs)
	name := "hearth-gateway_" + version + "_test.tar.gz"
	p.put(name, archive)
	m := Manifest{
		Format: 1, Channel: "stable", Sequence: sequence, Version: version, Issued: time.Now().Add(-time.Hour),
		Expires: time.Now().Add(100 * time.Hour), Notes: "Better.",
		Files: []File{{OS: runtime.GOOS, Arch: runtime.GOARCH, Kind: KindGateway, Name: name, Size: int64(len(archive)),
			SHA: digest(archive), Programs: list}},
	}
	if edit != nil {
		edit(&m)
	}
	data, err := json.Marshal(m)
	if err != nil {
		p.t.Fatal(err)
	}
	p.sign("stable.json", data, p.keys...)
	return m
}

func packed(t testing.TB, programs map[string][]byte) ([]byte, []Program) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	var list []Program
	for _, name := range []string{"hearth", "hearth-channels", "README.md", "hearth-evil"} {
		b, ok := programs[name]
		if !ok {
			continue
		}
		head := tar.Header{Name: "hearth-gateway_x/" + name, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(b))}
		if err := w.WriteHeader(&head); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		if IsProgram(name) && name != "hearth-evil" {
			list = append(list, Program{Name: name, Size: int64(len(b)), SHA: digest(b)})
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), list
}

func digest(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// person is an installation of version 0.1.0, unpacked from an archive, and its data.
type person struct {
	t   testing.TB
	p   *publisher
	dir statedir.Dir
	in  Install
	now time.Time
}

func newPerson(t testing.TB, p *publisher) *person {
	root := t.TempDir()
	for _, name := range []string{"hearth", "hearth-channels", "hearth-other"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(name+" 0.1.0"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	h := &person{t: t, p: p, dir: statedir.Dir(filepath.Join(t.TempDir(), "state")), in: At(filepath.Join(root, "hearth")), now: time.Now()}
	if err := h.dir.Ensure(); err != nil {
		t.Fatal(err)
	}
	return h
}

// filled gives the person a store with messages.
func (h *person) filled(n int) {
	h.t.Helper()
	db, err := store.Open(h.dir.Store(), store.Options{ReserveBytes: -1})
	if err != nil {
		h.t.Fatal(err)
	}
	b := store.NewBucket[string]("entries")
	for i := range n {
		err := db.Update(h.t.Context(), store.Write{Do: func(tx *store.Tx) error {
			return b.Put(tx, fmt.Appendf(nil, "%06d", i), strings.Repeat("x", 200))
		}})
		if err != nil {
			h.t.Fatal(err)
		}
	}
	if err := db.Close(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

// count counts them.
func count(path string) (n int, err error) {
	s, err := store.OpenSalvage(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = s.Close() }()
	err = s.Rows("entries", func(_, _ []byte) error { n++; return nil })
	return n, err
}

func (h *person) updater() Updater {
	h.t.Helper()
	src, err := NewSource(h.p.url)
	if err != nil {
		h.t.Fatal(err)
	}
	return Updater{
		Dir: h.dir, Install: h.in, Version: "0.1.0", Source: src, Anchor: Anchor{1, texts(h.p.roots...)}, Channel: "stable",
		Env: func(string) string { return "" }, Now: func() time.Time { return h.now }, Paused: func() error { return nil }, Count: count,
		Copy: func(ctx context.Context, to string) error {
			s, err := OpenStopped(ctx, h.dir, time.Now)
			if err != nil {
				return err
			}
			defer func() { _ = s.Close(ctx) }()
			return s.Copy(ctx, to)
		},
	}
}

// whole says which version every program of the installation is, and fails when they
// are not of one.
func (h *person) whole() string {
	h.t.Helper()
	seen := ""
	for _, name := range []string{"hearth", "hearth-channels"} {
		b, err := os.ReadFile(filepath.Join(h.in.Root, name))
		if err != nil {
			h.t.Fatalf("a program is missing: %v", err)
		}
		v, _, _ := strings.Cut(strings.TrimPrefix(string(b), name+" "), " ")
		if len(b) > 1000 {
			v = "0.2.0" // it is a program, of which there is one version only
		}
		if seen != "" && v != seen {
			h.t.Fatalf("hearth is %s and %s is %s", seen, name, v)
		}
		seen = v
	}
	if b, err := os.ReadFile(filepath.Join(h.in.Root, "hearth-other")); err != nil || string(b) != "hearth-other 0.1.0" {
		h.t.Fatalf("what is not in the archive did not come along: %v", err)
	}
	return seen
}

// real builds the program whose faults can be chosen, once.
var real = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "hearth-version")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	out := filepath.Join(dir, "version")
	cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", out, "./testdata/version")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build: %w\n%s", err, said)
	}
	return os.ReadFile(out)
})

// working is a version that runs, with a fault: "", "rehearsal:hang", …
func working(t testing.TB, version, fault string) map[string][]byte {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("installations are not updated there")
	}
	b, err := real()
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"hearth": b, "hearth-channels": []byte(version + " " + fault)}
}
