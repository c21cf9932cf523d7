package main

import (
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/document"
)

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
