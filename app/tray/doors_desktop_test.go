//go:build desktop && linux

package main

import (
	"bytes"
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/app/desktoptest"
)

// outside is an address of this machine that is not the loopback's.
func outside(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() && !ip.IP.IsLinkLocalUnicast() {
			return ip.IP.String()
		}
	}
	t.Skip("this machine has no address but its own")
	return ""
}

// hearth runs the command line in a home.
func hearth(ctx context.Context, t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, filepath.Join(dir, "hearth"), args...)
	c.Env = []string{"HOME=" + home, "HEARTH_HOME=" + filepath.Join(home, "state"), "TMPDIR=" + home, "PATH=/usr/bin:/bin"}
	return c
}

func TestADeviceThatShowsTheSameDigitsIsLetInFromTheMenu(t *testing.T) {
	desktop(t)
	where := outside(t)
	h := newHost(t)
	p := newProgram(t)
	p.start()
	i := h.icon(t)
	i.until("Ready")
	for _, set := range [][]string{{"gateway.customBindHost", where}, {"gateway.bind", "custom"}} {
		if out, err := hearth(t.Context(), t, p.home, "config", "set", set[0], set[1]).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	i.until("Devices > Copy address")
	r, err := p.dir.ReadRuntime()
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(strings.TrimPrefix(r.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	knock := func() (*exec.Cmd, *bytes.Buffer) {
		c := hearth(ctx, t, desktoptest.Folder(t), "connect", net.JoinHostPort(where, port), "--name", "house")
		var said bytes.Buffer
		c.Stdin, c.Stdout, c.Stderr = strings.NewReader("y\n"), &said, &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c, &said
	}
	digits := func() (row, shown string) {
		t.Helper()
		i.until("Asks to be let in: ")
		for label := range i.rows() {
			if m := regexp.MustCompile(`^(Asks to be let in: .*(\d{3} \d{3})) > Its screen shows`).FindStringSubmatch(label); m != nil {
				return m[1], m[2]
			}
		}
		t.Fatalf("no digits in %v", i.rows())
		return "", ""
	}
	c, said := knock()
	row, shown := digits()
	i.shows("needs-you")
	i.press(row + " > Its screen shows")
	if err := c.Wait(); err != nil || !strings.Contains(said.String(), shown) {
		t.Fatalf("let in with %s: %v\n%s", shown, err, said)
	}
	i.until("Ready")
	i.until("Devices > ○ ")

	c, said = knock()
	row, _ = digits()
	i.press(row + " > Turn it away")
	if err := c.Wait(); err == nil {
		t.Errorf("it was turned away and says: %s", said)
	}
	i.until("Ready")
}
