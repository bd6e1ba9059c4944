//go:build desktop && linux

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"unsafe"

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
	giveLibraries()
	if after := closedPages(t); after != before {
		t.Errorf("%d kB were as the loader wrote them, %d now", before, after)
	}
}

// What libraries declare as never written is given back, and is there as it was
// when it is used again.
func TestLibrariesAreGivenBack(t *testing.T) {
	used := readLibraries(t)
	before := inMemory(t)
	giveLibraries()
	if after := inMemory(t); after > before/2 {
		t.Errorf("%d kB of libraries' code before, %d after", before, after)
	}
	if again := readLibraries(t); again != used || used == 0 {
		t.Errorf("their code adds up to %d, before to %d", again, used)
	}
}

func isCode(head []string) bool {
	return head[1] == "r-xp" && strings.Contains(head[len(head)-1], ".so")
}

// inMemory is how much of libraries' code is in memory.
func inMemory(t *testing.T) (kb int) {
	t.Helper()
	each(t, func(head []string, name string, n int) {
		if name == "Rss:" && isCode(head) {
			kb += n
		}
	})
	return kb
}

// readLibraries reads all of that code, and adds it up.
func readLibraries(t *testing.T) (sum uint64) {
	t.Helper()
	each(t, func(head []string, name string, _ int) {
		if name != "Rss:" || !isCode(head) {
			return
		}
		var from, to uintptr
		if _, err := fmt.Sscanf(head[0], "%x-%x", &from, &to); err != nil {
			t.Fatal(err)
		}
		for at := from; at < to; at += 8 {
			sum = sum*31 + **(**uint64)(unsafe.Pointer(&at))
		}
	})
	return sum
}

// closedPages is what differs from the file where this program cannot be written.
func closedPages(t *testing.T) (kb int) {
	t.Helper()
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(head []string, name string, n int) {
		if name == "Anonymous:" && head[len(head)-1] == exe && head[1] == "r--p" {
			kb += n
		}
	})
	return kb
}

// each hands over every size of every part of this program's memory; head is the
// part's addresses, rights and file.
func each(t *testing.T, take func(head []string, name string, kb int)) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	var head []string
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		switch {
		case !strings.HasSuffix(f[0], ":"):
			head = f
		case len(f) == 3:
			n, err := strconv.Atoi(f[1])
			if err != nil {
				t.Fatal(err)
			}
			take(head, f[0], n)
		}
	}
}
