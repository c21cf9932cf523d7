package web

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/measure"
)

// summaryDoc says what is wrong in the mesh now: for whom, since when, and why.
type summaryDoc struct {
	At       time.Time    `json:"at"`
	Troubles []troubleDoc `json:"troubles" doc:"What is wrong, what shows most first"`
	More     int          `json:"more" doc:"How many there are beyond those"`
	Hosts    []matrixHost `json:"hosts" doc:"By site and name"`
	Classes  classes      `json:"classes" doc:"Of n x n pairs, row by row, the row being the source: 0 nothing is known, 2 good, 3 a sign of something wrong, 4 something is wrong"`
	Pairs    []ailingDoc  `json:"pairs" doc:"Those of class 3 and 4"`
	Looked   int          `json:"looked" doc:"How many directions are known well enough to say so"`
	Unknown  int          `json:"unknown" doc:"How many have values now, and too little of a past"`
	Runs     int          `json:"runs" doc:"How many runs that rests on, of the newest hour or more"`
	Newest   *time.Time   `json:"newest" doc:"When the newest planned run began; null: there is none"`
	Unasked  unaskedDoc   `json:"unasked" doc:"How the diagnoses stand that nobody asks for"`
}

// unaskedDoc says how many diagnoses that nobody asked for there were in the last hour.
type unaskedDoc struct {
	Hourly int        `json:"hourly" doc:"How many there may be in an hour"`
	Made   int        `json:"made" doc:"How many began in the last hour"`
	Next   *time.Time `json:"next" doc:"Where made is all of hourly: when there may be another; null: there may be one now, or hourly is 0"`
}

// troubleDoc is one thing that is wrong.
type troubleDoc struct {
	Kind      analysis.PartKind `json:"kind" enum:"from,to,host,link,router,site,pair" doc:"What all pairs that show it have in common: what a host sends, receives, or both; a link or router of their routes; a site; pair: it is one pair alone"`
	Name      string            `json:"name"`
	Shown     string            `json:"shown" doc:"The name for people: of a link or router with what the routers are called"`
	Source    string            `json:"source" doc:"Of the pair that shows it most, of those that are ill of nothing else"`
	Target    string            `json:"target"`
	Signs     []signDoc         `json:"signs" doc:"Loss, throughput and delay, in this order, where they are worse"`
	Spark     sparkDoc          `json:"spark" doc:"The first of signs, over the last day or more"`
	Diagnosis *foundDoc         `json:"diagnosis" doc:"The newest diagnosis of one of the pairs since a day; null: there is none"`
	Begun     *begunDoc         `json:"begun" doc:"A diagnosis of it that nobody asked for and that is under way; null: there is none"`
}

// begunDoc is a diagnosis that is under way.
type begunDoc struct {
	At     time.Time `json:"at"`
	Source string    `json:"source"`
	Target string    `json:"target"`
}

// signDoc is in which respect a pair, or all pairs of a trouble together, are worse.
type signDoc struct {
	Aspect   analysis.Aspect `json:"aspect" enum:"loss,throughput,delay"`
	Metric   measure.Metric  `json:"metric" doc:"Whose values these are"`
	Since    time.Time       `json:"since" doc:"When it began: to five minutes where enough was measured around it, else when the first hour or more began that was so"`
	Longer   bool            `json:"longer" doc:"It may be so since before: as far back as is looked"`
	Usual    float64         `json:"usual" doc:"What it was before; of several pairs the median, or of counts the sum"`
	Now      float64         `json:"now"`
	Declared bool            `json:"declared" doc:"Usual is what the mesh file says that hosts can: it was never more than now"`
	Ill      int             `json:"ill" doc:"Of how many directions that is"`
	All      int             `json:"all" doc:"Of how many that have it in common"`
}

// sparkDoc is a line: the value of each step, oldest first.
type sparkDoc struct {
	Metric  measure.Metric `json:"metric"`
	From    time.Time      `json:"from"`
	Seconds float64        `json:"step_seconds"`
	Values  numbers        `json:"values"`
}

// ailingDoc is a pair that has signs, and the trouble that it belongs to.
type ailingDoc struct {
	Source  string    `json:"source"`
	Target  string    `json:"target"`
	Trouble *int      `json:"trouble" doc:"Where it stands in troubles; null: its signs are too weak to say so"`
	Signs   []signDoc `json:"signs"`
}

