package cron

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/schedule"
)

// Limits of what a job may say.
const (
	maxName  = 200
	maxWords = 64 << 10
)

// check completes a job that somebody wrote and refuses what can never run. Its
// errors are for people.
func (f *feature) check(s *protocol.CronSpec) error {
	s.Name = strings.TrimSpace(s.Name)
	switch {
	case s.Name == "":
		return errors.New("must have required property 'name'")
	case len(s.Name) > maxName:
		return fmt.Errorf("the name has %d bytes, at most %d are allowed", len(s.Name), maxName)
	}
	if s.WakeMode == "" {
		s.WakeMode = protocol.CronWakeNow
	}
	if s.WakeMode != protocol.CronWakeNow && s.WakeMode != protocol.CronWakeNext {
		return fmt.Errorf("wakeMode is %q; it is now or next-heartbeat", s.WakeMode)
	}
	for _, step := range []func(*protocol.CronSpec) error{
		f.checkSchedule, f.checkPayload, f.checkTrigger, checkPacing, f.checkTarget, checkDelivery, checkOwn,
	} {
		if err := step(s); err != nil {
			return err
		}
	}
	return nil
}

func (f *feature) checkSchedule(s *protocol.CronSpec) error {
	sc := &s.Schedule
	if sc.Kind == protocol.CronAt {
		if d, err := time.ParseDuration(sc.At); err == nil && d > 0 { // "20m"
			sc.At = f.Now().Add(d).UTC().Format(time.RFC3339)
		}
		at, err := schedule.Instant(sc.At)
		if err != nil {
			return err
		}
		sc.At = at.UTC().Format(time.RFC3339Nano)
		if s.DeleteAfterRun == nil {
			yes := true
			s.DeleteAfterRun = &yes
		}
		return nil
	}
	if sc.Kind == protocol.CronWatch {
		if sc.Watch == nil {
			return errors.New("schedule.watch is missing: it says what is watched")
		}
		if s.Trigger != nil || s.Pacing != nil {
			return errors.New("a watcher has neither trigger nor pacing: it runs when something has changed")
		}
		return f.checkWatched(sc.Watch)
	}
	sc.Watch = nil
	plan, err := schedule.Compile(*sc, schedule.Options{Zone: f.zone(), Created: f.Now().UnixMilli()})
	if errors.Is(err, schedule.ErrNoTime) {
		return f.checkEvent(s)
	}
	if err != nil {
		return err
	}
	if z := plan.Zone(); sc.Kind == protocol.CronExpr && z != nil && strings.TrimSpace(sc.TZ) != "" {
		sc.TZ = z.String() // as zones are written
	}
	if err := plan.Calm(); err != nil {
		return err
	}
	if _, comes := plan.Next(f.Now().UnixMilli()); !comes && sc.Kind == protocol.CronExpr {
		return fmt.Errorf("the expression %q never comes, as no date matches it; change its day or its month", sc.Expr)
	}
	return nil
}

func (f *feature) checkPayload(s *protocol.CronSpec) error {
	p := &s.Payload
	switch p.Kind {
	case protocol.CronSystemEvent:
		if strings.TrimSpace(p.Text) == "" {
			return errors.New("payload.text is empty")
		}
	case protocol.CronAgentTurn:
		if strings.TrimSpace(p.Message) == "" {
			return errors.New("payload.message is empty")
		}
	case protocol.CronCommand:
		if len(p.Argv) == 0 || p.Argv[0] == "" {
			return errors.New("payload.argv is empty")
		}
		if _, err := f.program(p.Argv[0]); err != nil {
			return err
		}
	case protocol.CronScript:
		if err := f.checkScript(s); err != nil {
			return err
		}
	default:
		return fmt.Errorf("there is no kind of payload called %q; kinds are systemEvent, agentTurn, command and script", p.Kind)
	}
	if n := len(p.Text) + len(p.Message); n > maxWords {
		return fmt.Errorf("the payload has %d bytes of words, at most %d are allowed", n, maxWords)
	}
	return nil
}

