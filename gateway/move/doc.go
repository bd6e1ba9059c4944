// Package move brings a Hearth to another machine so that two never run as one.
//
// The older machine falls asleep before anything is copied: State, a file beside its
// state folder, says so, and a gateway that finds it starts none of its channels,
// schedules or conversations. Then everything is packed into one file (package
// backup's format), locked by a key that stays here. The newer machine brings the
// file, compares it, and asks for the key (Release). From that moment the older
// machine is asleep for good (Left), and only its person wakes it; before it, waking
// destroys the key, so that the file opens nowhere.
//
// The newer machine puts what came in its place while it is asleep as well
// (Arriving), and wakes when all of it is there (Finish). So at each moment one of
// the two is awake, or both sleep and each says how to go on.
//
// A file for a disk is the same, but its key is the person's passphrase.
//
// The package owns the state, the file and the order of the steps. How the two
// machines talk is package feature/move's, and the command line's.
package move
