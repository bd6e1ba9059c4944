package backup_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/backup"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

// A place inside of what is saved is known under whatever name.
func TestWithin(t *testing.T) {
	top := t.TempDir()
	home, other := filepath.Join(top, "hearth"), filepath.Join(top, "hearth-backups")
	for _, dir := range []string{filepath.Join(home, "deep", "er"), other} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(top, "link")
	if err := os.Symlink(filepath.Join(home, "deep"), link); err != nil {
		t.Skip(err)
	}
	for place, want := range map[string]bool{
		home: true, home + "/": true, filepath.Join(home, "deep", "er"): true, link: true, filepath.Join(link, "er"): true,
		filepath.Join(home, "not", "there", "yet"): true, top: false, other: false, filepath.Join(home, "..", "hearth-backups"): false,
	} {
		if got := backup.Within(place, home); got != want {
			t.Errorf("%s: %v", place, got)
		}
	}
	if backup.Within(other, filepath.Join(top, "gone")) {
		t.Error("something is in a folder that is not there")
	}
}

// What goes wrong is said without the words of libraries and the names of temporary files.
func TestFaultsAreSaidInWords(t *testing.T) {
	said := func(err error, want string, not ...string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it does not say %q: %v", want, err)
			return
		}
		for _, word := range not {
			if strings.Contains(err.Error(), word) {
				t.Errorf("it says %q: %v", word, err)
			}
		}
	}
	for _, r := range []string{"age1foo", "hello", "AGE-SECRET-KEY-1", "age1tx3wh50a84xq8pqf8g7xshmfyfk8hhqzx7mlk575l2f7t4jdhfqq2qdx2"} {
		said(backup.CheckRecipient(r), "is not a recipient of age. It begins with age1", "malformed", "separator", "position", "checksum")
	}
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("nothing keeps this user out of a folder")
	}
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	_, err := backup.MakeKey(closed, secret.New("words that nobody has"))
	said(err, "cannot be written into "+closed+": permission denied; make that folder writable", ".hearth-backup.key.", "open ")
	key := filepath.Join(t.TempDir(), backup.KeyName)
	if err := os.WriteFile(key, nil, 0o000); err != nil {
		t.Fatal(err)
	}
	_, err = backup.KeyOf(t.Context(), filepath.Dir(key), secret.New("words that nobody has"))
	said(err, key+", cannot be read: permission denied; make it readable", "open ")
}

// A backup that cannot be noted was made all the same.
func TestABackupThatIsNotNotedIsMade(t *testing.T) {
	w := newWorld(t)
	w.options.Blocks = filepath.Join(t.TempDir(), "not", "there", "blocks")
	made, err := backup.Create(t.Context(), w.source(), w.options)
	if err != nil || made.Note == nil || !strings.Contains(made.Note.Error(), "the next one will be a full one again") {
		t.Fatalf("%v, %v", made.Note, err)
	}
	if _, err := os.Stat(filepath.Join(w.place, made.Name)); err != nil {
		t.Error(err)
	}
}
