package isolate

// limit leaves the limits to watch and to whoever started this.
func limit(order) {}
