package protocol

// BackupStatus is how backups are. Times are milliseconds, 0 for never.
type BackupStatus struct {
	Folder     string   `json:"folder,omitempty"` // "" = no place was chosen yet
	Recipients []string `json:"recipients"`       // who can open them (age1…)
	Passphrase bool     `json:"passphrase"`       // the place has a key under a passphrase
	Secrets    bool     `json:"secrets"`          // they hold identity and keys
	EveryMs    int64    `json:"everyMs"`          // 0 = only when asked for
	LastAt     int64    `json:"lastAt,omitempty"`
	NextAt     int64    `json:"nextAt,omitempty"`
	Running    bool     `json:"running"`
	Error      string   `json:"error,omitempty"` // of the last try
}

// BackupSetupParams choose the place. With a passphrase the place gets a key, or the
// passphrase opens the one it has; with Recipient somebody's own age key opens the
// backups.
type BackupSetupParams struct {
	Folder     string `json:"folder"`
	Passphrase string `json:"passphrase,omitempty"`
	Recipient  string `json:"recipient,omitempty"`
	Secrets    bool   `json:"secrets,omitempty"`
}

// BackupCreateParams: Full makes one that stands by itself.
type BackupCreateParams struct {
	Full bool `json:"full,omitempty"`
}

// BackupEntry is a backup in the place.
type BackupEntry struct {
	Name  string `json:"name"`
	At    int64  `json:"at"`
	Full  bool   `json:"full"`
	Base  string `json:"base,omitempty"` // the full one that it builds upon
	Bytes int64  `json:"bytes"`          // of its file
}

// BackupList is the newest first.
type BackupList struct {
	Folder  string        `json:"folder"`
	Backups []BackupEntry `json:"backups"`
}

// BackupMade is a backup that was made.
type BackupMade struct {
	BackupEntry
	Files  int      `json:"files"`
	Source int64    `json:"source"`         // bytes of all files
	Left   []string `json:"left,omitempty"` // could not be read
	Torn   []string `json:"torn,omitempty"` // became shorter while they were read
	Note   string   `json:"note,omitempty"` // what is not well although it was made
}

// BackupPruned are those that were removed.
type BackupPruned struct {
	Removed []BackupEntry `json:"removed"`
}
