package policy

import "testing"

func TestDecide(t *testing.T) {
	s := Settings{Allow: []string{"camera.snap", "browser.*", "camera.*"}, Deny: []string{"system.notify", "canvas.*"}}
	for _, tt := range []struct {
		class   Class
		command string
		want    bool
	}{
		{Linux, "system.run", true}, {Android, "system.run", false}, {IOS, "system.run", false}, {Unknown, "system.run", false},
		{MacOS, "screen.snapshot", true}, {IOS, "motion.activity", true}, {Android, "motion.activity", false},
		{Watch, "location.get", false}, {Unknown, "location.get", true}, {Android, "notifications.list", true},
		{IOS, "camera.snap", true}, {IOS, "camera.clip", false}, // dangerous: a pattern is not its name
		{Linux, "browser.proxy", true}, {Linux, "mcp.tools.call.v1", false},
		{IOS, "system.notify", false}, {IOS, "canvas.present", false},
		{IOS, "", false}, {IOS, "a b", false}, {IOS, "made.up", false},
	} {
		if got := s.Decide(tt.class, tt.command); got.Allowed != tt.want || got.Allowed == (got.Why != "") {
			t.Errorf("%s %q: %+v", tt.class, tt.command, got)
		}
	}
}

func TestClassOf(t *testing.T) {
	for _, tt := range []struct {
		platform, family string
		want             Class
	}{
		{"iOS 18.4", "iPhone", IOS}, {"iPadOS 18", "", IOS}, {"android", "Android", Android}, {"macos", "", MacOS}, {"darwin", "", MacOS},
		{"win32", "", Windows}, {"linux", "Linux", Linux}, {"", "iPad", IOS}, {"watchOS", "", Watch}, {"", "", Unknown}, {"toaster", "", Unknown},
	} {
		if got := ClassOf(tt.platform, tt.family); got != tt.want {
			t.Errorf("%q %q: %s, want %s", tt.platform, tt.family, got, tt.want)
		}
	}
}

// What reaches programs and files needs an administrator's yes; what decides
// about commands is nobody's to call.
func TestSec_A_NODE_04_ReservedCommands(t *testing.T) {
	for _, c := range []string{"system.execApprovals.get", "system.execApprovals.set", "system.execApprovals.anything"} {
		if !Reserved(c) || !Hosts(c) {
			t.Error(c)
		}
	}
	for _, c := range []string{"system.run", "system.run.prepare", "system.which", "fs.listDir", "file.write", "browser.proxy",
		"mcp.tools.call.v1", "terminal.upload", "computer.act"} {
		if !Hosts(c) {
			t.Error(c)
		}
	}
	for _, c := range []string{"location.get", "camera.snap", "system.notify", "canvas.eval"} {
		if Hosts(c) || Reserved(c) {
			t.Error(c)
		}
	}
}
