package protocol

// ReachStatus is from where the gateway can be reached, the result of
// hearth.reach.status.
type ReachStatus struct {
	Mode      string   `json:"mode"` // loopback, lan, tailnet, custom
	Port      int      `json:"port"`
	Addresses []string `json:"addresses"` // open to other machines now, with the port
	Problem   string   `json:"problem,omitempty"`
	// Who the gateway is to other machines; empty while it never was open to any.
	ID          string   `json:"id,omitempty"`
	Host        string   `json:"host,omitempty"` // on the local network
	Pins        []string `json:"pins,omitempty"` // of its key: the current one and, during a change, the next
	Fingerprint string   `json:"fingerprint,omitempty"`
	// Announcement is nil while the gateway does not announce itself.
	Announcement *ReachAnnouncement `json:"announcement,omitempty"`
	// Tailscale is nil on a machine without it.
	Tailscale *ReachTailscale `json:"tailscale,omitempty"`
}

// ReachTailscale is the way by `tailscale serve`, which gives browsers a
// certificate that they trust.
type ReachTailscale struct {
	Name string `json:"name"`          // of this machine in its tailnet
	URL  string `json:"url,omitempty"` // of the page for phones; empty while it is not served
	// Public: the name is open to the whole internet, where Hearth is not served.
	Public bool `json:"public,omitempty"`
}

// ReachAnnouncement is how the gateway can be found by Bonjour.
type ReachAnnouncement struct {
	Phase      string   `json:"phase"` // announced, no-network, refused, quiet, stopped
	Name       string   `json:"name"`
	Interfaces []string `json:"interfaces,omitempty"`
	Detail     string   `json:"detail,omitempty"`
}

// ReachRotation is the result of hearth.reach.rotate: the key of now, the one
// that follows it, and when.
type ReachRotation struct {
	Pin     string `json:"pin"`
	NextPin string `json:"nextPin"`
	FromMs  int64  `json:"fromMs"`
}
