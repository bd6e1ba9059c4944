package answers

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// levels are what a session shows on a messaging network beside the answer
// itself: /reasoning and /verbose.
type levels struct {
	reasoning string // "", on, stream
	verbose   string // "", on, full
}

func (n *Networks) levelsOf(run session.Run) levels {
	row, _, err := n.Sessions.Get(run.SessionKey)
	if err != nil {
		return levels{} // the quiet ones
	}
	return levels{cmp.Or(run.Hints.Reasoning, row.ReasoningLevel), cmp.Or(run.Hints.Verbose, row.VerboseLevel)}
}

// toolLines lays /verbose over what the account's settings show of tools.
func (l levels) toolLines(how *streaming) {
	switch l.verbose {
	case "full":
		how.hideTools, how.hideCommands = false, false
	case "on":
		how.hideTools = false
	}
}

// maxThoughts bounds the reasoning that is shown, in characters: it is often
// longer than the answer.
const maxThoughts = 3000

// thoughtsOf is the reasoning of an answer.
func thoughtsOf(msg *protocol.Message) string {
	if msg == nil {
		return ""
	}
	var b strings.Builder
	for _, c := range msg.Content {
		if c.Type == protocol.BlockThinking {
			b.WriteString(c.Thinking)
		}
	}
	return b.String()
}

// quoted is reasoning as a block that nobody takes for the answer.
func quoted(thoughts string) string {
	thoughts = strings.TrimSpace(thoughts)
	if thoughts == "" {
		return ""
	}
	if r := []rune(thoughts); len(r) > maxThoughts {
		thoughts = string(r[:maxThoughts]) + "…"
	}
	return "> " + strings.ReplaceAll(strings.ReplaceAll(thoughts, "\r", ""), "\n", "\n> ")
}

// rawDetail is a failure as the program knows it, behind the words for people.
func (n *Networks) rawDetail(words, detail string) string {
	if detail == "" {
		return words
	}
	return words + "\n\n```\n" + strings.ReplaceAll(n.Redactor.Text(detail), "`", "'") + "\n```"
}

// commandOf is the command line among a tool's arguments, if it has one.
func commandOf(args []byte) string {
	var a struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(args, &a) != nil {
		return ""
	}
	return a.Command
}
