// Command version behaves as versions of Hearth do that have a fault: it is what the
// tests of updates install. What is wrong with it stands in the program beside it,
// which is a word in place of a program.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	exe, err := os.Executable()
	if err != nil {
		os.Exit(9)
	}
	mode, err := os.ReadFile(filepath.Join(filepath.Dir(exe), "hearth-channels"))
	if err != nil {
		os.Exit(8)
	}
	version, fault, _ := strings.Cut(strings.TrimSpace(string(mode)), " ")
	rehearsal := strings.Contains(strings.Join(os.Args, " "), "--rehearse")
	if when, what, ok := strings.Cut(fault, ":"); ok && (when == "rehearsal") == rehearsal {
		fail(what)
		if what == "version" {
			version = "9.9.9"
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(7)
	}
	fmt.Printf(`{"type":"ready","url":"http://%s","version":%q}`+"\n", ln.Addr(), version)
	go func() {
		_ = http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"ok":true}`) }))
	}()
	_, _ = io.Copy(io.Discard, bufio.NewReader(os.Stdin)) // the lifeline
}

func fail(what string) {
	db := filepath.Join(os.Getenv("HEARTH_HOME"), "hearth.db")
	switch what {
	case "hang":
		time.Sleep(time.Hour)
	case "crash":
		fmt.Fprintln(os.Stderr, "panic: something")
		os.Exit(2)
	case "nonsense":
		fmt.Println("hello")
		time.Sleep(time.Hour)
	case "corrupt":
		f, err := os.OpenFile(db, os.O_RDWR, 0)
		if err != nil {
			os.Exit(6)
		}
		for page := int64(2); page < 64; page++ {
			_, _ = f.WriteAt([]byte(strings.Repeat("\xff", 4096)), page*4096)
		}
		_ = f.Close()
	case "empty":
		_ = os.Remove(db)
		_ = os.WriteFile(db, nil, 0o600)
	}
}
