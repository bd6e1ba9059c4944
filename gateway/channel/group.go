package channel

// EveryGroup is the name under which settings say what holds for groups without their own.
const EveryGroup = "*"

// OfGroup is what settings by group say of one.
func OfGroup[T any](groups map[string]T, conversation string) (of T, ok bool) {
	if of, ok = groups[conversation]; !ok {
		of, ok = groups[EveryGroup]
	}
	return of, ok
}
