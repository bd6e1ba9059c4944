package statedir

// Full is how many free bytes are too few to go on for long.
const Full = 50 << 20
