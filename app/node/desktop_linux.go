package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/hearth-assistant/hearth/app/notify"
)

// tellDesktop shows a notification.
func (h *Host) tellDesktop(ctx context.Context, title, body string) error {
	d := notify.New(notify.Options{Chosen: func(notify.Choice) {}, Now: h.o.Now, Bus: func(ctx context.Context) (*dbus.Conn, error) {
		address := h.env("DBUS_SESSION_BUS_ADDRESS")
		if address == "" {
			return nil, errors.New("there is no desktop session here (DBUS_SESSION_BUS_ADDRESS is not set)")
		}
		return dbus.Connect(address, dbus.WithContext(context.WithoutCancel(ctx)))
	}})
	defer d.Close()
	return d.Show(ctx, notify.Note{Title: title, Text: body})
}

const (
	geoName   = "org.freedesktop.GeoClue2"
	geoClient = geoName + ".Client"
)

// where asks GeoClue. The system asks the person or its settings.
func (h *Host) where(ctx context.Context, accuracy uint32) (place, error) {
	address := h.env("DBUS_SYSTEM_BUS_ADDRESS")
	if address == "" {
		address = "unix:path=/run/dbus/system_bus_socket"
	}
	c, err := dbus.Connect(address, dbus.WithContext(ctx))
	if err != nil {
		return place{}, fmt.Errorf("the system bus does not answer: %w", err)
	}
	defer c.Close()
	var path dbus.ObjectPath
	manager := c.Object(geoName, "/org/freedesktop/GeoClue2/Manager")
	if err := manager.CallWithContext(ctx, geoName+".Manager.GetClient", 0).Store(&path); err != nil {
		return place{}, fmt.Errorf("GeoClue does not answer (is geoclue-2.0 installed?): %w", err)
	}
	one := c.Object(geoName, path)
	if err := one.SetProperty(geoClient+".DesktopId", dbus.MakeVariant("hearth")); err != nil {
		return place{}, fmt.Errorf("ask GeoClue: %w", err)
	}
	if err := one.SetProperty(geoClient+".RequestedAccuracyLevel", dbus.MakeVariant(accuracy)); err != nil {
		return place{}, fmt.Errorf("ask GeoClue: %w", err)
	}
	if err := c.AddMatchSignalContext(ctx, dbus.WithMatchInterface(geoClient), dbus.WithMatchMember("LocationUpdated"),
		dbus.WithMatchObjectPath(path)); err != nil {
		return place{}, fmt.Errorf("ask GeoClue: %w", err)
	}
	updates := make(chan *dbus.Signal, 4)
	c.Signal(updates)
	if call := one.CallWithContext(ctx, geoClient+".Start", 0); call.Err != nil {
		return place{}, fmt.Errorf("GeoClue refused: %w", call.Err)
	}
	defer one.Call(geoClient+".Stop", dbus.FlagNoReplyExpected)
	for {
		select {
		case <-ctx.Done():
			return place{}, errors.New("GeoClue found no place in time")
		case s, ok := <-updates:
			if !ok {
				return place{}, errors.New("the system bus went away")
			}
			if s.Name != geoClient+".LocationUpdated" || len(s.Body) != 2 {
				continue
			}
			if at, ok := s.Body[1].(dbus.ObjectPath); ok && at != "/" {
				return readPlace(ctx, c.Object(geoName, at))
			}
		}
	}
}

func readPlace(ctx context.Context, o dbus.BusObject) (place, error) {
	var all map[string]dbus.Variant
	if err := o.CallWithContext(ctx, "org.freedesktop.DBus.Properties.GetAll", 0, geoName+".Location").Store(&all); err != nil {
		return place{}, fmt.Errorf("read GeoClue's answer: %w", err)
	}
	number := func(name string) float64 { v, _ := all[name].Value().(float64); return v }
	p := place{Lat: number("Latitude"), Lon: number("Longitude"), AccuracyMeters: number("Accuracy"), Source: "geoclue"}
	if v := number("Altitude"); v > -1e6 {
		p.AltitudeMeters = &v
	}
	if t, ok := all["Timestamp"].Value().([]any); ok && len(t) == 2 {
		if s, ok := t[0].(uint64); ok {
			p.at = time.Unix(int64(s), 0)
		}
	}
	return p, nil
}
