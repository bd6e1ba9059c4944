// Package order sorts lists that are short, or seldom sorted. It owns one
// compiled sort for all types: slices.SortFunc is a copy of twelve functions for
// every struct, and forty structs are a megabyte of program. Lists of pointers,
// numbers and strings share one copy there as well, and what is sorted often and
// is long is faster with slices: neither belongs here.
package order

import "sort"

// By sorts list as compare says; what it calls equal keeps its places.
func By[T any](list []T, compare func(a, b T) int) {
	sort.SliceStable(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}
