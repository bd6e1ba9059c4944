//go:build failpoint

package store

import "go.etcd.io/bbolt"

// nextSchema is set by the linker to make a build that stands for a version to come,
// in tests of updates: it has one schema more, which builds before it do not read.
var nextSchema string

func schemaVersion() uint32 { return uint32(1 + len(migrations())) }

func migrations() []migration {
	if nextSchema == "" {
		return nil
	}
	return []migration{{what: "a table of the next version", run: func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists([]byte("next"))
		return err
	}}}
}
