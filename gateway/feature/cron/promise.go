package cron

import (
	"regexp"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/when"
)

const (
	soonest     = 2 * time.Minute // what is promised for sooner is being done
	farthest    = 366 * 24 * time.Hour
	maxSentence = 300
	maxReply    = 16 << 10
)

// promise is what an assistant said that it would do, and when.
type promise struct {
	plan   when.Plan
	text   string
	remind bool
}

// courtesy are the words that may stand in front of a promise.
const courtesy = `^(?i:(?:ok(?:ay)?|sure|alright|all right|got it|great|yes|gut|gern|ja|alles klar|好的?|没问题)[,.!，。！ ]+)?`

// Sentences in which somebody says what they will do themselves.
var (
	sentences = regexp.MustCompile(`[^.!?。！？\n]+[.!?。！？\n]?`)
	iWill     = regexp.MustCompile(courtesy + `(?i:(?:and |then |und |dann )?(?:i will|i['’]ll|i shall|ich werde))\s+(.+)$`)
	ichTue    = regexp.MustCompile(courtesy + `(?i:ich)\s+((?i:erinnere|schaue|sehe|melde|prüfe|schicke|frage)\s.+)$`)
	woHui     = regexp.MustCompile(courtesy + `我(?:会|将|将会)(.+)$`)
	reminds   = regexp.MustCompile(`^(?i:(?:remind|ping) you(?: again)?|erinnere dich(?: wieder)?|dich)\s+(.+)$|^(.*?)提醒你(.*)$`)
	reminding = regexp.MustCompile(`^(?i:dich)\s.*\b(?i:erinnern)$`)
)

// promised looks in an answer for the first thing that the assistant says it will
// do at a time. It is a rule and asks no model, so it knows the plain ways to say
// that and no others.
func promised(answer string, now time.Time) (p promise, ok bool) {
	if len(answer) > maxReply {
		return p, false
	}
	for _, s := range sentences.FindAllString(answer, -1) {
		s = strings.TrimSpace(s)
		if len(s) > maxSentence || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") {
			continue
		}
		s = strings.TrimRight(s, ".!。！ ")
		for _, how := range []*regexp.Regexp{iWill, ichTue, woHui} {
			m := how.FindStringSubmatch(s)
			if m == nil {
				continue
			}
			if p, ok = vowed(strings.TrimSpace(m[1]), now); ok {
				return p, true
			}
		}
	}
	return p, false
}

// vowed reads what stands behind “I will”.
func vowed(what string, now time.Time) (p promise, ok bool) {
	full := what
	if m := reminds.FindStringSubmatch(what); m != nil && (m[1] == "" || !strings.HasPrefix(strings.ToLower(what), "dich") ||
		reminding.MatchString(what)) {
		p.remind = true
		what = strings.TrimSpace(m[1] + m[2] + " " + m[3])
		what = strings.TrimSuffix(what, " erinnern")
	}
	plan, rest, ok, err := when.Find(what, now)
	if err != nil || !ok || !plan.Recurs() && (plan.At.Before(now.Add(soonest)) || plan.At.After(now.Add(farthest))) {
		return p, false
	}
	p.plan, p.text = plan, strings.Trim(rest, " ,，")
	if p.text == "" || !p.remind {
		p.text = full
	}
	return p, true
}
