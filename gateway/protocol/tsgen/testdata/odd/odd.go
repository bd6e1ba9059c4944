package odd

import "time"

type Selector struct {
	At time.Time `json:"at"`
}

type Function struct {
	F func() `json:"f"`
}

type Generic struct {
	G Box[int] `json:"g"`
}

type Box[T any] struct{ V T }

type Unknown struct {
	U missing `json:"u"`
}

type Embeds struct {
	time.Time
}

type Channel struct {
	C chan int `json:"c"`
}
