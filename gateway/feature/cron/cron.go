// Package cron is the feature that lets things happen by themselves: jobs that
// are due at a time, again and again, or when something ends, and what they do.
package cron

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// New makes the feature.
func New() host.Feature {
	return host.Feature{Methods: []method.Method{
		method.Plain(protocol.MethodCronList, list),
		method.Plain(protocol.MethodCronStatus, status),
		later[protocol.CronIDParams, protocol.CronJob](protocol.MethodCronGet),
		later[protocol.CronAddParams, protocol.CronAdded](protocol.MethodCronAdd),
		later[protocol.CronUpdateParams, protocol.CronJob](protocol.MethodCronUpdate),
		later[protocol.CronIDParams, protocol.CronRemoved](protocol.MethodCronRemove),
		later[protocol.CronRunParams, protocol.CronRunStarted](protocol.MethodCronRun),
		later[protocol.CronRunsParams, protocol.CronRuns](protocol.MethodCronRuns),
		later[protocol.CronIDParams, protocol.CronScratchState](protocol.MethodCronScratchGet),
		later[protocol.CronScratchSetParams, protocol.CronScratchState](protocol.MethodCronScratchSet),
		later[protocol.WakeParams, protocol.OKResult](protocol.MethodWake),
		later[protocol.SetHeartbeatsParams, protocol.SetHeartbeatsResult](protocol.MethodSetHeartbeats),
		later[method.None, *protocol.HeartbeatEvent](protocol.MethodLastHeartbeat),
		later[protocol.CronPreviewParams, protocol.CronPreview](protocol.MethodCronPreview),
		later[protocol.CronCalendarParams, protocol.CronCalendar](protocol.MethodCronCalendar),
		later[method.None, protocol.CronMissed](protocol.MethodCronMissed),
		later[protocol.CronMissedParams, protocol.OKResult](protocol.MethodCronMissedResolve),
		later[protocol.CronSnoozeParams, protocol.CronJob](protocol.MethodCronSnooze),
		later[protocol.CronSeenParams, protocol.OKResult](protocol.MethodCronSeen),
	}}
}

func list(context.Context, protocol.CronListParams) (protocol.CronList, error) {
	return protocol.CronList{Jobs: []protocol.CronJob{}, Limit: 50, SnapshotRevision: "0"}, nil
}

func status(context.Context, method.None) (protocol.CronStatus, error) {
	return protocol.CronStatus{}, nil
}

func later[P, R any](name string) method.Method {
	return method.Plain(name, func(context.Context, P) (r R, err error) {
		return r, protocol.Invalid("%s is not there yet in this build", name)
	})
}
