package control

import (
	"context"
	"fmt"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/parse"
)

// Reparsed is what reading kept outputs again came to, in Results.
type Reparsed struct {
	Read    int `json:"read_count" doc:"Results whose output was read again"`
	Changed int `json:"changed_count" doc:"Of these, Results whose metrics, status or error changed"`
	Left    int `json:"left_count" doc:"Results of programs that hold no output any more, or whose tool the mesh file does not have"`
}

// reparsedTogether is how many changed Results are filed at once: each may hold an output of a few MB.
const reparsedTogether = 20

// Reparse reads the output that Results of programs hold by the rules that the mesh file has now, and files those that this
// changed. Tool is a pattern; "": all. What was filed before an error stays.
func (c *Control) Reparse(ctx context.Context, tool string) (Reparsed, error) {
	var done Reparsed
	parsers := map[string]*parse.Parser{}
	for _, t := range c.Mesh().Tools {
		if t.Command == nil {
			continue
		}
		parser, err := parse.Compile(t.Command.Parse)
		if err != nil {
			return done, fmt.Errorf("rules of %s: %w", t.Name, err)
		}
		parsers[t.Name] = parser
	}
	var changed []*measure.Result
	file := func() error {
		err := c.config.Archive.Update(ctx, changed)
		if err != nil {
			return fmt.Errorf("file what was read again: %w", err)
		}
		done.Changed += len(changed)
		changed = nil
		return nil
	}
	for r, err := range c.config.Archive.All(ctx, archive.ResultQuery{Kind: config.KindCommand, Tool: tool, Subject: "*"}) {
		if err != nil {
			return done, fmt.Errorf("read results: %w", err)
		}
		parser := parsers[r.Tool]
		if parser == nil || r.Samples.Output == nil {
			done.Left++
			continue
		}
		done.Read++
		if parse.Apply(parser, r) {
			changed = append(changed, r)
		}
		if len(changed) == reparsedTogether {
			if err := file(); err != nil {
				return done, err
			}
		}
	}
	return done, file()
}
