package lean

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestPartOf(t *testing.T) {
	for line, want := range map[string]part{
		"00400000-00401000 r-xp 00000000 fe:00 12                         /opt/he arth":  {0x400000, 0x401000},
		"00400000-00401000 r--p 00000000 fe:00 12                         /opt/he arth":  {0x400000, 0x401000},
		"00400000-00401000 rw-p 00000000 fe:00 12                         /opt/he arth":  {},
		"00400000-00401000 r-xp 00000000 fe:00 12                         /usr/lib/c.so": {},
		"7fff0000-7fff1000 r-xp 00000000 00:00 0                          [vdso]":        {},
		"rubbish": {},
	} {
		if got, ok := partOf(line, "/opt/he arth"); ok != (want != part{}) || ok && got != want {
			t.Errorf("partOf(%q) = %v, %v, want %v", line, got, ok, want)
		}
	}
}

// TestRelease: pages of the program are gone from this process, and it goes on.
func TestRelease(t *testing.T) {
	before := fileKB(t)
	Release()
	if after := fileKB(t); after >= before {
		t.Fatalf("%d kB of files before, %d after", before, after)
	}
	if Touched() <= 0 {
		t.Fatal("no page was ever touched")
	}
}

func fileKB(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "RssFile:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
