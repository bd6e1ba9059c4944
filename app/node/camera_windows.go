package node

import "errors"

func cameras(*Host) ([]camera, error) {
	return nil, errors.New("cameras are not available on Windows in this version")
}

func cameraInput(camera) []string { return nil }
