package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/pairing/identity"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Exit codes. Scripts rely on them: `hearth help exit-codes`.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitNotRunning  = 3
	exitRefused     = 4
	exitAnswer      = 5   // the answer failed, was stopped or took too long
	exitConfig      = 78  // a restart cannot help: settings, folder or port
	exitInterrupted = 130 // Ctrl-C
)

const exitCodesHelp = `Exit codes of every command:

    0  it worked
    1  it failed; the message says why
    2  the command line is wrong
    3  the gateway is not running
    4  the gateway refused: token, pairing or missing right
    5  the answer failed, was stopped or took too long
   78  the gateway cannot start and a restart will not help: wrong settings,
       a second gateway on the same folder, a port in use, a damaged database
  130  stopped with Ctrl-C

With --json, errors are one JSON object on standard error:
{"error":{"exitCode":3,"message":"…","hint":"…"}}`

// failure is an error with what a person needs: a sentence and what to do.
type failure struct {
	code    int
	message string
	hint    string
}

func (f *failure) Error() string { return f.message }

// usage is that the command line is wrong; the command's help is the hint.
func usage(format string, a ...any) error {
	return &failure{code: exitUsage, message: fmt.Sprintf(format, a...)}
}

// errInterrupted ends a command that the person stopped.
var errInterrupted = &failure{code: exitInterrupted, message: "stopped"}

// explain turns any error into a sentence, a hint and an exit code.
func explain(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	var refusal *protocol.Error
	var stale *client.NotRunningError
	var stranger *identity.MismatchError
	var unknown *client.NoRemoteError
	var away *awayError
	var folder *statedir.FolderError
	switch {
	case errors.As(err, &stranger):
		return &failure{exitRefused, stranger.Error(), "somebody may be posing as it. If its key was really changed: `hearth connect forget` " +
			"it and pair again with a new code"}
	case errors.As(err, &away):
		return &failure{exitNotRunning, "the gateway " + away.name + " does not answer, neither where it was nor as found on this network",
			"is it running, with `hearth lan on`, is this machine on the same network, and does a firewall there let it through?"}
	case errors.As(err, &unknown):
		return &failure{exitUsage, unknown.Error(), "pair with `hearth connect CODE`; `hearth connect list` shows those that are known"}
	case errors.As(err, &stale) && stale.Stale:
		return &failure{exitNotRunning, "the Hearth gateway is not running, it ended without warning the last time",
			"start it with `hearth gateway`; `hearth logs` shows what it last did"}
	case errors.As(err, &folder):
		return &failure{exitConfig, folder.Error(), folderAdvice}
	case unprinted(err):
		return &failure{exitFailure, "not all could be printed: " + cause(err).Error(), "make room there, or send it somewhere else"}
	case statedir.IsFull(err):
		return &failure{exitFailure, fullDisk(err), "make room; new messages are not accepted without"}
	case errors.Is(err, statedir.ErrNotRunning):
		return &failure{exitNotRunning, "the Hearth gateway is not running", "start it with `hearth gateway`"}
	case errors.As(err, &refusal):
		return explainRefusal(refusal)
	case errors.Is(err, context.Canceled):
		return errInterrupted
	case errors.Is(err, context.DeadlineExceeded):
		return &failure{exitFailure, "the gateway did not answer in time", "try again; `hearth logs` shows what it is doing"}
	case errors.Is(err, client.ErrUnreachable):
		return &failure{exitFailure, "the gateway does not take connections", "it may be just starting or stopping: try again; `hearth logs` " +
			"shows what it is doing"}
	case errors.Is(err, client.ErrLost):
		return &failure{exitFailure, "the connection to the gateway was lost", "`hearth status` tells whether it runs; then try again"}
	case errors.Is(err, client.ErrSlow):
		return &failure{exitFailure, client.ErrSlow.Error(), "try again; nothing that was answered is lost, see `hearth sessions show`"}
	}
	return &failure{code: exitFailure, message: err.Error()}
}

// fullDisk says where there is no room. The file itself may be one that is only
// written for a moment.
func fullDisk(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) && filepath.Dir(pe.Path) != "." {
		return "the disk of " + filepath.Dir(pe.Path) + " is full"
	}
	return "the disk is full"
}

// unprinted: the standard output did not take what was written to it.
func unprinted(err error) bool {
	var pe *fs.PathError
	return errors.As(err, &pe) && pe.Op == "write" && pe.Path == os.Stdout.Name()
}

// refusalWords is a refusal without the name of its method, which nobody typed.
func refusalWords(e *protocol.Error) string {
	if rest, ok := strings.CutPrefix(e.Message, "invalid "); ok {
		if method, why, ok := strings.Cut(rest, " params: "); ok && !strings.Contains(method, " ") {
			return why
		}
	}
	return e.Message
}

func explainRefusal(e *protocol.Error) *failure {
	f := &failure{code: exitFailure, message: refusalWords(e)}
	detail, _ := e.Details["code"].(string)
	switch {
	case e.Code == protocol.CodeForbidden || e.Code == protocol.CodeNotPaired ||
		strings.HasPrefix(detail, "AUTH_") || strings.HasPrefix(detail, "DEVICE_"):
		f.code = exitRefused
		f.hint = "restart the gateway so that its token and this program's agree"
		switch detail {
		case "AUTH_BOOTSTRAP_TOKEN_INVALID":
			f.hint = "on the gateway's machine `hearth qr` makes a new code for `hearth connect`, and `hearth qr --node` one for `hearth node " +
				"run`; neither takes the other's"
		case "AUTH_DEVICE_TOKEN_MISMATCH":
			f.hint = "pair again: `hearth qr` on the gateway's machine makes a new code for `hearth connect`"
		case "AUTH_SCOPE_MISMATCH":
			f.hint = "this machine was paired with fewer rights; `hearth qr --full` on the gateway's machine makes a code that gives all"
		}
		if detail == "AUTH_RATE_LIMITED" {
			f.hint = "wait a few minutes, then try again"
		}
	case strings.HasPrefix(e.Message, "unknown method: "):
		f.message = "the gateway that runs does not have this: its feature is switched off in the settings (features), " +
			"or it is of another version"
		f.hint = "restart it with `hearth gateway`; `hearth status` shows its version"
	case e.Retryable:
		f.hint = "try again in a moment"
	default:
		f.hint = repairHint(e)
	}
	return f
}

// repairHint names the command for what the gateway says can be done.
func repairHint(e *protocol.Error) string {
	what, _ := e.Details["repair"].(string)
	switch protocol.Repair(what) {
	case protocol.RepairKey:
		return "`hearth models auth add` takes a key"
	case protocol.RepairSignIn:
		return "`hearth models auth login` logs in again"
	case protocol.RepairUnlock:
		return "`hearth secrets unlock` unlocks the keys"
	case protocol.RepairModel:
		return "`hearth models set MODEL` chooses another model"
	case protocol.RepairResume:
		return "`hearth resume` ends the pause"
	case protocol.RepairDoctor:
		return "`hearth doctor` says what is wrong"
	}
	return ""
}
