package main

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// statement says of files where they come from: an in-toto statement
// (https://in-toto.io/Statement/v1) with SLSA's provenance. It has no times and
// names no machine: the same commit makes the same statement, and who builds it
// again can compare.
type statement struct {
	Type      string     `json:"_type"`
	Subject   []subject  `json:"subject"`
	Predicate string     `json:"predicateType"`
	Body      provenance `json:"predicate"`
}

type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

type provenance struct {
	Definition struct {
		Type         string            `json:"buildType"`
		External     map[string]string `json:"externalParameters"`
		Internal     map[string]string `json:"internalParameters"`
		Dependencies []resource        `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	Run struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	} `json:"runDetails"`
}

type resource struct {
	URI    string            `json:"uri"`
	Digest map[string]string `json:"digest"`
}

// provenanceOf writes the statement about all that lies in a folder.
func provenanceOf(args []string) error {
	flags := flag.NewFlagSet("provenance", flag.ContinueOnError)
	packages := flags.String("packages", "build/packages", "the `FOLDER` of what was made")
	commit := flags.String("commit", "", "the `HASH` it was made of")
	dirty := flags.Bool("changed", false, "the checkout was not as the commit has it")
	parameters := flags.String("parameters", "", "how build/package was called")
	node := flags.String("node", "", "the version of Node.js that built the page")
	var locks list
	flags.Var(&locks, "lock", "a `FILE` that pins what was fetched; may be repeated")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || *commit == "" {
		return errors.New("provenance needs -commit and the file that it goes to")
	}
	s := statement{Type: "https://in-toto.io/Statement/v1", Predicate: "https://slsa.dev/provenance/v1"}
	var err error
	if s.Subject, err = subjects(*packages, flags.Arg(0)); err != nil {
		return err
	}
	d := &s.Body.Definition
	d.Type = "https://" + source + "/blob/main/build/package"
	d.External = map[string]string{"source": "git+https://" + source, "arguments": *parameters}
	d.Internal = map[string]string{}
	for _, name := range []string{"HEARTH_UPDATE_SOURCE", "HEARTH_UPDATE_KEYS"} {
		if v := os.Getenv(name); v != "" {
			d.External[name] = v
		}
	}
	if *dirty {
		d.Internal["changed"] = "the checkout had changes that are in no commit"
	}
	d.Dependencies = []resource{{"git+https://" + source + "@" + *commit, map[string]string{"gitCommit": *commit}}}
	for _, file := range locks {
		in, err := os.Open(file)
		if err != nil {
			return err
		}
		_, sum, err := digest(in)
		if err = errors.Join(err, in.Close()); err != nil {
			return err
		}
		d.Dependencies = append(d.Dependencies, resource{file, map[string]string{"sha256": sum}})
	}
	d.Internal["go"], d.Internal["node"], d.Internal["cc"] = runtime.Version(), *node, compiler()
	s.Body.Run.Builder.ID = "https://" + source + "/blob/main/build/package"
	data, err := marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(flags.Arg(0), data, 0o644)
}

// compiler is the C compiler of icon and window; empty where there is none.
func compiler() string {
	out, err := exec.Command("gcc", "-dumpfullversion").Output()
	if err != nil {
		return ""
	}
	return "gcc " + strings.TrimSpace(string(out))
}

// subjects are the files of a folder, but for the statement itself and the list of
// checksums, which has the statement.
func subjects(folder, itself string) ([]subject, error) {
	sums, err := sumsOf(folder)
	if err != nil {
		return nil, err
	}
	var all []subject
	for name, sum := range sums {
		if filepath.Join(folder, filepath.FromSlash(name)) != filepath.Clean(itself) && name != "SHA256SUMS" {
			all = append(all, subject{name, map[string]string{"sha256": sum}})
		}
	}
	if len(all) == 0 {
		return nil, errors.New(folder + " is empty; build/package fills it")
	}
	slices.SortFunc(all, func(a, b subject) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// sumsOf are the SHA-256 sums of all files below a folder.
func sumsOf(folder string) (map[string]string, error) {
	sums := map[string]string{}
	err := filepath.WalkDir(folder, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		in, err := os.Open(file)
		if err != nil {
			return err
		}
		_, sum, err := digest(in)
		name, rerr := filepath.Rel(folder, file)
		sums[filepath.ToSlash(name)] = sum
		return errors.Join(err, rerr, in.Close())
	})
	return sums, err
}
