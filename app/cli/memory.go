package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newMemory(a *app) *cobra.Command {
	var limit int
	var all, rebuild bool
	var source, who string
	search := &cobra.Command{Use: "search WORDS…", Short: "Find passages in the notes, the best first", Args: cobra.MinimumNArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			return searchMemory(ctx, a, protocol.MemorySearchParams{Query: strings.Join(args, " "), Limit: limit, All: all, Person: who})
		})}
	search.Flags().IntVarP(&limit, "limit", "n", 0, "at most this many, 50 at most (as the settings say)")
	show := &cobra.Command{Use: "show [FILE]", Short: "List the memory files, or show one", Args: cobra.MaximumNArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			if len(args) == 1 {
				return showMemory(ctx, a, args[0])
			}
			return listMemory(ctx, a, protocol.MemoryListParams{All: all, Person: who})
		})}
	for _, c := range []*cobra.Command{search, show} {
		c.Flags().BoolVar(&all, "all", false, "also notes about other people and groups")
		c.Flags().StringVar(&who, "person", "", "only the notes about a person or group: telegram:42, a contact's name, or a folder of "+
			"memory/people or memory/groups")
		c.MarkFlagsMutuallyExclusive("all", "person")
	}
	forget := &cobra.Command{Use: "forget FILE[#LINES]", Short: "Remove a file, lines of it, or all notes of a source",
		Args: cobra.MaximumNArgs(1),
		Long: "Removes a memory file, lines of it (memory/2031-03-04.md#L3-L9), or with --source all\n" +
			"notes that came from a conversation (agent:main:main), a turn, or a person\n(telegram:42). `hearth undo` takes it back for seven days.",
		RunE: a.run(func(ctx context.Context, args []string) error { return forgetMemory(ctx, a, args, source) })}
	forget.Flags().StringVar(&source, "source", "", "all notes that came from there")
	index := &cobra.Command{Use: "index", Short: "Bring the index up to date now", Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error {
			return memoryStatus(ctx, a, protocol.ScopeWrite, protocol.MethodMemoryIndex, protocol.MemoryIndexParams{Rebuild: rebuild})
		})}
	index.Flags().BoolVar(&rebuild, "rebuild", false, "throw it away and make it anew from the files")
	status := &cobra.Command{Use: "status", Short: "What is in the index, and what is not", Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error {
			return memoryStatus(ctx, a, protocol.ScopeRead, protocol.MethodMemoryStatus, protocol.MemoryStatusParams{})
		})}
	return group("memory", "Search, see and forget what the assistant remembers", search, show, forget, index, status)
}

// memoryCall makes a call; what is refused about a file gets the way on.
func memoryCall(ctx context.Context, a *app, scope protocol.Scope, method string, params, result any) error {
	err := a.call(ctx, scope, method, params, result)
	var refusal *protocol.Error
	if errors.As(err, &refusal) && refusal.Code == protocol.CodeInvalidRequest {
		return &failure{exitFailure, refusalWords(refusal), "`hearth memory show --all` lists the files"}
	}
	return err
}

