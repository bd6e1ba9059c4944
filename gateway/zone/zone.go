// Package zone knows the world's time zones by name, also on systems without a
// list of them (Windows, small containers). It owns a packed copy of Go's list, a
// sixth of what time/tzdata adds to the program. What a zone is used for, and
// which one a person lives in, is for others to say.
package zone

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// packed has a file for each part of the world: a name, a line end, the length
// of the data in four digits, a line end, the data; and so on.
//
//go:generate go run ./pack
//go:embed packed
var packed embed.FS

var errUnknown = errors.New("no such time zone")

// Load is time.LoadLocation, with our list behind the system's.
func Load(name string) (*time.Location, error) {
	at, err := time.LoadLocation(name)
	if err == nil {
		return at, nil
	}
	data, missing := find(name)
	if missing != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(name, data)
}

// Here is the zone that the environment variable TZ names, when the system
// itself does not know it and would take UTC; else nil.
func Here(tz string) *time.Location {
	name := strings.TrimPrefix(tz, ":")
	if name == "" || name[0] == '/' || runtime.GOOS == "windows" { // Windows asks its settings
		return nil
	}
	if _, err := time.LoadLocation(name); err == nil {
		return nil
	}
	at, err := Load(name)
	if err != nil {
		return nil
	}
	return at
}

// find unpacks what is known of a zone.
func find(name string) ([]byte, error) {
	part, _, two := strings.Cut(name, "/")
	if !two {
		part = "Others"
	}
	raw, err := packed.ReadFile("packed/" + part + ".gz")
	if err != nil {
		return nil, errUnknown
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("unpacking time zones: %w", err)
	}
	for r := bufio.NewReader(unpacked); ; {
		have, err := r.ReadString('\n')
		if err == io.EOF {
			return nil, errUnknown
		}
		length, err := r.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("unpacking time zones: %w", err)
		}
		size, err := strconv.Atoi(strings.TrimSpace(length))
		if err != nil {
			return nil, fmt.Errorf("unpacking time zones: %w", err)
		}
		if have != name+"\n" {
			_, err = r.Discard(size)
		} else {
			data := make([]byte, size)
			_, err = io.ReadFull(r, data)
			if err == nil {
				return data, nil
			}
		}
		if err != nil {
			return nil, fmt.Errorf("unpacking time zones: %w", err)
		}
	}
}
