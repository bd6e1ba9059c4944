package statedir

// syncDir: NTFS journals renames, and a folder handle cannot be flushed.
func syncDir(string) error { return nil }
