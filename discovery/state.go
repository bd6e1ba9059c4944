package discovery

// Phase is where the announcement is.
type Phase string

// The phases of an announcement.
const (
	Announced Phase = "announced"
	NoNetwork Phase = "no-network" // there is no interface to announce on
	Refused   Phase = "refused"    // the system does not let us
	Quiet     Phase = "quiet"      // switched off for a while: the network is flooded
	Stopped   Phase = "stopped"
)

// State is what a person can be told about the announcement.
type State struct {
	Phase      Phase
	Name       string   // under which we are seen; after a conflict not the one we wanted
	Host       string   // the name of this machine for others, "gw-….local"
	Interfaces []string // on which we are announced
	Detail     string   // in words, "" when all is well
}
