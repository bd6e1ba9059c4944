package plan

import "io/fs"

// InDir reports whether an opened folder is the one that the plan was made for.
func (p Plan) InDir(opened fs.FileInfo) bool {
	id, _ := identify(opened)
	return identity{dev: id.dev, ino: id.ino} == p.dirID
}