// foundDoc is what a diagnosis found.
type foundDoc struct {
	Result   string    `json:"result" doc:"The ID of the diagnosis"`
	At       time.Time `json:"at"`
	Source   string    `json:"source"`
	Target   string    `json:"target"`
	Unasked  bool      `json:"unasked" doc:"Nobody asked for it: it was made as something got worse"`
	Trouble  string    `json:"trouble,omitempty" doc:"What got worse, where nobody asked for it: a kind and a name, such as host lyon"`
	Verdict  string    `json:"verdict"`
	Title    string    `json:"title"`
	Severity string    `json:"severity"`
	Cause    string    `json:"cause" doc:"In words"`
	Host     string    `json:"host,omitempty" doc:"Of what to change first: where"`
	Command  string    `json:"command,omitempty" doc:"And by which command"`
	Cure     string    `json:"cure,omitempty" doc:"And why"`
	Achieved *float64  `json:"achieved_bits_per_second,omitempty" doc:"What a transfer got"`
	Expected *float64  `json:"predicted_bits_per_second,omitempty" doc:"What it is predicted to get after that"`
}

type summaryInput struct{}

// mostTroubles are as many as anybody reads before mending the first.
const mostTroubles = 12

// summary says what is wrong now. All who ask within some seconds get the same answer.
func (s *Server) summary(ctx context.Context, _ *summaryInput) (*huma.StreamResponse, error) {
	now := time.Now()
	newest, err := s.Archive.Results(ctx, archive.ResultQuery{Kind: control.KindDiagnosis, From: now.Add(-control.DiagnosedWithin), Limit: 1})
	if err != nil {
		return nil, fault(err)
	}
	name := "summary" // whoever made a diagnosis finds it there at once
	for _, r := range newest.Results {
		name += r.ID
	}
	one, err := s.summaries.get(ctx, name, now, func(ctx context.Context) (*drawing, error) {
		doc, err := s.summarize(ctx, now)
		if err != nil {
			return nil, err
		}
		return draw(doc)
	})
	if err != nil {
		return nil, fault(err)
	}
	return one.answer(), nil
}

// Judge says what is wrong now, for control.Config.
func (s *Server) Judge(ctx context.Context) (*control.Worse, error) {
	w, err := s.watch(ctx, time.Now())
	if err != nil {
		return nil, err
	}
	return &control.Worse{Pairs: w.pairs, Health: analysis.Judge(w.pairs)}, nil
}

// summarize finds out what is wrong at a time.
func (s *Server) summarize(ctx context.Context, now time.Time) (*summaryDoc, error) {
	w, err := s.watch(ctx, now)
	if err != nil {
		return nil, err
	}
	health := analysis.Judge(w.pairs)
	doc := &summaryDoc{At: now.UTC(), Troubles: []troubleDoc{}, Hosts: w.matrix.hosts, Classes: make(classes, len(w.matrix.hosts)*len(w.matrix.hosts)),
		Pairs: []ailingDoc{}, Looked: health.Looked, Unknown: len(w.pairs) - health.Looked, Runs: w.runs}
	if doc.Newest, err = s.newestRun(ctx); err != nil {
		return nil, err
	}
	found, err := s.diagnosed(ctx, now)
	if err != nil {
		return nil, err
	}
	budget, err := s.Control.UnaskedBudget(ctx)
	if err != nil {
		return nil, err
	}
	doc.Unasked = unaskedOf(&budget)
	var parts []analysis.Part
	for _, t := range health.Troubles {
		parts = append(parts, t.Part)
	}
	names := s.namesOfParts(parts)
	belongs := map[int]int{}
	for k := range health.Troubles {
		t := &health.Troubles[k]
		for _, i := range t.Pairs {
			if _, has := belongs[i]; !has {
				belongs[i] = k
			}
		}
		if k < mostTroubles {
			for i := range t.Signs {
				if err := s.onset(ctx, w, &health, &t.Signs[i]); err != nil {
					return nil, err
				}
			}
			doc.Troubles = append(doc.Troubles, w.trouble(&health, k, found, names))
			doc.Troubles[k].Begun = begunOf(t, &budget)
		}
	}
	doc.More = len(health.Troubles) - len(doc.Troubles)
	w.class(doc, &health, belongs)
	return doc, nil
}
