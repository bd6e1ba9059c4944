package node

import (
	"context"
	"encoding/json"
	"strconv"
	"time"
)

// camera is one that is plugged in.
type camera struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Position string `json:"position"` // unspecified: a computer does not know
	Kind     string `json:"deviceType"`
}

const maxDelay = 10 * time.Second

func (h *Host) cameraList(context.Context, *conn, json.RawMessage) (any, error) {
	all, err := cameras(h)
	if err != nil {
		return nil, &fault{"CAMERA_UNAVAILABLE", err.Error()}
	}
	if all == nil {
		all = []camera{}
	}
	return map[string]any{"devices": all}, nil
}

// cameraSnap takes one picture with ffmpeg.
func (h *Host) cameraSnap(ctx context.Context, _ *conn, raw json.RawMessage) (any, error) {
	var p struct {
		pictureParams
		DeviceID string `json:"deviceId"`
		DelayMs  int64  `json:"delayMs"`
	}
	if err := read(raw, &p); err != nil {
		return nil, err
	}
	all, err := cameras(h)
	if err != nil {
		return nil, &fault{"CAMERA_UNAVAILABLE", err.Error()}
	}
	if len(all) == 0 {
		return nil, &fault{"CAMERA_UNAVAILABLE", "no camera is plugged in here"}
	}
	one := all[0]
	if p.DeviceID != "" {
		found := false
		for _, c := range all {
			if c.ID == p.DeviceID {
				one, found = c, true
			}
		}
		if !found {
			return nil, invalid("there is no camera with this deviceId; camera.list tells those that there are")
		}
	}
	ffmpeg := h.find("ffmpeg")
	if ffmpeg == "" {
		return nil, &fault{"CAMERA_UNAVAILABLE", "ffmpeg, which takes the picture, is not installed on this machine"}
	}
	args := append([]string{"-hide_banner", "-loglevel", "error", "-nostdin"}, cameraInput(one)...)
	if d := min(time.Duration(p.DelayMs)*time.Millisecond, maxDelay); d > 0 {
		args = append(args, "-ss", strconv.FormatFloat(d.Seconds(), 'f', 3, 64))
	}
	args = append(args, "-frames:v", "1", "-f", "image2pipe", "-c:v", "png", "-")
	data, err := h.ask(ctx, ffmpeg, args)
	if err != nil {
		return nil, &fault{"CAMERA_UNAVAILABLE", "no picture was taken: " + err.Error()}
	}
	return encode(data, p.pictureParams, "jpg")
}
