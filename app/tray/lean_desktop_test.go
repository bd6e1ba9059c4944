//go:build desktop && linux

package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/lean"
)

// The icon is linked with libraries: the loader wrote addresses of their
// functions into a page and closed it. It would end the program to give that back.
func TestGivingMemoryBackKeepsWhatTheLoaderWrote(t *testing.T) {
	before := closedPages(t)
	if before == 0 {
		t.Fatal("there is no such page in this program")
	}
	lean.Release()
	if after := closedPages(t); after != before {
		t.Errorf("%d kB were as the loader wrote them, %d now", before, after)
	}
}

// closedPages is what differs from the file where this program cannot be written.
func closedPages(t *testing.T) (kb int) {
	t.Helper()
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	ours := false
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		switch {
		case !strings.HasSuffix(f[0], ":"):
			ours = f[len(f)-1] == exe && f[1] == "r--p"
		case ours && f[0] == "Anonymous:":
			n, err := strconv.Atoi(f[1])
			if err != nil {
				t.Fatal(err)
			}
			kb += n
		}
	}
	return kb
}
