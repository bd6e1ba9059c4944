package protocol

// MoveStatus is whether this Hearth is being moved to another machine, or was.
// Phases: "awake"; "offered": another machine may ask for everything; "leaving": it
// sleeps and is being packed or brought; "left": it sleeps for good.
type MoveStatus struct {
	Phase  string `json:"phase"`
	ID     string `json:"id,omitempty"`
	AtMs   int64  `json:"atMs,omitempty"`
	Name   string `json:"name,omitempty"` // of the other machine
	File   string `json:"file,omitempty"` // it went into a file
	Packed bool   `json:"packed,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`  // of what the other machine brings
	Have   int64  `json:"have,omitempty"`   // how much of it that has; while packing, how much is packed
	Total  int64  `json:"total,omitempty"`  // what packing takes, about
	SHA256 string `json:"sha256,omitempty"` // of what the other machine brings
	Source int64  `json:"source,omitempty"` // bytes of all files in it
	Files  int    `json:"files,omitempty"`
	// Arrived: the other machine said that it is awake.
	Arrived bool   `json:"arrived,omitempty"`
	UntilMs int64  `json:"untilMs,omitempty"` // of an offer
	Error   string `json:"error,omitempty"`   // of packing
}

// MoveOfferParams let another machine ask for everything, for half an hour: one that
// is paired from now on, or Device. Withdraw takes the offer back.
type MoveOfferParams struct {
	Device   string `json:"device,omitempty"`
	Withdraw bool   `json:"withdraw,omitempty"`
}

// MoveBegun is the move that began; this machine falls asleep.
type MoveBegun struct {
	ID string `json:"id"`
}

// MovePieceParams name a part of what is to be brought.
type MovePieceParams struct {
	ID string `json:"id"`
	At int64  `json:"at"`
}

// MovePiece is that part, as base64.
type MovePiece struct {
	Data []byte `json:"data"`
}

// MoveReleaseParams: the other machine has all of it.
type MoveReleaseParams struct {
	ID     string `json:"id"`
	SHA256 string `json:"sha256"`
}

// MoveReleased is the key of it.
type MoveReleased struct {
	Key string `json:"key"`
}

// MoveArrivedParams: the other machine is awake.
type MoveArrivedParams struct {
	ID string `json:"id"`
}

// MoveExportParams name the file, and the passphrase that is to open it.
type MoveExportParams struct {
	Path       string `json:"path"`
	Passphrase string `json:"passphrase"`
}

// MoveExported is the file.
type MoveExported struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	Files  int    `json:"files"`
	Source int64  `json:"source"`
}

// MoveWakeParams: Sure says that no other machine runs as this one.
type MoveWakeParams struct {
	Sure bool `json:"sure,omitempty"`
}
