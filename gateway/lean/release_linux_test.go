package lean

import (
	"os"
	"slices"
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

// TestWhatTheLoaderWroteIsKept: the loader writes addresses of libraries'
// functions into a page of a program that has any, and makes it read-only.
func TestWhatTheLoaderWroteIsKept(t *testing.T) {
	smaps := ""
	for _, m := range []struct{ head, anonymous, swap string }{
		{"00400000-00403000 r--p 00000000 fe:00 12 /opt/hearth-tray", "0", "0"},
		{"00403000-007c4000 r-xp 00003000 fe:00 12 /opt/hearth-tray", "0", "0"},
		{"00be7000-00be8000 r--p 007e6000 fe:00 12 /opt/hearth-tray", "4", "0"},
		{"00be8000-00be9000 r--p 007e7000 fe:00 12 /opt/hearth-tray", "0", "4"},
		{"00be9000-00c45000 rw-p 007e8000 fe:00 12 /opt/hearth-tray", "0", "0"},
		{"7fff0000-7fff1000 r-xp 00000000 fe:00 13 /usr/lib/c.so", "0", "0"},
	} {
		smaps += m.head + "\nRss:      12 kB\nAnonymous:     " + m.anonymous + " kB\nAnonHugePages:   0 kB\nSwap:      " + m.swap + " kB\nSwapPss:    0 kB\nVmFlags: rd mr mw me\n"
	}
	want := []part{{0x400000, 0x403000}, {0x403000, 0x7c4000}}
	if got := parts(strings.NewReader(smaps), "/opt/hearth-tray"); !slices.Equal(got, want) {
		t.Errorf("parts = %x, want %x", got, want)
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
