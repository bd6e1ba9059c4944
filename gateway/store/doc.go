// Package store keeps Hearth's state in one bbolt file. It owns the file, its
// lock (one gateway per state folder), the single writer that batches commits,
// the reserve that lets a full disk still record how things ended, and the
// schema version. It does not know what the records mean: packages declare
// their own typed buckets with NewBucket.
//
// # Durability
//
// Update returns nil only after the transaction is on disk. One goroutine
// commits; whatever waits while a commit is being flushed shares the next one,
// so a hundred concurrent writers cost one flush, not a hundred. Write
// functions can run more than once (when another one of the batch fails) and
// must not have effects outside the transaction; what must follow a commit
// goes into Write.Then, which runs in commit order.
package store
