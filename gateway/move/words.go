package move

import "fmt"

// SureWords are said before a Hearth is woken whose twin may be awake.
const SureWords = "The other machine has everything of this Hearth and may be awake. If both are, two answer as the same one: messages " +
	"are answered twice or by the wrong one, and each learns what the other does not. Go to the other machine, stop Hearth there for " +
	"good, and only then wake this one."

// Words say that a Hearth sleeps, why, and what can be done.
func (s State) Words() string {
	since := s.At.Local().Format("2 January 15:04")
	switch {
	case s.Phase == Leaving && s.Device == "":
		return fmt.Sprintf("This Hearth sleeps since %s, because it is being moved into a file. It answers nobody. `hearth move export "+
			"FILE` goes on; `hearth move wake` wakes it, and nothing is lost.", since)
	case s.Phase == Leaving:
		return fmt.Sprintf("This Hearth sleeps since %s, because it is being moved to %s. It answers nobody. `hearth move from` there "+
			"goes on; `hearth move wake` wakes it here, and nothing is lost.", since, s.Name)
	case s.File != "":
		return fmt.Sprintf("This Hearth sleeps since %s, because it was moved into the file %s. It answers nobody. Should that file not "+
			"be used, `hearth move wake` wakes it here.", since, s.File)
	case s.Arrived:
		return fmt.Sprintf("This Hearth sleeps since %s: it was moved to %s, and is awake there. It answers nobody. You can remove it "+
			"from this machine.", since, s.Name)
	}
	return fmt.Sprintf("This Hearth sleeps since %s, because it was moved to %s. It answers nobody. Look there whether it is awake; only "+
		"if it never will be, `hearth move wake` wakes it here.", since, s.Name)
}
