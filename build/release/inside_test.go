package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// archive is a .tar.gz with one file in it.
func archive(t *testing.T, h tar.Header, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	h.Size = int64(len(content))
	if err := w.WriteHeader(&h); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t *testing.T, when time.Time) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if _, err := w.CreateHeader(&zip.FileHeader{Name: "hearth.exe", Modified: when}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func folder(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A time, a right, a name or a byte that found its way into a release is noticed,
// and it is said where.
func TestTwoReleasesThatDiffer(t *testing.T) {
	noon := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	plain := tar.Header{Name: "hearth/hearth", Mode: 0o755, ModTime: noon, Typeflag: tar.TypeReg}
	files := func() map[string][]byte {
		return map[string][]byte{"a.tar.gz": archive(t, plain, "program"), "b.zip": zipped(t, noon),
			"c.deb": []byte("package"), "recipes/d.rb": []byte("x")}
	}
	for name, tc := range map[string]struct {
		change func(map[string][]byte)
		want   []string // in what is said
	}{
		"nothing": {func(map[string][]byte) {}, nil},
		"a later time": {func(f map[string][]byte) {
			h := plain
			h.ModTime = noon.Add(time.Second)
			f["a.tar.gz"] = archive(t, h, "program")
		}, []string{"a.tar.gz", "hearth/hearth", "12:00:01"}},
		"another right": {func(f map[string][]byte) {
			h := plain
			h.Mode = 0o700
			f["a.tar.gz"] = archive(t, h, "program")
		}, []string{"a.tar.gz", "700"}},
		"another owner": {func(f map[string][]byte) {
			h := plain
			h.Uname = "ada"
			f["a.tar.gz"] = archive(t, h, "program")
		}, []string{"a.tar.gz", "ada"}},
		"another program": {func(f map[string][]byte) { f["a.tar.gz"] = archive(t, plain, "Program") }, []string{"a.tar.gz", "other content"}},
		"a later zip":     {func(f map[string][]byte) { f["b.zip"] = zipped(t, noon.Add(time.Hour)) }, []string{"b.zip", "hearth.exe", "13:00"}},
		"a byte":          {func(f map[string][]byte) { f["c.deb"] = []byte("pack@ge") }, []string{"c.deb", "byte 4"}},
		"a file more":     {func(f map[string][]byte) { f["e"] = nil }, []string{"e: only in the second"}},
		"a file less":     {func(f map[string][]byte) { delete(f, "recipes/d.rb") }, []string{"recipes/d.rb: only in the first"}},
	} {
		t.Run(name, func(t *testing.T) {
			other := files()
			tc.change(other)
			err := same([]string{folder(t, files()), folder(t, other)})
			if (err != nil) != (tc.want != nil) {
				t.Fatalf("it says %v", err)
			}
			for _, word := range tc.want {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("it says %q, without %q", err, word)
				}
			}
		})
	}
	if same([]string{t.TempDir(), t.TempDir()}) == nil {
		t.Error("two empty folders are no release that is the same")
	}
}

const lockFile = `{"lockfileVersion": 3, "packages": {"": {"name": "page"},
	"node_modules/marked": {"version": "18.2.1", "license": "MIT", "integrity": "sha512-AAEC"},
	"node_modules/@scope/a/node_modules/b": {"version": "1.0.0"},
	"node_modules/@scope/a": {"version": "2.0.0", "license": "(MIT OR Apache-2.0)"},
	"node_modules/vitest": {"version": "4.1.12", "dev": true}}}`

func TestBillOfMaterials(t *testing.T) {
	itself, err := os.Executable() // a program with modules in it, as good as any
	if err != nil {
		t.Fatal(err)
	}
	dir := folder(t, map[string][]byte{"lock.json": []byte(lockFile), "hand/quickjs.txt": []byte("QuickJS-NG\n\nMIT")})
	write := func(name string) []byte {
		out := filepath.Join(dir, name)
		err := sbom([]string{"-version", "1.2.3", "-time", "1700000000", "-lock", filepath.Join(dir, "lock.json"),
			"-by-hand", filepath.Join(dir, "hand"), out, itself})
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	data := write("one")
	if !bytes.Equal(data, write("two")) {
		t.Error("the same programs have two bills")
	}
	var b bill
	if err := json.Unmarshal(data, &b); err != nil {
		t.Fatal(err)
	}
	refs := map[string]bool{"hearth": true}
	for _, c := range b.Components {
		if refs[c.Ref] {
			t.Errorf("%s is there twice", c.Ref)
		}
		refs[c.Ref] = true
	}
	for _, want := range []string{"pkg:npm/marked@18.2.1", "pkg:npm/%40scope/a@2.0.0", "pkg:npm/b@1.0.0", "QuickJS-NG"} {
		if !refs[want] {
			t.Errorf("%s is missing", want)
		}
	}
	if refs["pkg:npm/vitest@4.1.12"] {
		t.Error("what only tests the page is told as if it were inside")
	}
	for _, d := range b.Dependencies {
		for _, on := range append(slices.Clone(d.DependsOn), d.Ref) {
			if !refs[on] {
				t.Errorf("%s depends on %s, which is no component", d.Ref, on)
			}
		}
	}
	if !strings.Contains(string(data), "pkg:golang/aead.dev/minisign@") || !strings.Contains(string(data), `"000102"`) {
		t.Error("a module or a checksum is missing")
	}
}

func TestProvenance(t *testing.T) {
	dir := folder(t, map[string][]byte{"hearth.deb": []byte("package"), "SHA256SUMS": nil})
	out := filepath.Join(dir, "hearth.provenance.json")
	lock := filepath.Join(dir, "hearth.deb")
	t.Setenv("HEARTH_UPDATE_SOURCE", "https://example.org")
	for range 2 { // the second time it lies there itself
		if err := provenanceOf([]string{"-packages", dir, "-commit", "c0ffee", "-node", "v20", "-lock", lock, out}); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var s statement
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Subject) != 1 || s.Subject[0].Name != "hearth.deb" || len(s.Subject[0].Digest["sha256"]) != 64 {
		t.Errorf("it is about %v", s.Subject)
	}
	if s.Type != "https://in-toto.io/Statement/v1" || s.Predicate != "https://slsa.dev/provenance/v1" {
		t.Errorf("it is a %s of %s", s.Predicate, s.Type)
	}
	d := s.Body.Definition
	if d.External["HEARTH_UPDATE_SOURCE"] != "https://example.org" || d.Dependencies[0].Digest["gitCommit"] != "c0ffee" ||
		len(d.Dependencies) != 2 {
		t.Errorf("it was made of %+v", d)
	}
	if err := provenanceOf([]string{"-packages", t.TempDir(), "-commit", "c0ffee", filepath.Join(dir, "x")}); err == nil {
		t.Error("a statement about nothing")
	}
}
