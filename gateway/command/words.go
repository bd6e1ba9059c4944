package command

import "fmt"

// HeldBack acknowledges /send off. It is the last that is heard in a chat.
const HeldBack = "Replies to this chat are held back. They still stand in the transcript; `/send on` sends them again."

// Counted says how many things there are: "1 message", "2 messages".
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
