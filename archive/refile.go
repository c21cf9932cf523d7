package archive

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
)

// Archives of the layout before filed a Result under who asked whom. refile files those anew, once, of which the data went
// back, or both ways, and the steps of diagnoses:
//
//	a stream of which all data went back         gets the other name: points, rollups and all
//	any other Result                             goes to its streams with its points, and the rollups are made anew
//	one of which the points are pruned           goes by itself; its part of the rollups stays where it was
type refiling struct {
	k     *keeper
	steps map[string]string // ID of a Result -> that of the diagnosis it is a step of

	blocks  []blockRow // that have such Results, or some that do not say
	all     map[streamID]int
	moving  map[streamID]map[streamKey]int // where how many Results of a stream go
	unknown map[streamID]int               // how many of a stream do not say which way their data was to go: they failed
	both    map[testTool]bool
	renamed map[streamID]bool
	touched map[streamID]bool // streams that have lost a run
}

type testTool struct{ test, tool string }

// keyBefore names the stream that a Result was filed in by the layout before.
func keyBefore(r *measure.Result) streamKey {
	forward := *r
	forward.Way, forward.Role = "", measure.RoleOf(r.Test)
	return keyOf(&forward)
}

// refile files the Results of an archive of the layout before anew, if that has not been done yet. It calls do for each step, one
// at a time.
func (k *keeper) refile(ctx context.Context, do func(context.Context, func(context.Context) error) error) error {
	f := &refiling{k: k, steps: map[string]string{}, all: map[streamID]int{}, moving: map[streamID]map[streamKey]int{},
		unknown: map[streamID]int{}, both: map[testTool]bool{}, renamed: map[streamID]bool{}, touched: map[streamID]bool{}}
	due := false
	err := k.store.view(ctx, func(t *tx) error {
		state, err := readState(ctx, t)
		due = state["refile"] != 0
		return err
	})
	if err != nil || !due {
		return err
	}
	err = do(ctx, func(ctx context.Context) error {
		if err := k.moveAll(); err != nil {
			return err
		}
		return k.store.view(ctx, func(t *tx) error { return f.survey(ctx, t) })
	})
	if err == nil {
		err = do(ctx, f.rename)
	}
	for i := 0; i < len(f.blocks) && err == nil; i++ {
		err = do(ctx, func(ctx context.Context) error { return f.block(ctx, f.blocks[i]) })
	}
	if err == nil {
		err = do(ctx, f.end)
	}
	if err != nil {
		return fmt.Errorf("file results by way and role: %w", k.store.explain(err))
	}
	return nil
}

// survey finds out which Results are to be filed anew, and what becomes of their streams.
func (f *refiling) survey(ctx context.Context, t *tx) error {
	tools := map[string]bool{}
	for _, s := range f.k.names.streams {
		if s != nil && measure.WayOf(s.key.kind, nil) != "" {
			tools[s.key.tool] = true
		}
		if s != nil && s.key.kind == kindDiagnosis {
			if err := f.eachBlock(ctx, t, s.key.tool, f.findSteps); err != nil {
				return err
			}
		}
	}
	for _, s := range f.k.names.streams { // diagnoses call their tools what they call the kinds
		if s != nil && len(f.steps) > 0 && s.key.test == "" && s.key.tool == s.key.kind {
			tools[s.key.tool] = true
		}
	}
	for tool := range tools {
		if err := f.eachBlock(ctx, t, tool, func(b blockRow, lines [][]byte) error { return f.count(ctx, t, b, lines) }); err != nil {
			return err
		}
	}
	if len(f.moving) == 0 {
		return nil
	}
	var s streamID
	var n int
	return t.each(ctx, "SELECT result.stream, count(*) FROM result JOIN block ON block.id = result.block GROUP BY result.stream", nil,
		[]any{&s, &n}, func() error { f.all[s] = n; return nil })
}

