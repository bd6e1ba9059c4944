package guide

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// reminders is the tool that plans.
const reminders = "cron"

func isReminder(text string) bool { _, ok := reminderIn(text); return ok }

// reminderIn is what stands behind "remind me" and its like, with the time in it;
// in front of them stand words of politeness at most.
func reminderIn(text string) (rest string, ok bool) {
	lower := strings.ToLower(text)
	if len(text) > maxQuestion || len(lower) != len(text) {
		return "", false
	}
	for _, ask := range []string{"remind me", "remind us", "erinnere mich", "erinner mich", "提醒我"} {
		i := strings.Index(lower, ask)
		if i < 0 || !polite(lower[:i]) {
			continue
		}
		rest = strings.TrimFunc(text[i+len(ask):], func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("?!.,:;？！。", r) })
		return rest, true
	}
	return "", false
}

// polite reports whether words only lead up to a wish.
func polite(words string) bool {
	for w := range strings.FieldsFuncSeq(words, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) }) {
		if !slices.Contains([]string{"please", "can", "could", "would", "will", "you", "hey", "hi", "hello", "hearth", "ok", "and",
			"bitte", "kannst", "könntest", "du", "hallo", "请", "请你", "你能", "能"}, w) {
			return false
		}
	}
	return true
}

// remind plans with the tool, which finds the time in the words: no model is
// needed for that.
func (g *guide) remind(c conversation) reply {
	what, _ := reminderIn(c.user)
	if !slices.ContainsFunc(c.tools, func(t model.ToolSpec) bool { return t.Name == reminders }) {
		return say("Reminders are not switched on in this chat (`features.cron` in the settings).")
	}
	if what == "" {
		return say("When, and of what? For example: **remind me on Friday at nine to call mum**.")
	}
	args, err := json.Marshal(map[string]string{"action": "add", "text": what})
	if err != nil {
		return say("I could not read that: %v", err)
	}
	return reply{call: c.call(reminders, args)}
}

// planned says what the tool has planned; ok is false for its other answers.
func planned(r *model.ToolResult) (said string, ok bool) {
	var j struct {
		ID, Name, Words, Zone, Warning string
		Next                           []string
	}
	if r.Name != reminders {
		return "", false
	}
	if r.IsError {
		return "That is not planned yet: " + r.Text, true
	}
	if json.Unmarshal([]byte(r.Text), &j) != nil || j.ID == "" || j.Words == "" {
		return "", false
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Planned: **%s**\n\n%s%s", strings.Map(plainRune, j.Name), strings.ToUpper(j.Words[:1]), j.Words[1:])
	if j.Zone != "" && !strings.Contains(j.Words, j.Zone) {
		fmt.Fprintf(&b, " (%s)", j.Zone)
	}
	if len(j.Next) > 1 {
		b.WriteString(". Next: " + strings.Join(j.Next, "; "))
	}
	b.WriteString(".")
	if j.Warning != "" {
		b.WriteString("\n\nCareful: " + j.Warning)
	}
	fmt.Fprintf(&b, "\n\n`/cron delete %s` takes it back, `/cron pause %[1]s` stops it for a while.", j.ID[:min(8, len(j.ID))])
	return b.String(), true
}

// plainRune leaves out what would be Markdown.
func plainRune(r rune) rune {
	if strings.ContainsRune("*`[]<>\n", r) {
		return -1
	}
	return r
}
