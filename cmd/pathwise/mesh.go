package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/config"
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
	c.AddCommand(meshStatus(s), meshRun(s), meshDiagnose(s), meshToken(s), meshAccount(s), meshExport(s),
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
		return nil, &badCall{err}
	case !errors.As(err, &all):
		return m, err
	}
	for _, e := range all[:len(all)-1] {
		fmt.Fprintf(s.err, "pathwise: %s\n", e)
	}
	return nil, all[len(all)-1]
}
