package plan

// git reports whether this use of git is understood in full.
func (w *walker) git([]string) bool { return false }
