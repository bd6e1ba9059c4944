// Package session owns conversations: their keys, their rows and transcripts,
// and one lane per session key that runs accepted turns in order.
//
// # The way of a message
//
// Submit commits the person's message, its run and its place in the queue in
// one transaction before it returns (the accept), so an acknowledged message
// exists exactly once whatever happens next. The session's lane claims the
// run, asks package agent, and settles it in one transaction that holds the
// final answer, the receipt on the person's message and the outbox row. A run
// that a crash left behind is run again if nobody has seen anything of it, and
// otherwise closed as interrupted with the text it had.
//
// Positions: an entry's sequence number is turn<<16 | step. The person's
// message is step 0 of its turn and everything its run writes follows, so the
// transcript reads in conversation order even when the next question was
// accepted while the previous one was being answered.
//
// The package knows no client, wire or provider: they are handed in as small
// interfaces and functions (see Options).
package session