func (f *feature) checkTarget(s *protocol.CronSpec) error {
	if s.AgentID != "" && f.Agents.Named(s.AgentID).ID != s.AgentID {
		return fmt.Errorf("there is no agent called %q", s.AgentID)
	}
	if s.SessionTarget == "" {
		s.SessionTarget = protocol.CronIsolated
		if s.Payload.Kind == protocol.CronSystemEvent {
			s.SessionTarget = protocol.CronMain
		}
	}
	t := s.SessionTarget
	key, named := strings.CutPrefix(t, protocol.CronSessionPrefix)
	switch {
	case named:
		if _, err := f.Agents.Canonical(key, f.agentOf(s)); key == "" || err != nil {
			return fmt.Errorf("%q names no session: %w", t, err)
		}
	case t == protocol.CronCurrent && s.SessionKey != "":
		s.SessionTarget = protocol.CronSessionPrefix + s.SessionKey
	case t == protocol.CronCurrent:
		s.SessionTarget = protocol.CronMain
	case t != protocol.CronMain && t != protocol.CronIsolated:
		return fmt.Errorf("sessionTarget is %q; it is main, isolated, current or session:<key>", t)
	}
	return nil
}

func checkDelivery(s *protocol.CronSpec) error {
	d := s.Delivery
	if d != nil && d.Completion != nil {
		if err := checkCompletion(d.Completion); err != nil {
			return err
		}
	}
	if d != nil && d.Failure != nil {
		if err := checkAlert("delivery.failureDestination", d.Failure.Mode, d.Failure.To); err != nil {
			return err
		}
	}
	if d == nil {
		if s.SessionTarget == protocol.CronIsolated {
			s.Delivery = &protocol.CronDelivery{Mode: protocol.CronDeliverAnnounce, Channel: "last"}
		}
		return nil
	}
	switch d.Mode {
	case protocol.CronDeliverNone, protocol.CronDeliverAnnounce:
	case protocol.CronDeliverWebhook:
		if !webAddress(d.To) {
			return errors.New("delivery.to has to be the https address that results are posted to")
		}
	default:
		return fmt.Errorf("delivery.mode is %q; it is none, announce or webhook", d.Mode)
	}
	return nil
}

