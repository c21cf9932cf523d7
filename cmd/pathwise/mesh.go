package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/probe"
)

func meshCommand(s *session) *cobra.Command {
	c := &cobra.Command{
		Use: "mesh", Short: "Many hosts, every pair, day and night",
		Long: "A mesh is hosts, tools, and tests between them, described by a YAML file (docs/mesh-file.md). `pathwise serve` runs\n" +
			"it, with `pathwise agent` on each host; check and plan say what a file means before anything starts.",
		Example: "  pathwise mesh init\n  pathwise mesh check mesh.yaml\n  pathwise mesh plan mesh.yaml\n  pathwise mesh deploy mesh.yaml\n" +
			"  pathwise mesh run ucl ral bulk\n  pathwise mesh status",
	}
	c.AddCommand(meshInit(s), meshCheck(s), meshPlan(s), meshImport(s), meshDeploy(s), meshRestore(s)) // of files
	c.AddCommand(meshStatus(s), meshInvite(s), meshRun(s), meshDiagnose(s), meshToken(s), meshAccount(s), meshExport(s),
		meshBackup(s), meshReparse(s)) // of a mesh that runs
	return c
}

// loadMesh reads a mesh file or folder. Of what is wrong with it, each error but the last is printed on a line of its own,
// since there may be many.
func (s *session) loadMesh(path string) (*config.Mesh, error) {
	m, err := config.Load(path, probe.Catalogue{})
	var all config.Errors
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
		return nil, input.Errorf("%w", err)
	case !errors.As(err, &all):
		return m, err
	}
	for _, e := range all[:len(all)-1] {
		fmt.Fprintf(s.err, "pathwise: %s\n", e)
	}
	return nil, all[len(all)-1]
}

func meshReparse(s *session) *cobra.Command {
	var tool string
	c := &cobra.Command{
		Use: "reparse", Short: "Read what programs printed again, by the rules of today", Args: cobra.NoArgs,
		Long: "Read the kept output of programs that are tools again, by the rules that the mesh file has now, and file the results that\n" +
			"this changes: metrics that were not found before, or wrongly. Output that is not kept any more cannot be read.",
		Example: "  pathwise mesh reparse\n  pathwise mesh reparse --tool bbcp --json",
	}
	mesh := controllerFlag(c.Flags())
	c.Flags().StringVar(&tool, "tool", "", "only of these tools, as a pattern")
	c.RunE = func(c *cobra.Command, _ []string) error {
		defer s.ticking("reading outputs again")()
		body, err := mesh.call(c.Context(), http.MethodPost, "reparse", nil, map[string]string{"tool": tool})
		if err != nil {
			return err
		}
		defer body.Close()
		doc := struct {
			Schema string `json:"schema"`
			control.Reparsed
		}{Schema: "pathwise.reparse/1"}
		if err := document.ReadJSON(body, 4<<10, &doc.Reparsed); err != nil {
			return fmt.Errorf("read the controller's answer: %w", err)
		}
		return s.emit(doc, func(w io.Writer) {
			fmt.Fprintf(w, "%d outputs read again, %d results changed, %d left as they are\n", doc.Read, doc.Changed, doc.Left)
		})
	}
	return c
}