// eachBlock calls each for the blocks of a tool.
func (f *refiling) eachBlock(ctx context.Context, t *tx, tool string, each func(blockRow, [][]byte) error) error {
	var blocks []blockRow
	var b blockRow
	if err := t.each(ctx, "SELECT id, day FROM block WHERE tool = $1 ORDER BY day, id", []any{tool}, []any{&b.id, &b.day}, func() error {
		blocks = append(blocks, b)
		return nil
	}); err != nil {
		return err
	}
	for _, b := range blocks {
		lines, err := f.k.readBlock(ctx, t, b.id, b.day*day)
		if err == nil {
			err = each(b, lines)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// kindDiagnosis is the kind of Results that have the IDs of other Results as a parameter.
const kindDiagnosis = "diagnosis"

func (f *refiling) findSteps(_ blockRow, lines [][]byte) error {
	for _, line := range lines {
		r, err := decodeResult(line)
		if err != nil {
			return err
		}
		ids, _ := r.Parameters["results"].([]any)
		for _, id := range ids {
			if text, is := id.(string); is {
				f.steps[text] = r.ID
			}
		}
	}
	return nil
}

// count notes what becomes of the Results of a block.
func (f *refiling) count(ctx context.Context, t *tx, b blockRow, lines [][]byte) error {
	found := false
	for _, line := range lines {
		r, knows, err := f.read(line)
		if err != nil {
			return err
		}
		if r == nil {
			continue
		}
		s, err := f.streamOf(ctx, t, r.ID)
		if err != nil {
			return err
		}
		if s == nil {
			continue
		}
		key := keyOf(r)
		switch {
		case !knows:
			f.unknown[s.id]++
		case r.Way == measure.Both || key != s.key:
			if f.moving[s.id] == nil {
				f.moving[s.id] = map[streamKey]int{}
			}
			f.moving[s.id][key]++
			f.both[testTool{r.Test, s.key.tool}] = r.Way == measure.Both
		default:
			f.renamed[s.id] = f.renamed[s.id] || r.Way == measure.Reverse // it was, before an end that came too early
			continue
		}
		found = true
	}
	if found {
		f.blocks = append(f.blocks, b)
	}
	return nil
}

// streamOf is the stream in which a Result is; nil: it is not filed.
func (f *refiling) streamOf(ctx context.Context, t *tx, id string) (*stream, error) {
	key, err := parseID(id)
	if err != nil {
		return nil, err
	}
	var s streamID
	_, err = t.one(ctx, "SELECT stream FROM result WHERE id = $1", []any{key}, &s)
	return f.k.names.stream(s), err
}

// What lines of the first schema begin with, and what they say of the way.
var (
	lineOfSchema1 = []byte(`{"schema":"pathwise.result/1","id":"`)
	saysBack      = []byte(`"reverse":true`)
	saysBoth      = []byte(`"bidir":true`)
	saysAny       = []byte(`"reverse":`)
	linesOneWay   = [][]byte{[]byte(`"kind":"throughput"`), []byte(`"kind":"capacity"`)}
)

// read reads a line if it may have to be filed anew; nil: it does not. knows tells whether it says which way its data went.
func (f *refiling) read(line []byte) (r *measure.Result, knows bool, err error) {
	const idLength = 26
	n := len(lineOfSchema1)
	if !bytes.HasPrefix(line, lineOfSchema1) || len(line) < n+idLength {
		return nil, false, nil
	}
	knows = true
	diagnosis, step := f.steps[string(line[n:n+idLength])]
	if !step && !bytes.Contains(line, saysBack) && !bytes.Contains(line, saysBoth) {
		knows = bytes.Contains(line, saysAny)
		if knows || !slices.ContainsFunc(linesOneWay, func(kind []byte) bool { return bytes.Contains(line, kind) }) {
			return nil, false, nil
		}
	}
	if r, err = decodeResult(line); err == nil && step {
		r.Role = measure.DiagnosisRole(diagnosis, stepOf(r))
	}
	return r, knows, err
}

// stepOf is what a diagnosis called the step that a Result is of.
func stepOf(r *measure.Result) string {
	name := r.Kind
	switch {
	case r.Kind == "throughput" && r.Parameters["proto"] == "udp":
		name = "paced"
	case r.Kind == "throughput":
		name = "transfer"
	}
	if r.Way == measure.Reverse {
		name += "-" + measure.Reverse
	}
	return name
}
