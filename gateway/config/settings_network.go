package config

// Discovery is how the gateway lets itself be found on the local network. It
// does so only while gateway.bind is "lan".
type Discovery struct {
	MDNS string `json:"mdns"` // one of the MDNS constants
}

// What is announced by Bonjour.
const (
	MDNSMinimal = "minimal" // that there is a gateway, its id, port and key
	MDNSFull    = "full"    // and the name of this machine
	MDNSOff     = "off"
)
