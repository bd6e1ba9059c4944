package keychain

import "context"

// probe: the Credential Manager is open while its user is logged in.
func probe(context.Context, func(string) string) State { return Ready }