func searchMemory(ctx context.Context, a *app, p protocol.MemorySearchParams) error {
	if p.Limit < 0 || p.Limit > 50 {
		return usage("--limit must be between 1 and 50")
	}
	var res protocol.MemoryFound
	if err := memoryCall(ctx, a, protocol.ScopeRead, protocol.MethodMemorySearch, p, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if res.Partial != "" {
		_ = a.errs().print(dim("Note: "+line(res.Partial)), "\n")
	}
	if len(res.Results) == 0 {
		return a.out().print("Nothing in the notes fits.\n")
	}
	for _, h := range res.Results {
		text := strings.ReplaceAll(strings.TrimSpace(clean(h.Snippet)), "\n", "\n  ")
		if err := a.out().print(bold(line(h.Citation)), dim(fmt.Sprintf(" · %.2f", h.Score)), "\n  ", text, "\n\n"); err != nil {
			return err
		}
	}
	return nil
}

func listMemory(ctx context.Context, a *app, p protocol.MemoryListParams) error {
	var res protocol.MemoryFiles
	if err := memoryCall(ctx, a, protocol.ScopeRead, protocol.MethodMemoryList, p, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if len(res.Files) == 0 {
		return a.out().print("Nothing is remembered yet. Notes stand in ", line(res.Workspace), ": MEMORY.md and memory/.\n")
	}
	var rows [][]string
	for _, f := range res.Files {
		rows = append(rows, []string{line(f.Path), size(f.Size), stamp(f.UpdatedAt), line(f.Skipped)})
	}
	return a.out().table([]string{"FILE", "SIZE", "CHANGED", "NOT FOUND BECAUSE"}, rows)
}

func showMemory(ctx context.Context, a *app, path string) error {
	var res protocol.MemoryContent
	if err := memoryCall(ctx, a, protocol.ScopeRead, protocol.MethodMemoryGet, protocol.MemoryGetParams{Path: path}, &res); err != nil {
		return err
	}
	if res.Hash == "" {
		return &failure{exitFailure, "there is no " + line(path), "`hearth memory show --all` lists the files"}
	}
	if a.asJSON {
		return a.out().json(res)
	}
	return a.out().print(clean(res.Text), "\n")
}

func forgetMemory(ctx context.Context, a *app, args []string, source string) error {
	if (source == "") == (len(args) == 0) {
		return usage("say a FILE, or --source")
	}
	p := protocol.MemoryForgetParams{Source: source}
	if source == "" {
		var err error
		if p.Path, p.StartLine, p.EndLine, err = citation(args[0]); err != nil {
			return err
		}
	}
	var res protocol.MemoryChange
	if err := memoryCall(ctx, a, protocol.ScopeWrite, protocol.MethodMemoryForget, p, &res); err != nil {
		return err
	}
	words := "Forgotten: " + line(strings.Join(res.Paths, ", ")) + "."
	switch {
	case res.UndoID == "" && source != "":
		return a.done(res, "No note says that it came from "+line(source)+".")
	case res.UndoID == "":
		return a.done(res, "Nothing was changed.")
	case source != "":
		words = fmt.Sprintf("Forgotten: %d notes in %d files.", res.Notes, len(res.Paths))
	}
	return a.done(res, words+" `hearth undo "+res.UndoID+"` takes that back.")
}

// citation reads FILE#L3-L9.
func citation(s string) (path string, from, to int, err error) {
	path, lines, ok := strings.Cut(s, "#")
	if !ok {
		return path, 0, 0, nil
	}
	first, last, _ := strings.Cut(lines, "-")
	from, err = strconv.Atoi(strings.TrimPrefix(first, "L"))
	if to = from; err == nil && last != "" {
		to, err = strconv.Atoi(strings.TrimPrefix(last, "L"))
	}
	if err != nil || from < 1 || to < from {
		return "", 0, 0, usage("lines are written as memory/2031-03-04.md#L3-L9, not %q", lines)
	}
	return path, from, to, nil
}

func memoryStatus(ctx context.Context, a *app, scope protocol.Scope, method string, params any) error {
	var st protocol.MemoryStatus
	if err := memoryCall(ctx, a, scope, method, params, &st); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(st)
	}
	vectors := "none; only words are compared"
	if st.Embedding.Model != "" {
		vectors = fmt.Sprintf("%d of %d, by %s", st.Vectors, st.Chunks, st.Embedding.Model)
	}
	rows := [][]string{
		{"workspace", line(st.Workspace)}, {"files", fmt.Sprintf("%d (%s)", st.Files, size(st.Bytes))},
		{"passages", strconv.Itoa(st.Chunks)}, {"vectors", line(vectors)},
	}
	if !st.Enabled {
		rows = append(rows, []string{"off", "agents.defaults.memorySearch.enabled is false: the assistant does not look"})
	}
	for _, r := range [][2]string{{"reading now", st.Indexing}, {"problem", st.Problem}, {"vectors' problem", st.Embedding.Problem}} {
		if r[1] != "" {
			rows = append(rows, []string{r[0], line(r[1])})
		}
	}
	for _, s := range st.Skipped {
		rows = append(rows, []string{"left out", line(s.Path + ": " + s.Reason)})
	}
	return a.out().table([]string{"MEMORY", ""}, rows)
}
