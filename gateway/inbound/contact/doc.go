// Package contact keeps who may write to the assistant in direct messages. A
// stranger's first message makes a request with a code; the owner approves or
// rejects it by that code. It decides nothing else: whether an account uses
// pairing at all, and who may speak in groups, is the gate's business. People
// are known by the id that their network gives them, never by a name.
package contact
