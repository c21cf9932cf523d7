package main

import (
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/web"
)

func meshInvite(s *session) *cobra.Command {
	c := &cobra.Command{
		Use: "invite", Short: "Let one host join the mesh", Args: cobra.NoArgs,
		Long: "Print the line that makes another host one of the mesh, when it is pasted there: it works once, for an hour, and is a\n" +
			"secret until then. It is for a controller that `pathwise serve` started without a mesh file (docs/home.md); hosts of a mesh\n" +
			"file get their keys by `pathwise mesh deploy`.",
		Example: "  pathwise mesh invite\n  pathwise mesh invite --data ~/.local/state/pathwise",
	}
	mesh := controllerFlag(c.Flags())
	c.RunE = func(c *cobra.Command, _ []string) error {
		body, err := mesh.call(c.Context(), http.MethodPost, "joining", nil, struct{}{})
		if err != nil {
			return err
		}
		defer body.Close()
		doc := struct {
			Schema string `json:"schema"`
			web.Invitation
		}{Schema: "pathwise.invite/1"}
		if err := document.ReadJSON(body, 16<<10, &doc.Invitation); err != nil {
			return fmt.Errorf("read the controller's answer: %w", err)
		}
		if doc.Alone {
			fmt.Fprintf(s.err, "note: %s\n", web.AloneNote(doc.Suggested))
		}
		return s.emit(doc, func(w io.Writer) { fmt.Fprintln(w, doc.Command) })
	}
	return c
}
