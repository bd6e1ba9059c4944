package pairing

import (
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// authError is a failed authentication in the form that clients act on. Code
// decides whether a client retries, so it must tell the truth.
func authError(code, reason, next string, canRetry bool, text string) *protocol.Error {
	return &protocol.Error{Code: protocol.CodeInvalidRequest, Message: "unauthorized: " + text, Details: map[string]any{
		"code": code, "authReason": reason, "canRetryWithDeviceToken": canRetry, "recommendedNextStep": next}}
}

func errTokenMissing() *protocol.Error {
	return authError("AUTH_TOKEN_MISSING", "token_missing", "update_auth_configuration", false,
		"gateway token missing (run `hearth open` to connect a browser, or send gateway.auth.token)")
}

func errTokenMismatch(hasDevice bool) *protocol.Error {
	next := "update_auth_credentials"
	if hasDevice {
		next = "retry_with_device_token"
	}
	return authError("AUTH_TOKEN_MISMATCH", "token_mismatch", next, hasDevice,
		"gateway token mismatch (use this gateway's gateway.auth.token, or run `hearth open`)")
}

func errDeviceTokenMismatch() *protocol.Error {
	return authError("AUTH_DEVICE_TOKEN_MISMATCH", "device_token_mismatch", "update_auth_credentials", false,
		"device token mismatch (it was replaced or revoked; run `hearth open` to connect again)")
}

// errScopeMismatch: the request for more waits for a person under that id.
func errScopeMismatch(requestID string) *protocol.Error {
	e := authError("AUTH_SCOPE_MISMATCH", "scope_mismatch", "review_auth_configuration", false,
		"device token scope mismatch (this device may do less than it asks; allow more with `hearth devices` on the gateway's machine)")
	if requestID != "" {
		e.Details["requestId"] = requestID
	}
	return e
}

func errBootstrapInvalid() *protocol.Error {
	return authError("AUTH_BOOTSTRAP_TOKEN_INVALID", "bootstrap_token_invalid", "review_auth_configuration", false,
		"launch link or setup code invalid, expired or already used (run `hearth open`, or `hearth qr` for another machine, for a new one)")
}

func errRateLimited(wait time.Duration) *protocol.Error {
	e := authError("AUTH_RATE_LIMITED", "rate_limited", "wait_then_retry", false,
		"too many failed attempts; wait a minute, then try again")
	e.RetryAfterMs = max(1, wait.Milliseconds())
	return e
}

func errDeviceRequired() *protocol.Error {
	return &protocol.Error{Code: protocol.CodeNotPaired, Message: "device identity required",
		Details: map[string]any{"code": "DEVICE_IDENTITY_REQUIRED"}}
}

// errNotANode: a person's surface does not become a node by saying so.
func errNotANode() *protocol.Error {
	return protocol.Invalid("invalid role: a node connects with client.mode \"node\"").With("code", "NODE_MODE_REQUIRED")
}

func errBrowserDeviceRequired() *protocol.Error {
	return &protocol.Error{Code: protocol.CodeInvalidRequest,
		Message: "control ui requires device identity (use HTTPS or localhost secure context)",
		Details: map[string]any{"code": "CONTROL_UI_DEVICE_IDENTITY_REQUIRED"}}
}

// errPairing tells a device that a person must approve it first.
func errPairing(reason, requestID string, a *Attempt, known *Device) *protocol.Error {
	text := map[string]string{
		"not-paired":    "pairing required: device is not approved yet",
		"revoked":       "pairing required: device was removed",
		"role-upgrade":  "pairing required: device is asking for a higher role than currently approved",
		"scope-upgrade": "pairing required: device is asking for more scopes than currently approved",
	}[reason]
	details := map[string]any{
		"code": "PAIRING_REQUIRED", "reason": reason,
		"remediationHint": "On the machine that runs Hearth, see `hearth devices`, compare the id and approve it there. A link of `hearth " +
			"open` works too, in a browser there.",
		"deviceId": a.Params.Device.ID, "requestedRole": a.Params.RoleOrDefault(), "requestedScopes": scopesOf(a),
	}
	if requestID != "" { // else too many wait already, or a person has just said no
		details["requestId"] = requestID
	}
	if known != nil {
		details["approvedRoles"] = known.roleNames()
		if g := known.role(a.Params.RoleOrDefault()); g != nil {
			details["approvedScopes"] = g.Scopes
		}
	}
	return &protocol.Error{Code: protocol.CodeNotPaired, Message: text, Details: details}
}

// errStore is a passing failure: the client keeps its credentials and retries.
func errStore() *protocol.Error {
	return protocol.Unavailable(1000, "Hearth could not save this device, perhaps because the disk is full. Free some space; the client "+
		"tries again by itself. `hearth logs` has the cause.")
}
