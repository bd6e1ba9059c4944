package protocol

// Repair is what a person can do about something that does not work: clients put a
// button beside the words. A client that does not know one shows none.
type Repair string

const (
	RepairKey       Repair = "add-key"      // no service has a key that works
	RepairSignIn    Repair = "sign-in"      // an account's login is over
	RepairUnlock    Repair = "unlock"       // the keys are locked away
	RepairModel     Repair = "choose-model" // another model may do it
	RepairAllowance Repair = "allowance"    // the limit that the person set is reached
	RepairResume    Repair = "resume"       // Hearth is paused
	RepairDoctor    Repair = "doctor"       // look at what is wrong
	RepairRetry     Repair = "retry"        // the same again may work
)

// RepairOf is what repairs a problem or an error of this code, "" where nothing is known.
func RepairOf(code string) Repair {
	switch code {
	case "SECRETS_LOCKED", "SECRET_LOCKED", "SECRETS_UNAVAILABLE": // without a place for keys, the same makes one
		return RepairUnlock
	case "PAUSED":
		return RepairResume
	case "CONFIG_BROKEN", "CONFIG_WARNINGS", "CONFIG_UNKNOWN_KEYS", "DISK_FULL", "STORE_FAILED", "STORE_GONE", "STATE_OPEN", "STATE_SYNCED",
		"STATE_SHARED", "FEATURE", "FEATURE_FAILED", "CRASHED":
		return RepairDoctor
	}
	return ""
}
