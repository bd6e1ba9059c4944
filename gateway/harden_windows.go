package gateway

// Harden has nothing to do on Windows: the user's folders are private, and
// crashes write no memory to disk unless an administrator asked for that.
func Harden() error { return nil }
