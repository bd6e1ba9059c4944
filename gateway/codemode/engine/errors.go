package engine

import "fmt"

// Code is an error code of the reference page. A cell that throws by itself
// has none.
type Code string

// The sixteen codes. Those that this room never gives are here because the
// list is one.
const (
	RuntimeUnavailable        Code = "runtime_unavailable"
	InvalidConfig             Code = "invalid_config"
	InvalidInput              Code = "invalid_input"
	UnsupportedLanguage       Code = "unsupported_language"
	TypescriptTransformFailed Code = "typescript_transform_failed"
	ModuleAccessDenied        Code = "module_access_denied"
	Timeout                   Code = "timeout"
	MemoryLimitExceeded       Code = "memory_limit_exceeded"
	OutputLimitExceeded       Code = "output_limit_exceeded"
	SnapshotLimitExceeded     Code = "snapshot_limit_exceeded"
	SnapshotExpired           Code = "snapshot_expired"
	SnapshotRestoreFailed     Code = "snapshot_restore_failed"
	TooManyPendingToolCalls   Code = "too_many_pending_tool_calls"
	NestedToolFailed          Code = "nested_tool_failed"
	Aborted                   Code = "aborted"
	InternalError             Code = "internal_error"
)

// Error ends a cell. Line and Column are of the program's own text, from 1;
// zero means unknown.
type Error struct {
	Code         Code
	Message      string
	Line, Column int
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s (line %d, column %d)", e.Message, e.Line, e.Column)
	}
	return e.Message
}

func failed(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
