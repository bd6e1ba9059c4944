package config

import "fmt"

// HoistAt is Hoist for the value of one setting, written as JSON5: literal is the
// value with each key in it replaced by a reference. A path with an index has none:
// what stands in a list has no name of its own.
func (l Sections) HoistAt(path, value string) (literal string, found []Hoisted, err error) {
	p, err := ParsePath(path)
	if err != nil {
		return "", nil, err
	}
	v, err := parse(value)
	if err != nil {
		return "", nil, fmt.Errorf("the value for %s is not valid: %w", p, err)
	}
	doc := appendJSON(nil, v.root)
	for i := len(p) - 1; i >= 0; i-- {
		if p[i].index >= 0 {
			return value, nil, nil
		}
		doc = append(appendString([]byte{'{'}, p[i].key), append([]byte{':'}, append(doc, '}')...)...)
	}
	text, found, err := l.Hoist(string(doc))
	if err != nil || len(found) == 0 {
		return value, nil, err
	}
	clean, err := parseObject(text)
	if err != nil {
		return "", nil, fmt.Errorf("the value for %s without its keys: %w", p, err)
	}
	n, ok := clean.find(p)
	if !ok {
		return "", nil, fmt.Errorf("the value for %s was lost with its keys", p)
	}
	return string(appendJSON(nil, n)), found, nil
}
