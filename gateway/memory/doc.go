// Package memory keeps what the assistant remembers as plain files that a
// person edits (MEMORY.md and memory/*.md in the workspace), and finds things in
// them. It owns which files are memory and whose, the index, searching by words
// and by meaning, the notes that are added with their origin, and forgetting.
// It does not decide who may ask, knows no model service (an Embedder is handed
// in), and does not mark what it returns as untrusted: whoever shows it to a
// model does.
//
// # Whose memory
//
// The owner's is MEMORY.md and memory/. Everybody else, and every group, has a
// folder of their own below memory/people/ and memory/groups/. A Scope reads one of them and never
// another, so what a stranger made the assistant write down does not come back
// as something the owner said, and nobody gets to hear the owner's notes.
//
// # The index
//
// A file is cut into chunks of some 400 tokens that overlap, with the lines they
// stand on. Up to 256 chunks of a file are a segment: one row of the store with
// a sorted list of words and where they stand. A file that changed gets new
// segments; its row, written last, makes them count. The files are the truth:
// each search looks at their dates first, every hit is checked against the file
// as it is now, and an index that is lost or damaged is made anew.
package memory
