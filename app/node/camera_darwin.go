package node

// cameras: ffmpeg reaches the one that the system prefers.
func cameras(*Host) ([]camera, error) {
	return []camera{{"default", "default camera", "unspecified", "builtIn"}}, nil
}

func cameraInput(c camera) []string {
	return []string{"-f", "avfoundation", "-framerate", "30", "-i", c.ID}
}
