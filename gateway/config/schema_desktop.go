package config

// desktop reads hearth.desktop: how Hearth behaves on the computer of somebody
// who sits in front of it.
func (d *decoder) desktop(n *node, t *Desktop) {
	d.object(n,
		field{"notifications", func(n *node) {
			t.Notifications = d.choice(n, NotifyAll, NotifyRequests, NotifyOff)
		}},
		field{"quietHours", func(n *node) {
			d.object(n,
				field{"start", func(n *node) { t.QuietHours.Start = d.timeOfDay(n) }},
				field{"end", func(n *node) { t.QuietHours.End = d.timeOfDay(n) }})
		}},
		field{"keepAwake", func(n *node) { t.KeepAwake = d.boolean(n) }},
		field{"quickKey", func(n *node) { t.QuickKey = d.text(n, 40) }})
}

// timeOfDay reads "08:00" up to "24:00".
func (d *decoder) timeOfDay(n *node) (s string) {
	Text{To: &s, Max: 5, Is: TimeOfDay}.read(Value{d, n})
	return s
}
