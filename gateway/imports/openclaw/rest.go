package openclaw

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/sqlite"
)

// readRest tells what lies there and is not taken.
func (h *home) readRest(context.Context) error {
	devices := 0
	if err := h.rows("device_pairing_paired", func(*sqlite.Row) error { devices++; return nil }); err != nil {
		return err
	}
	if raw, err := h.t.Read("devices/paired.json", maxSettings); err == nil {
		var list map[string]json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			devices = max(devices, len(list))
		}
	}
	approvals := 0
	if h.t.Has("exec-approvals.json") {
		approvals = 1
	}
	if err := h.rows("exec_approvals_config", func(*sqlite.Row) error { approvals = 1; return nil }); err != nil {
		return err
	}
	logins := 0
	for _, name := range h.filesBelow("credentials") {
		if !strings.HasSuffix(name, "-allowFrom.json") && !strings.HasSuffix(name, "-pairing.json") {
			logins++
		}
	}
	media := len(h.filesBelow("media"))
	for _, l := range []struct {
		n         int
		name, why string
	}{
		{devices, "paired devices", "a device trusts the gateway that it was paired with: pair it again (`hearth qr`)"},
		{approvals, "rules for commands", "what may run without a question is decided here anew"},
		{logins, "files of logins of messaging networks", "log in again (`hearth channels add`): two programs on one login cut each other off"},
		{media, "pictures and files of chats", "they are named in the chats; the files stay where they are"},
		{len(h.filesBelow("extensions")) + len(h.filesBelow("plugins")), "files of plug-ins", "they are programs for OpenClaw's process"},
		{len(h.filesBelow("hooks")), "files of hooks", "they are programs: look at them, then copy what you want into Hearth's hooks"},
	} {
		if l.n == 0 {
			continue
		}
		if err := h.give(imports.Left(imports.Other, l.name, l.why, l.n)); err != nil {
			return err
		}
	}
	return nil
}
