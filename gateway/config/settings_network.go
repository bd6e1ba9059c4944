package config

// From where the gateway can be reached.
const (
	BindLoopback = "loopback" // this machine only
	BindLAN      = "lan"      // the local networks, by TLS
	BindTailnet  = "tailnet"  // Tailscale's addresses, by TLS
	BindCustom   = "custom"   // the address of CustomBindHost, by TLS
)

// Discovery is how the gateway lets itself be found on the local network. It
// does so only while Bind is BindLAN.
type Discovery struct {
	MDNS string `json:"mdns"` // one of the MDNS constants
}

// What is announced by Bonjour.
const (
	MDNSMinimal = "minimal" // that there is a gateway, its id, port and key
	MDNSFull    = "full"    // and the name of this machine
	MDNSOff     = "off"
)
