package session

import "testing"

// A group is called by its subject; a named room by its name, and by where it is.
func TestRoomsOfRows(t *testing.T) {
	for _, c := range []struct {
		origin                      *Origin
		subject, room, space, shown string
	}{
		{&Origin{ChatType: "direct", Label: "Ann"}, "", "", "", ""},
		{&Origin{ChatType: "group", Label: "Family"}, "Family", "", "", "Family"},
		{&Origin{ChatType: "group", Label: "Family", ThreadID: "7"}, "Family", "", "", "Family #7"},
		{&Origin{ChatType: "group", Label: "#town The Server", Room: "#town", Space: "42"}, "", "#town", "42", "#town The Server"},
		{nil, "", "", "", ""},
	} {
		row := presentAs(Row{Key: "agent:main:x", Origin: c.origin}, laneState{}, 0)
		if row.Subject != c.subject || row.Room != c.room || row.GroupChannel != c.room || row.Space != c.space || row.DisplayName != c.shown {
			t.Errorf("%+v is shown as %q, %q (%q) in %q, %q", c.origin, row.Subject, row.Room, row.GroupChannel, row.Space, row.DisplayName)
		}
	}
}
