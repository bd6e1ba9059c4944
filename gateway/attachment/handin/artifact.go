package handin

import (
	"context"
	"path"
	"path/filepath"

	"github.com/hearth-assistant/hearth/gateway/attachment"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Artifacts is the folder of a workspace that holds what people kept of a model's works.
const Artifacts = "artifacts"

// Save keeps an artifact in the workspace of the assistant that made it. What is there
// under its name stays; the same one again is the same file.
func (d *Desk) Save(_ context.Context, p protocol.ArtifactSaveParams) (protocol.ArtifactSaved, error) {
	switch n := len(p.Content); {
	case p.SessionKey == "":
		return protocol.ArtifactSaved{}, protocol.MissingParam(protocol.MethodArtifactSave, "sessionKey")
	case n == 0:
		return protocol.ArtifactSaved{}, protocol.Invalid("It is empty, so there is nothing to save.")
	case n > protocol.MaxArtifact:
		return protocol.ArtifactSaved{}, protocol.Invalid("It has %.1f MB, and at most %d MB are saved there. Download it instead.",
			float64(n)/(1<<20), protocol.MaxArtifact>>20)
	}
	root := d.o.Workspace(p.SessionKey)
	folder := attachment.Folder{Root: root, Dir: Artifacts, Shown: Artifacts}
	name, err := folder.Keep(attachment.Name(p.FileName, "text/plain"), []byte(p.Content))
	if err != nil {
		return protocol.ArtifactSaved{}, protocol.Invalid("It cannot be saved in the workspace: %v. Download it instead.", err)
	}
	return protocol.ArtifactSaved{Path: filepath.Join(root, Artifacts, name), Name: path.Join(Artifacts, name)}, nil
}
