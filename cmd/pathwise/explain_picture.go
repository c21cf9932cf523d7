package main

import (
	"strings"

	"github.com/pathwise-net/pathwise/calc"
	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/diagnose/knowledge"
	"github.com/pathwise-net/pathwise/quantity"
)

// The size of a picture in a terminal: below the text of an entry it still fits on a screen of 24 lines.
const (
	pictureWidth  = 70
	pictureHeight = 12
)

// plotted is a picture as lines of text.
func plotted(p knowledge.Picture) string {
	plot := chart.Plot{X: scaleOf(p.X), Y: scaleOf(p.Y), Mark: chart.Point(p.Mark), Marked: p.Marked}
	for _, s := range p.Series {
		line := chart.Line{Label: s.Label}
		for _, at := range s.Points {
			line.Points = append(line.Points, chart.Point(at))
		}
		plot.Lines = append(plot.Lines, line)
	}
	return strings.Join(plot.Draw(pictureWidth, pictureHeight), "\n")
}

// scaleOf is an axis whose numbers have their unit; that of packets is told once, by the label.
func scaleOf(a calc.Axis) chart.Scale {
	label, unit := a.Label, a.Unit
	if unit == "packets" {
		label, unit = label+", packets", ""
	}
	return chart.Scale{Label: label, Log: a.Log, Text: func(v float64) string { return quantity.Format(v, unit) }}
}
