package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// become goes on as another program: Windows has no way to do so in this process, so
// this one waits for it and ends as it does.
func become(exe string, args []string) error {
	cmd := exec.Command(exe, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return &failure{code: ended.ExitCode()}
	}
	if err != nil {
		return fmt.Errorf("go on as %s: %w", exe, err)
	}
	return &failure{code: exitOK}
}

// apart does nothing: a console's Ctrl-C reaches all of its programs.
func apart(*exec.Cmd) {}

// end ends a program: Windows has no word for asking one.
func end(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func stay() {}
