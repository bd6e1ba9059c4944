//go:build !desktop || !linux

package main

func giveLibraries() {}
