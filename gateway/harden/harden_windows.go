package harden

// Process has nothing to do on Windows: the user's folders are private, and
// crashes write no memory to disk unless an administrator asked for that.
func Process() error { return nil }
