package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal is a terminal of its own, and the end that its person sits at.
func openTerminal(t *testing.T) (terminal, person *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	return terminal, person
}

func echoes(t *testing.T, f *os.File) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

// Ctrl-C at a hidden question ends the command at once, and the terminal shows again
// what is typed.
func TestCtrlCAtAHiddenQuestionShowsAgain(t *testing.T) {
	_, env := plainHome(t)
	terminal, person := openTerminal(t)
	before := os.Stdin
	os.Stdin = terminal
	defer func() { os.Stdin = before }()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan int, 1)
	go func() {
		ended <- Main(ctx, []string{"secrets", "set", "foo"}, World{In: terminal, Out: io.Discard, Err: io.Discard, Env: env, Version: "test",
			InTerminal: true, OutTerminal: true, ErrTerminal: true})
	}()
	for echoes(t, terminal) && len(ended) == 0 {
		runtime.Gosched()
	}
	stop()
	if code := <-ended; code != exitInterrupted || !echoes(t, terminal) {
		t.Errorf("exit code %d, the terminal echoes: %v", code, echoes(t, terminal))
	}
	_, _ = person.WriteString("\n") // lets the read go that was left behind
}
