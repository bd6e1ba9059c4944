// Package search finds words in everything that was said. It owns an index in
// the store: per word the numbers of the messages that hold it, and per number
// where the message is. It owns no message: it reads them from a Source, checks
// every hit against the text as it stands now, and can be thrown away and built
// again at any time.
//
// # How it keeps up
//
// Touch says that a session changed and does not block. One goroutine (Run)
// takes up what is settled: turns that have ended, in order. What has not been
// taken up yet is few, and Search reads it directly, so that an answer is
// complete at any moment but while the index is built for the first time.
//
// # What is found
//
// All words of the query, the last one as the beginning of a word, without
// regard to case and accents. Scripts without spaces are found by any part of
// a run of them.
package search
