package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// What a flag cannot say is refused by the name of the flag, before a gateway is asked.
func TestWrongFlagsOfCron(t *testing.T) {
	for want, args := range map[string][]string{
		"--catch-up is once, skip or all, not foo":                    {"add", "20m", "x", "--catch-up", "foo"},
		"--catch-up-within needs --catch-up":                          {"add", "20m", "x", "--catch-up-within", "6h"},
		"--catch-up-within is a length of time such as 6h, not soon":  {"add", "20m", "x", "--catch-up", "once", "--catch-up-within", "soon"},
		"--session is main, isolated, current or session:KEY":         {"add", "20m", "x", "--session", "elsewhere"},
		"--wake is now or next-heartbeat, not later":                  {"add", "20m", "x", "--wake", "later"},
		"--status is all, ok, error or skipped, not bogus":            {"runs", "--status", "bogus"},
		"--delivery-status is delivered, not-delivered, unknown or n": {"runs", "--delivery-status", "bogus"},
		"--sort is asc or desc, not up":                               {"runs", "--sort", "up"},
	} {
		code, _, errs := run(t, t.TempDir(), "", append([]string{"cron"}, args...)...)
		if code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%q = %d, %q, want %q", args, code, errs, want)
		}
	}
}

// What is wrong with a time is said once, and the hint is about just that.
func TestNoTime(t *testing.T) {
	for problem, want := range map[string]failure{
		"": {exitUsage, "“soon” is no time that Hearth understands", "says how times may be said"},
		"“soon” is no time; write it like “tomorrow at 9”.": {exitUsage, "“soon” is no time", "for example 20m"},
		"There is no time zone called \"Mars\"; zones are called like Europe/Vienna.": {
			exitUsage, "There is no time zone called \"Mars\"", "zones are called like Europe/Vienna; without",
		},
		"No job repeats more often than once a minute.": {exitUsage, "No job repeats more often than once a minute", "how times may be said"},
	} {
		var got *failure
		if !errors.As(noTime("soon", problem), &got) || got.code != want.code || got.message != want.message ||
			!strings.Contains(got.hint, want.hint) {
			t.Errorf("%q: %+v", problem, got)
		}
	}
}

// What the gateway refuses is told by the name of its flag.
func TestRefusalsNameFlags(t *testing.T) {
	for said, want := range map[string]string{
		"invalid cron.add params: schedule.match cannot be read: x": "--stream-match cannot be read: x",
		"invalid cron.add params: trigger.script is empty":          "--trigger-script is empty",
		"automation not found: x":                                   "automation not found: x",
	} {
		if got := explainJob(protocol.Invalid("%s", said)).Error(); !strings.HasSuffix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A reminder asks no model, so it has none; what is empty is nothing to do.
func TestPayloadsThatCannotBe(t *testing.T) {
	for _, tc := range []struct {
		flags   map[string]string
		was     string
		reminds bool
		want    string
	}{
		{map[string]string{"model": "x/y"}, protocol.CronSystemEvent, true, "--model is for what the assistant is asked"},
		{map[string]string{"remind": "tea", "thinking": "high"}, "", false, "--thinking is for what the assistant is asked"},
		{map[string]string{"model": "x/y"}, protocol.CronAgentTurn, false, ""},
		{map[string]string{"message": "look", "model": "x/y"}, protocol.CronSystemEvent, true, ""},
		{map[string]string{"model": "x/y"}, protocol.CronSystemEvent, false, ""},
		{map[string]string{"message": "  "}, "", false, "there is nothing to remind of or to do"},
		{map[string]string{"remind": " "}, "", false, "there is nothing to remind of or to do"},
	} {
		f, c := &jobFlags{}, &cobra.Command{}
		f.register(c)
		for name, value := range tc.flags {
			if err := c.Flags().Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		was := &protocol.CronJob{}
		was.Payload.Kind, was.Hearth = tc.was, &protocol.CronOwn{Reminder: tc.reminds}
		_, err := f.payload(&app{}, c, was)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v of a %s: %v", tc.flags, tc.was, err)
		}
	}
}

// How long missed times are made up for may be changed alone, where a job makes up.
func TestCatchUpWithinAlone(t *testing.T) {
	f, c := &jobFlags{}, &cobra.Command{}
	f.register(c)
	if err := c.Flags().Set("catch-up-within", "2h"); err != nil {
		t.Fatal(err)
	}
	job := map[string]any{}
	was := &protocol.CronJob{CronSpec: protocol.CronSpec{Hearth: &protocol.CronOwn{CatchUp: &protocol.CronCatchUp{Mode: "all"}}}}
	if err := f.common(c, job, was); err != nil || job["hearth"].(map[string]any)["catchUp"].(map[string]any)["within"] != "2h" {
		t.Errorf("%v %v", job, err)
	}
	if err := f.common(c, map[string]any{}, &protocol.CronJob{}); err == nil {
		t.Error("a job that says nothing of it took a length alone")
	}
}

// What stands without a flag is the prompt, and a name only in front of one, or where
// flags say already what to do.
func TestWordsOfCronAdd(t *testing.T) {
	for _, tc := range []struct {
		flags         map[string]string
		words         []string
		name, message string
	}{
		{map[string]string{"every": "5m"}, []string{"See to it"}, "", "See to it"},
		{map[string]string{"at": "20m"}, []string{"oven", "Look at it"}, "oven", "Look at it"},
		{map[string]string{"at": "20m", "message": "Look at it"}, []string{"oven"}, "oven", "Look at it"},
		{map[string]string{"every": "1h", "remind": "Stretch"}, []string{"stretch"}, "stretch", ""},
		{map[string]string{"every": "1h", "name": "look"}, []string{"Look at it"}, "look", "Look at it"},
	} {
		f, c := &jobFlags{}, &cobra.Command{}
		f.register(c)
		for name, value := range tc.flags {
			if err := c.Flags().Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.arguments(c, tc.words); err != nil || f.name != tc.name || f.message != tc.message {
			t.Errorf("%v %q: name %q, prompt %q, %v", tc.flags, tc.words, f.name, f.message, err)
		}
	}
}
