// Package policy holds the rules about sessions that need nothing but values:
// which conversation a message belongs to, when a session has become old, what
// starts a new one, and whether answers may leave it. It does no I/O, reads no
// clock and keeps no state; whoever calls it brings the time. What the file says of
// sessions (session.*) is read here and handed on as these values.
package policy
