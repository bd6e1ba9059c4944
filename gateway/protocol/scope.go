package protocol

import "slices"

// Role is what a connection is for.
type Role string

const (
	RoleOperator Role = "operator"
	RoleNode     Role = "node"
)

// Scope is a right of an operator connection.
type Scope string

const (
	ScopeRead        Scope = "operator.read"
	ScopeWrite       Scope = "operator.write"
	ScopeAdmin       Scope = "operator.admin"
	ScopeApprovals   Scope = "operator.approvals"
	ScopePairing     Scope = "operator.pairing"
	ScopeQuestions   Scope = "operator.questions"
	ScopeTalk        Scope = "operator.talk"
	ScopeTalkSecrets Scope = "operator.talk.secrets"

	// ScopeNone marks methods that any authenticated connection may call.
	ScopeNone Scope = ""
)

// Allows reports whether the granted scopes cover want: admin implies every
// operator scope, write implies read and talk.
func Allows(granted []Scope, want Scope) bool {
	if want == ScopeNone || slices.Contains(granted, want) || slices.Contains(granted, ScopeAdmin) {
		return true
	}
	return (want == ScopeRead || want == ScopeTalk) && slices.Contains(granted, ScopeWrite)
}
