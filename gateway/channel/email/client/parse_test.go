package client_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"io/fs"

	"github.com/hearth-assistant/hearth/gateway/channel/email/client"
)

func opener(t *testing.T, _, name, text string) func(string) (fs.File, error) {
	t.Helper()
	return func(path string) (fs.File, error) {
		if path != name {
			return nil, os.ErrNotExist
		}
		return fstest.MapFS{name: {Data: []byte(text)}}.Open(name)
	}
}

// TestParse: what a message says, as mail programs write it.
func TestParse(t *testing.T) {
	for name, c := range map[string]struct{ raw, want string }{
		"plain": {"\r\nhello\r\nthere\r\n", "hello\nthere||"},
		"latin": {"Content-Type: text/plain; charset=iso-8859-1\r\n\r\nGr\xfc\xdfe", "Grüße||"},
		"html": {"Content-Type: text/html\r\n\r\n<style>x</style><p>Hello <b>you</b></p><ul><li>a &amp; b<li>c</ul>",
			"Hello you\na & b\nc||"},
		"signature": {"\r\nhello\r\n-- \r\nAda\r\n1 Street", "hello||"},
		"both": {"Content-Type: multipart/alternative; boundary=x\r\n\r\n--x\r\nContent-Type: text/html\r\n\r\n<p>h</p>\r\n--x\r\n" +
			"Content-Type: text/plain\r\n\r\np\r\n--x--\r\n", "p||"},
		"quoted":  {"\r\nyes\r\n\r\nAm 1.6. schrieb Hearth:\r\n> are you\r\n>\r\n> there?\r\n", "yes|are you\n\nthere?|"},
		"between": {"\r\n> one?\r\nyes\r\n> two?\r\nno\r\n", "> one?\nyes\n> two?\nno||"},
		"outlook": {"\r\nyes\r\n\r\n-----Original Message-----\r\nFrom: x\r\nthere?\r\n", "yes|From: x\nthere?|"},
		"file": {"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\np\r\n--x\r\n" +
			"Content-Type: text/plain; name=\"=?utf-8?q?=C3=BC.txt?=\"\r\n\r\nsecret\r\n--x--\r\n", "p||ü.txt"},
		"only quoted": {"\r\n> x\r\n", "> x||"},
		"nothing":     {"\r\n", "||"},
	} {
		text, quoted, files, err := client.Parse([]byte("From: a@b.c\r\n" + c.raw))
		if got := text + "|" + quoted + "|" + strings.Join(files, ","); err != nil || got != c.want {
			t.Errorf("%s: %q, want %q (%v)", name, got, c.want, err)
		}
	}
}

// TestSec_A_CH_MailBombs: what is made to hurt its reader is read in little time and
// memory.
func TestSec_A_CH_MailBombs(t *testing.T) {
	deep := "Content-Type: multipart/mixed; boundary=x\r\n\r\n"
	for name, raw := range map[string]string{
		"parts in parts": "From: a@b.c\r\n" + deep + strings.Repeat("--x\r\n"+deep, 100_000),
		"many parts":     "From: a@b.c\r\n" + deep + strings.Repeat("--x\r\n\r\nx\r\n", 200_000),
		"many files":     "From: a@b.c\r\n" + deep + strings.Repeat("--x\r\nContent-Type: a/b\r\n\r\nx\r\n", 200_000),
		"a long line":    "From: a@b.c\r\n\r\n" + strings.Repeat("x", 20<<20),
		"many lines":     "From: a@b.c\r\n\r\n" + strings.Repeat(">\n", 10<<20),
		"quotations":     "From: a@b.c\r\n\r\nx\n" + strings.Repeat("on x wrote\n", 1<<20) + "> x",
		"tags":           "From: a@b.c\r\nContent-Type: text/html\r\n\r\n" + strings.Repeat("<div>", 4<<20),
		"a long subject": "From: a@b.c\r\nSubject: " + strings.Repeat("=?utf-8?B?////?= ", 10_000) + "\r\n\r\nx",
		"many people":    "From: a@b.c\r\nTo: " + strings.Repeat("a@b.c, ", 30_000) + "a@b.c\r\n\r\nx",
		"a long header":  "From: a@b.c\r\nX: " + strings.Repeat("x", 20<<20) + "\r\n\r\nx",
	} {
		text, quoted, files, err := client.Parse([]byte(raw))
		if len(text) > 1<<20 || len(quoted) > 4000 || len(files) > 20 {
			t.Errorf("%s: %d, %d, %d %v", name, len(text), len(quoted), len(files), err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("From: a@b.c\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/html\r\n\r\n<p>x\r\n--x--"))
	f.Add([]byte(fmt.Sprintf("From: =?iso-8859-1?q?=FC?= <a@b.c>\r\nReferences: <%s>\r\n\r\nx\n\nOn x wrote:\n> y", strings.Repeat("x", 300))))
	f.Fuzz(func(t *testing.T, b []byte) {
		text, quoted, files, err := client.Parse(b)
		if err == nil && (len(text) > 1<<20 || len(quoted) > 4000 || len(files) > 20 || strings.ContainsAny(text+quoted, "\x00\x1f\x7f")) {
			t.Errorf("%q %q %q", text, quoted, files)
		}
	})
}
