package web

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/measure"
)

// Classes of a pair, as the pages number them.
const (
	classGood, classSign, classWrong = 2, 3, 4
)

// signMetric is the metric whose values an aspect has.
var signMetric = map[analysis.Aspect]measure.Metric{
	analysis.Losing: measure.LossRatio, analysis.Delayed: measure.RTTMedian, analysis.Slowed: measure.Throughput,
}

// declare notes the rates that the mesh file says of hosts.
func (w *watched) declare(mesh *config.Mesh) {
	rates := map[string]float64{}
	for _, h := range mesh.Hosts {
		for _, i := range h.Interfaces {
			rates[h.Name] = max(rates[h.Name], i.BitsPerSecond)
		}
	}
	for i := range w.pairs {
		w.pairs[i].Declared = min(rates[w.pairs[i].Source], rates[w.pairs[i].Target])
	}
}

// trouble is what is told of one.
func (w *watched) trouble(health *analysis.Health, number int, found []foundDoc, names addressNames) troubleDoc {
	t := &health.Troubles[number]
	own := health.Own(number)
	of := &w.pairs[own[0]]
	doc := troubleDoc{Kind: t.Kind, Name: t.Name, Shown: names.part(t.Part), Source: of.Source, Target: of.Target, Spark: w.spark(t, own)}
	for _, s := range t.Signs {
		one := signOf(&s.Sign)
		one.Ill, one.All = s.Ill, s.All
		doc.Signs = append(doc.Signs, one)
	}
	doc.Diagnosis = w.tellsOf(own, found)
	if doc.Diagnosis == nil {
		doc.Diagnosis = w.tellsOf(t.Pairs, found)
	}
	return doc
}

// tellsOf is the newest of the diagnoses of some pairs: of the way itself rather than of the way back. nil: there is none.
func (w *watched) tellsOf(pairs []int, found []foundDoc) *foundDoc {
	for _, back := range []bool{false, true} {
		for i := range found {
			f := &found[i]
			source, target := f.Source, f.Target
			if back {
				source, target = target, source
			}
			if slices.ContainsFunc(pairs, func(k int) bool { return w.pairs[k].Source == source && w.pairs[k].Target == target }) {
				return f
			}
		}
	}
	return nil
}

func signOf(s *analysis.Sign) signDoc {
	return signDoc{Aspect: s.Aspect, Metric: signMetric[s.Aspect], Since: s.Since.UTC(), Longer: s.Longer, Usual: s.Usual, Now: s.Now,
		Declared: s.Declared, Ill: 1, All: 1}
}

// spark is the line of a trouble: of lost packets that of its own pairs together, else of the one of them that shows it most.
func (w *watched) spark(t *analysis.Trouble, own []int) sparkDoc {
	aspect := t.Signs[0].Aspect
	step := w.steps[aspect]
	doc := sparkDoc{Metric: signMetric[aspect], Seconds: step.Seconds(), Values: numbers{}}
	var spells []analysis.Spell
	for _, i := range own {
		more := w.pairs[i].Spells[aspect]
		if len(more) == 0 {
			continue
		}
		if spells == nil {
			spells = slices.Clone(more)
			continue
		}
		for k := range min(len(more), len(spells)) { // all are of the same spans
			spells[k].Of, spells[k].All = spells[k].Of+more[k].Of, spells[k].All+more[k].All
		}
	}
	for i, s := range spells {
		if i < len(spells)-1 && s.Length != step { // whole days stand before the hours
			continue
		}
		if len(doc.Values) == 0 {
			doc.From = s.From.UTC()
		}
		switch {
		case aspect == analysis.Losing && s.All > 0:
			doc.Values = append(doc.Values, s.Of/s.All)
		case aspect != analysis.Losing && s.Runs > 0:
			doc.Values = append(doc.Values, s.Value)
		default:
			doc.Values = append(doc.Values, math.NaN())
		}
	}
	return doc
}

// class says of each pair how it is.
func (w *watched) class(doc *summaryDoc, health *analysis.Health, belongs map[int]int) {
	for i, at := range w.at {
		if health.Known[i] {
			doc.Classes[at] = classGood
		}
		signs := health.Signs[i]
		k, wrong := belongs[i]
		if len(signs) == 0 {
			continue
		}
		one := ailingDoc{Source: w.pairs[i].Source, Target: w.pairs[i].Target, Signs: []signDoc{}}
		for k := range signs {
			one.Signs = append(one.Signs, signOf(&signs[k]))
		}
		doc.Classes[at] = classSign
		if wrong {
			doc.Classes[at] = classWrong
			if k < len(doc.Troubles) {
				one.Trouble = &k
			}
		}
		doc.Pairs = append(doc.Pairs, one)
	}
}

// newestRun is when the newest planned run began whose Result is filed; nil: there is none.
func (s *Server) newestRun(ctx context.Context) (*time.Time, error) {
	page, err := s.Archive.Results(ctx, archive.ResultQuery{Role: string(measure.RolePlanned), Limit: 1})
	if err != nil || len(page.Results) == 0 {
		return nil, err
	}
	return &page.Results[0].Started, nil
}
