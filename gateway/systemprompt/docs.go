package systemprompt

import (
	"os"
	"path/filepath"
)

// repoAbove is the folder of the version control that a workspace is in, "" for
// none.
func repoAbove(dir string) string {
	for range 32 {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
	return ""
}

// docsNear is the folder with the manual that was installed with a program, or lies
// around one that runs out of a checkout; "" where there is none.
func docsNear(program string) string {
	for _, at := range []string{"docs", "../share/hearth/docs", "../Resources/docs"} {
		if docs := filepath.Join(filepath.Dir(program), filepath.FromSlash(at)); filepath.IsAbs(docs) && isManual(docs) {
			return docs
		}
	}
	for range 4 {
		up := filepath.Dir(program)
		if up == program {
			return ""
		}
		docs := filepath.Join(up, "docs")
		if isFile(filepath.Join(up, "go.mod")) && isManual(docs) {
			return docs
		}
		program = up
	}
	return ""
}

func isManual(docs string) bool {
	return isFile(filepath.Join(docs, "configuration.md")) && isFile(filepath.Join(docs, "architecture.md"))
}

func isFile(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode().IsRegular()
}
