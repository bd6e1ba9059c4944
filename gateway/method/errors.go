package method

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// ForClients gives errors of the kernel their form on the wire. What it does not
// know is returned as it is, and told as an internal problem.
func ForClients(method string, err error) error {
	var pe *protocol.Error
	switch {
	case errors.As(err, &pe):
		return pe
	case errors.Is(err, session.ErrBadKey):
		return protocol.InvalidParams(method, "%v", err)
	case errors.Is(err, session.ErrNotFound):
		return protocol.Invalid("%v", err).With("code", "NOT_FOUND")
	case errors.Is(err, session.ErrConflict):
		return protocol.Invalid("%v. Use a new key for a new message.", err).With("reason", "chat-request-conflict")
	case errors.Is(err, session.ErrQueueFull):
		return protocol.Unavailable(0, "%v", err).With("code", "QUEUE_FULL")
	case errors.Is(err, session.ErrClosed), errors.Is(err, store.ErrClosed):
		return protocol.Unavailable(1000, "Hearth is stopping and takes no more messages. Send it again after the restart.")
	case errors.Is(err, secret.ErrNotFound):
		return protocol.Invalid("%v", err).With("code", "NOT_FOUND")
	case errors.Is(err, secret.ErrLocked):
		return protocol.Invalid("%v", err).With("code", "SECRETS_LOCKED")
	case errors.Is(err, secret.ErrUnavailable):
		return protocol.Invalid("%v", err).With("code", "SECRETS_UNAVAILABLE")
	case isSecretInput(err):
		return protocol.Invalid("%v", err)
	}
	if words, ok := storeError(err); ok {
		return words
	}
	return configError(err)
}

// storeError gives the store's errors their form on the wire.
func storeError(err error) (*protocol.Error, bool) {
	switch {
	case errors.Is(err, store.ErrFull):
		return protocol.Unavailable(5000, "The disk is full, so nothing was changed or accepted. Make some room and try again; "+
			"reading and stopping still work.").With("code", "DISK_FULL"), true
	case errors.Is(err, store.ErrGone):
		return protocol.Unavailable(5000, "Nothing was changed or accepted: %s", GoneWords(err)).With("code", "STORE_GONE"), true
	case errors.Is(err, store.ErrFailed):
		return protocol.Unavailable(5000, "Hearth's store could not be written, so nothing was accepted. "+
			"Restart Hearth and try again.").With("code", "STORE_FAILED"), true
	}
	return nil, false
}

// GoneWords say what happened to the folder of the store, and how it comes back;
// err is one that store.ErrGone stands for.
func GoneWords(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "Hearth may no longer open its own folder, somebody changed its permissions. " +
			"Run `chmod 700` on the folder of Hearth's data; what was accepted is safe."
	}
	return "Hearth's folder, or the database in it, was moved or deleted while Hearth ran. " +
		"Put it back where it was; if it is gone for good, restart Hearth."
}

// configError gives the settings' errors their form on the wire.
func configError(err error) error {
	var broken *config.BrokenError
	var invalid *config.InvalidError
	var path *config.PathError
	var open *config.PermissionError
	var unsaved *config.SaveError
	switch {
	case errors.Is(err, config.ErrStale):
		return protocol.Invalid("%v", err).With("code", "CONFIG_STALE")
	case errors.As(err, &invalid):
		return protocol.Invalid("the settings were not saved: %s", invalid.Reason())
	case errors.Is(err, config.ErrRedacted), errors.Is(err, config.ErrBusy), errors.As(err, &broken), errors.As(err, &path),
		errors.As(err, &open), errors.As(err, &unsaved):
		return protocol.Invalid("%v", err)
	}
	return err
}

// isSecretInput: the person gave something that is no key, name or passphrase.
func isSecretInput(err error) bool {
	var in *secret.InputError
	var name *secret.NameError
	return errors.As(err, &in) || errors.As(err, &name) || errors.Is(err, secret.ErrPassphrase)
}

// DamagedWords are for whoever asked for something that cannot be read.
const DamagedWords = "A part of Hearth's database is damaged, so this cannot be done. Stop the gateway, then `hearth store check` says " +
	"what is left, " +
	"`hearth store export` saves it and `hearth store restore` takes the last good copy."

// ErrorIs reports whether an error is one of several.
func ErrorIs(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
}
