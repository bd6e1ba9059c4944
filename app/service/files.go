package service

import (
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// unit is a systemd user unit. MemoryDenyWriteExecute is left out: code mode
// compiles. What confines commands further is Hearth's own sandbox.
func unit(s Spec) string {
	var b strings.Builder
	b.WriteString("[Unit]\nDescription=" + s.words() + "\nAfter=default.target\n\n[Service]\n")
	b.WriteString("ExecStart=" + systemdWords(append([]string{s.Exe}, s.Args...)) + "\n")
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		b.WriteString("Environment=" + systemdValue(k+"="+s.Env[k]) + "\n")
	}
	b.WriteString("Restart=on-failure\nRestartSec=1\n")
	b.WriteString("# What is being answered is kept; a moment is enough.\nTimeoutStopSec=20\nKillMode=mixed\n")
	b.WriteString("UMask=0077\nNoNewPrivileges=yes\nLockPersonality=yes\nRestrictRealtime=yes\nRestrictSUIDSGID=yes\n" +
		"SystemCallArchitectures=native\n")
	b.WriteString("\n[Install]\nWantedBy=default.target\n")
	return b.String()
}

func systemdWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = systemdWord(w)
	}
	return strings.Join(quoted, " ")
}

// systemdWord quotes one word of a command, where $ names a variable.
func systemdWord(w string) string { return systemdValue(strings.ReplaceAll(w, "$", "$$")) }

// systemdValue quotes: systemd.service(5) reads C escapes, and % is a specifier.
func systemdValue(w string) string {
	r := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "%", "%%")
	return `"` + r.Replace(w) + `"`
}

// agent is a LaunchAgent.
func agent(s Spec) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key><string>` + label(s) + `</string>
	<key>ProgramArguments</key>
	<array>
`)
	for _, w := range append([]string{s.Exe}, s.Args...) {
		b.WriteString("\t\t<string>" + escaped(w) + "</string>\n")
	}
	b.WriteString("\t</array>\n\t<key>EnvironmentVariables</key>\n\t<dict>\n")
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		b.WriteString("\t\t<key>" + escaped(k) + "</key><string>" + escaped(s.Env[k]) + "</string>\n")
	}
	fmt.Fprintf(&b, `	</dict>
	<key>RunAtLoad</key><true/>
	<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
	<key>ProcessType</key><string>Interactive</string>
	<key>Umask</key><integer>63</integer>
	<key>StandardErrorPath</key><string>%s</string>
</dict>
</plist>
`, escaped(s.Log))
	return b.String()
}

// label is the agent's name to launchd.
func label(s Spec) string {
	if s.Name == Node {
		return "org.hearth.node"
	}
	return "org.hearth.gateway"
}

// task is a scheduled task that runs at logon, without a limit of its time.
func task(s Spec, user string) string {
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		args[i] = windowsWord(a)
	}
	return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>` + s.words() + `</Description></RegistrationInfo>
  <Triggers><LogonTrigger><Enabled>true</Enabled><UserId>` + escaped(user) + `</UserId></LogonTrigger></Triggers>
  <Principals><Principal id="Author"><UserId>` + escaped(user) + `</UserId><LogonType>InteractiveToken</LogonType><RunLevel>LeastPrivilege</RunLevel></Principal></Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure><Interval>PT1M</Interval><Count>10</Count></RestartOnFailure>
  </Settings>
  <Actions Context="Author"><Exec><Command>` + escaped(s.Exe) + `</Command><Arguments>` + escaped(strings.Join(args, " ")) + `</Arguments></Exec></Actions>
</Task>
`
}

// windowsWord quotes one argument as CommandLineToArgvW reads it.
func windowsWord(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t\"") {
		return w
	}
	var b strings.Builder
	b.WriteByte('"')
	slashes := 0
	for _, r := range w {
		switch r {
		case '\\':
			slashes++
			continue
		case '"':
			b.WriteString(strings.Repeat(`\`, 2*slashes+1))
		default:
			b.WriteString(strings.Repeat(`\`, slashes))
		}
		slashes = 0
		b.WriteRune(r)
	}
	b.WriteString(strings.Repeat(`\`, 2*slashes) + `"`)
	return b.String()
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
