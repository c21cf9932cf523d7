package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/durable"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// planFormat names the layout of the plan's file: lines of JSON, so that a plan of any length is written and read piece
// by piece. It holds secrets, so only its owner may read it.
//
//	{"format": "pathwise.agent.plan/1", "plan": {… the plan without runs and opens}, "done": [IDs]}
//	{"run": {…}}      one line each
//	{"open": {…}}
//	{"lines": 3, "crc32c": 305419896}     of all that stands before
const planFormat = "pathwise.agent.plan/1"

// stored is what the file of a plan holds.
type stored struct {
	fleet.Plan
	done []string // IDs of its runs that were begun, or missed, before this plan came
}

type planLine struct {
	Format string         `json:"format,omitempty"`
	Plan   *fleet.Plan    `json:"plan,omitempty"`
	Done   []string       `json:"done,omitempty"`
	Run    *measure.Run   `json:"run,omitempty"`
	Open   *fleet.Opening `json:"open,omitempty"`
	Lines  int            `json:"lines,omitempty"`
	CRC    *uint32        `json:"crc32c,omitempty"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// savePlan puts a plan on disk, for good.
func savePlan(path string, p *stored) error {
	err := durable.Replace(path, func(w io.Writer) error {
		sum := crc32.New(castagnoli)
		encoder := json.NewEncoder(io.MultiWriter(w, sum))
		head := p.Plan
		head.Runs, head.Opens = nil, nil
		if err := encoder.Encode(planLine{Format: planFormat, Plan: &head, Done: p.done}); err != nil {
			return err
		}
		for i := range p.Runs {
			if err := encoder.Encode(planLine{Run: &p.Runs[i]}); err != nil {
				return err
			}
		}
		for i := range p.Opens {
			if err := encoder.Encode(planLine{Open: &p.Opens[i]}); err != nil {
				return err
			}
		}
		total := sum.Sum32()
		return json.NewEncoder(w).Encode(planLine{Lines: 1 + len(p.Runs) + len(p.Opens), CRC: &total})
	})
	if err != nil {
		return fmt.Errorf("keep plan %d: %w", p.Number, err)
	}
	return nil
}

// loadPlan reads the plan from disk; one that is not there is an empty plan. An error says that the file is spoilt.
func loadPlan(path string) (*stored, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return &stored{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readPlan(file)
}

func readPlan(r io.Reader) (*stored, error) {
	p := &stored{}
	sum := crc32.New(castagnoli)
	lines := bufio.NewReader(r)
	for n := 0; ; n++ {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("line %d: the file is cut off", n+1)
		}
		var line planLine
		if err := json.Unmarshal(text, &line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		if line.CRC != nil {
			return p, line.complete(n, sum)
		}
		sum.Write(text)
		switch {
		case n == 0 && (line.Format != planFormat || line.Plan == nil):
			return nil, fmt.Errorf("line 1: not of the format %s", planFormat)
		case n == 0:
			p.Plan, p.done = *line.Plan, line.Done
		case line.Run != nil:
			p.Runs = append(p.Runs, *line.Run)
		case line.Open != nil:
			p.Opens = append(p.Opens, *line.Open)
		}
	}
}

// complete checks the last line of a plan's file: it says how many lines stand before it, and their checksum.
func (l *planLine) complete(lines int, sum hash.Hash32) error {
	if l.Lines != lines || lines == 0 || *l.CRC != sum.Sum32() {
		return errors.New("its checksum is wrong")
	}
	return nil
}

func checkRun(host string, r *measure.Run) (ulid.ULID, error) {
	id, err := ulid.ParseStrict(r.ID)
	switch {
	case err != nil:
		return id, fmt.Errorf("run %q: %w", r.ID, err)
	case r.Source != host:
		return id, fmt.Errorf("run %s is for host %q, and this is %q", r.ID, r.Source, host)
	case r.LimitSeconds <= 0 || r.LimitSeconds > maxLimit.Seconds():
		return id, fmt.Errorf("run %s: a limit of %g s; want more than 0, and at most %v", r.ID, r.LimitSeconds, maxLimit)
	}
	return id, nil
}