// canWork refuses what would be planned in vain: an assistant, a network or an address that
// there is not, a script that cannot be read. What the job said before (was, nil for a new
// one) stays: it may be there again tomorrow.
func (f *feature) canWork(ctx context.Context, s, was *protocol.CronSpec) error {
	if was == nil {
		was = &protocol.CronSpec{}
	}
	if s.AgentID != "" && s.AgentID != was.AgentID {
		if err := f.Agents.Check(s.AgentID); err != nil {
			return err
		}
	}
	d, old := s.Delivery, cmp.Or(was.Delivery, &protocol.CronDelivery{})
	if d != nil {
		if err := f.reachable(d.Mode, d.Channel, d.To, old.Mode, old.Channel, old.To); err != nil {
			return err
		}
		if c := d.Completion; c != nil && (old.Completion == nil || *c != *old.Completion) {
			if err := f.reachable(c.Mode, "", c.To, "", "", ""); err != nil {
				return err
			}
		}
	}
	for name, script := range map[string][2]string{
		"payload.script": {s.Payload.Script, was.Payload.Script}, "trigger.script": {conditionOf(s), conditionOf(was)},
	} {
		if script[0] == "" || script[0] == script[1] {
			continue
		}
		if err := f.Programs.Readable(ctx, script[0]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func conditionOf(s *protocol.CronSpec) string {
	if s.Trigger == nil {
		return ""
	}
	return s.Trigger.Script
}

// reachable refuses a network that no account is set up for, and an address that nothing
// is posted to.
func (f *feature) reachable(mode, network, to, wasMode, wasNetwork, wasTo string) error {
	if mode == protocol.CronDeliverWebhook && (wasMode != mode || to != wasTo) {
		p := f.settings().WebhookPolicy
		if err := (egress.Policy{Allowed: p.Allowed, Blocked: p.Blocked}).Check(to); err != nil {
			return fmt.Errorf("nothing can be posted there: %w; results are posted to addresses of the public internet, and to others where "+
				"cron.webhookSsrfPolicy names them", err)
		}
	}
	if mode != protocol.CronDeliverAnnounce || network == "" || network == "last" || network == channel.Webchat || network == wasNetwork {
		return nil
	}
	var there []string
	for _, a := range f.Channels.Status() {
		if a.Network == network {
			return nil
		}
		there = append(there, a.Network)
	}
	slices.Sort(there)
	return fmt.Errorf("no account of a network called %q is set up here; there is %s (`hearth channels`)", network,
		strings.Join(append(slices.Compact(there), channel.Webchat), ", "))
}

// checkAlert checks where failures are told, which stands at name.
func checkAlert(name, mode, to string) error {
	switch mode {
	case "", protocol.CronDeliverAnnounce:
		return nil
	case protocol.CronDeliverWebhook:
		if !webAddress(to) {
			return fmt.Errorf("%s.to has to be the https address that is told", name)
		}
		return nil
	}
	return fmt.Errorf("%s.mode is %q; it is announce or webhook", name, mode)
}

func webAddress(to string) bool {
	u, err := url.Parse(to)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

func checkOwn(s *protocol.CronSpec) error {
	if raw := string(s.FailureAlert); raw != "" && raw != "false" {
		var a protocol.CronFailureAlert
		if raw == "null" {
			s.FailureAlert = nil
		} else if err := json.Unmarshal(s.FailureAlert, &a); err != nil {
			return errors.New("failureAlert is false or an object")
		} else if err := checkAlert("failureAlert", a.Mode, a.To); err != nil {
			return err
		}
	}
	o := s.Hearth
	if o == nil {
		return nil
	}
	o.Words, o.Zone, o.Warning, o.Next, o.Watching = "", "", "", nil, nil // told, not set
	if c := o.CatchUp; c != nil {
		if !slices.Contains([]string{"once", "skip", "all"}, c.Mode) {
			return fmt.Errorf("hearth.catchUp.mode is %q; it is once, skip or all", c.Mode)
		}
		if d, err := time.ParseDuration(c.Within); c.Within != "" && (err != nil || d <= 0) {
			return fmt.Errorf("hearth.catchUp.within is %q; write it like 6h", c.Within)
		}
	}
	if o.MaxCostUSD < 0 || o.MaxCostPerDay < 0 || o.MaxRunsPerDay < 0 || o.AgainMs < 0 {
		return errors.New("limits of a job cannot be below zero")
	}
	return nil
}

// patched is a job with a part of it replaced (RFC 7396): null takes away; a
// schedule, and a payload of another kind, are replaced as a whole.
func patched(s protocol.CronSpec, patch json.RawMessage) (out protocol.CronSpec, err error) {
	var change map[string]any
	if err := decode(patch, &change); err != nil || change == nil {
		return out, errors.New("patch has to be an object")
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return out, err
	}
	var now map[string]any
	if err := decode(raw, &now); err != nil {
		return out, err
	}
	delete(change, "state") // the gateway's own
	if _, ok := change["schedule"]; ok {
		delete(now, "schedule")
	}
	if p, ok := change["payload"].(map[string]any); ok && p["kind"] != nil && p["kind"] != s.Payload.Kind {
		delete(now, "payload")
	}
	if _, ok := change["failureAlert"].(map[string]any); ok && string(s.FailureAlert) == "false" {
		delete(now, "failureAlert")
	}
	merged, err := json.Marshal(merge(now, change))
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(merged, &out); err != nil {
		return out, fmt.Errorf("the patch does not fit a job: %w", err)
	}
	return out, nil
}

// stillComes refuses to switch on a job for one time that is over: it would be done at
// once, however long ago that was.
func (f *feature) stillComes(s *protocol.CronSpec, was *job.Job) error {
	on := s.Enabled == nil || *s.Enabled
	if s.Schedule.Kind != protocol.CronAt || !on || was.On() {
		return nil
	}
	at, err := schedule.Instant(s.Schedule.At)
	if err != nil || at.After(f.Now()) {
		return err
	}
	return fmt.Errorf("its time, %s, is over; give it another one with `hearth cron edit`, or do it now with `hearth cron run`",
		f.style().Moment(at.UnixMilli()))
}

// onlyOff reports whether a patch does nothing but switch a job off: that is possible also
// for one that nobody could make any more.
func onlyOff(patch json.RawMessage) bool {
	var change map[string]any
	if decode(patch, &change) != nil || len(change) != 1 {
		return false
	}
	on, said := change["enabled"].(bool)
	return said && !on
}

// decode keeps numbers as they were written.
func decode(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

func merge(now, change map[string]any) map[string]any {
	if now == nil {
		now = map[string]any{}
	}
	for k, v := range change {
		switch in, deep := v.(map[string]any); {
		case v == nil:
			delete(now, k)
		case deep && k != "schedule" && k != "env":
			old, _ := now[k].(map[string]any)
			now[k] = merge(old, in)
		default:
			now[k] = v
		}
	}
	return now
}
