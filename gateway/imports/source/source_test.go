package source

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// archive writes a zip file with what fill puts into it.
func archive(t *testing.T, fill func(z *zip.Writer) error) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "export.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	if err := errors.Join(fill(z), z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string) *Tree {
	t.Helper()
	tree, err := Open(path, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	return tree
}

// TestSec_A_FILE_08_NamesInArchivesOfImports: of an archive only plain files with
// names that lead nowhere else are there, and the first of several with one name.
func TestSec_A_FILE_08_NamesInArchivesOfImports(t *testing.T) {
	tree := open(t, archive(t, func(z *zip.Writer) error {
		for i, name := range []string{"chats/one.json", "../out.json", "/etc/passwd", `chats\two.json`, "chats/../../out.json",
			"./chats/one.json", "chats/three.json", "folder/"} {
			w, err := z.Create(name)
			if err == nil && !strings.HasSuffix(name, "/") {
				_, err = fmt.Fprintf(w, "entry %d", i)
			}
			if err != nil {
				return err
			}
		}
		link := &zip.FileHeader{Name: "chats/link.json"}
		link.SetMode(fs.ModeSymlink | 0o777)
		w, err := z.CreateHeader(link)
		if err == nil {
			_, err = io.WriteString(w, "/etc/passwd")
		}
		return err
	}))
	got, err := tree.Files(".", nil)
	if want := []string{"chats/one.json", "chats/three.json"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if b, err := tree.Read("chats/one.json", 100); err != nil || string(b) != "entry 0" {
		t.Errorf("%q, %v", b, err)
	}
	for _, name := range []string{"../out.json", "/etc/passwd", "chats/link.json"} {
		if _, err := tree.Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSec_A_FILE_07_ArchivesOfImports: what an archive holds is read as far as it may
// be, and one whose list of files is too long is not taken at all.
func TestSec_A_FILE_07_ArchivesOfImports(t *testing.T) {
	tree := open(t, archive(t, func(z *zip.Writer) error {
		w, err := z.Create("chats.json")
		if err == nil {
			_, err = io.Copy(w, io.LimitReader(zeros{}, 64<<20))
		}
		return err
	}))
	if _, err := tree.Read("chats.json", 1<<20); !errors.Is(err, ErrTooLarge) {
		t.Errorf("64 MB in a file of a few KB: %v", err)
	}
	for name, fill := range map[string]func(z *zip.Writer) error{
		"too many files": func(z *zip.Writer) error {
			for n := range maxFiles + 1 {
				if _, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprint(n)}); err != nil {
					return err
				}
			}
			return nil
		},
		"names of 60 KB": func(z *zip.Writer) error {
			for n := range maxDirectory/60_000 + 1 {
				if _, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("%d%060000d", n, 0)}); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		if tree, err := Open(archive(t, fill), t.TempDir()); !errors.Is(err, ErrTooMany) {
			t.Errorf("%s: %v", name, err)
			if err == nil {
				_ = tree.Close()
			}
		}
	}
}

// TestDamagedArchive: it is said in our words.
func TestDamagedArchive(t *testing.T) {
	for _, text := range []string{"PK\x03\x04PK", "PK\x03\x04 and nothing of an archive"} {
		path := filepath.Join(t.TempDir(), "export")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		tree, err := Open(path, t.TempDir())
		if !errors.Is(err, ErrArchive) || strings.Contains(err.Error(), "zip:") {
			t.Errorf("%q: %v", text, err)
		}
		if err == nil {
			_ = tree.Close()
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestSec_A_FILE_08_LinksInFoldersOfImports: a link that leads out of the folder that
// was named is not followed, neither as a file nor as a folder on the way; one that
// stays inside is.
func TestSec_A_FILE_08_LinksInFoldersOfImports(t *testing.T) {
	out, dir := t.TempDir(), t.TempDir()
	for path, words := range map[string]string{filepath.Join(out, "secret"): "secret", filepath.Join(dir, "plain"): "plain"} {
		if err := os.WriteFile(path, []byte(words), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"file": filepath.Join(out, "secret"), "folder": out, "inside": "plain"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("no links here:", err)
		}
	}
	tree := open(t, dir)
	if got, err := tree.Files(".", nil); err != nil || !slices.Equal(got, []string{"plain"}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, name := range []string{"file", "folder/secret", "../" + filepath.Base(out) + "/secret"} {
		if b, err := tree.Read(name, 100); err == nil || tree.Has(name) {
			t.Errorf("%s was read: %q", name, b)
		}
	}
	if b, err := tree.Read("inside", 100); err != nil || string(b) != "plain" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := tree.Open("."); !errors.Is(err, ErrNotFile) {
		t.Errorf("a folder as a file: %v", err)
	}
}
