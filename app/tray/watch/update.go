package watch

import (
	"context"

	"github.com/hearth-assistant/hearth/app/tray/menu"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// newer is a newer version, as far as the gateway knows of one. It does not look
// for this: that is done once a day. A version that was taken back is none.
func newer(ctx context.Context, c *client.Client) menu.Update {
	var st protocol.UpdateStatus
	if err := c.Call(ctx, protocol.MethodUpdateStatus, struct{}{}, &st); err != nil {
		return menu.Update{} // updates are switched off
	}
	if run := st.ActiveRun; run != nil && run.Status == "running" && run.To != "" {
		return menu.Update{Version: run.To, Running: true}
	}
	if u := st.UpdateAvailable; u != nil && u.Bad == "" {
		return menu.Update{Version: u.LatestVersion, Blocked: st.Blocked}
	}
	return menu.Update{}
}
