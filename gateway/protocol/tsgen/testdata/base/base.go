package base

type Count struct {
	In  int `json:"in"`
	Out int `json:"out"`
}
