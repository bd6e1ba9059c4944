package autostart

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// desktopEntry is an XDG autostart file. GNOME and others hide an entry whose
// program is gone.
func desktopEntry(exe string) string {
	// The specification quotes with double quotes and escapes these four, and
	// the value of a key reads backslashes once more; % is a field code.
	word := strings.NewReplacer(`\`, `\\\\`, `"`, `\\"`, "`", "\\\\`", "$", `\\$`, "%", "%%").Replace(exe)
	return "[Desktop Entry]\nType=Application\nName=" + Name + "\nComment=Your own assistant, in the menu bar\nExec=\"" + word +
		"\"\nIcon=hearth\nTerminal=false\nX-GNOME-Autostart-enabled=true\n"
}

// loginAgent is a LaunchAgent that starts the program once at login.
func loginAgent(exe string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(exe)) // a Builder takes everything
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key><string>org.hearth.tray</string>
	<key>ProgramArguments</key><array><string>` + b.String() + `</string></array>
	<key>RunAtLoad</key><true/>
</dict>
</plist>
`
}

// there reports whether a file is there.
func there(file string) (bool, error) {
	_, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func put(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("make the folder for %s: %w", file, err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

func take(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", file, err)
	}
	return nil
}
