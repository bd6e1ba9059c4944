package node

import (
	"context"
	"encoding/json"
	"time"
)

// place is where this machine is.
type place struct {
	Lat            float64  `json:"lat"`
	Lon            float64  `json:"lon"`
	AccuracyMeters float64  `json:"accuracyMeters"`
	AltitudeMeters *float64 `json:"altitudeMeters,omitempty"`
	Timestamp      string   `json:"timestamp"`
	IsPrecise      bool     `json:"isPrecise"`
	Source         string   `json:"source,omitempty"`

	at time.Time
}

// How exact a place is wanted, in GeoClue's numbers.
const (
	accuracyCity  = 4
	accuracyExact = 8
	preciseMeters = 100
	locationTime  = 20 * time.Second
)

// location says where this machine is, as far as the system knows and tells.
func (h *Host) location(ctx context.Context, _ *conn, raw json.RawMessage) (any, error) {
	var p struct {
		TimeoutMs int64  `json:"timeoutMs"`
		Accuracy  string `json:"desiredAccuracy"` // coarse, balanced, precise
	}
	if err := read(raw, &p); err != nil {
		return nil, err
	}
	limit := locationTime
	if p.TimeoutMs > 0 {
		limit = min(limit, time.Duration(p.TimeoutMs)*time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	accuracy := uint32(accuracyExact)
	if p.Accuracy == "coarse" {
		accuracy = accuracyCity
	}
	at, err := h.where(ctx, accuracy)
	if err != nil {
		return nil, &fault{"LOCATION_UNAVAILABLE", "this machine does not know where it is: " + err.Error()}
	}
	if at.at.IsZero() {
		at.at = h.o.Now()
	}
	at.Timestamp, at.IsPrecise = at.at.UTC().Format(time.RFC3339), at.AccuracyMeters > 0 && at.AccuracyMeters <= preciseMeters
	return at, nil
}
