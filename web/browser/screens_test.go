package browser

import (
	"os"
	"path/filepath"
	"testing"
)

var (
	phone = [2]int64{390, 844}
	half  = [2]int64{900, 1100} // a window beside another one
	desk  = [2]int64{1400, 900}
	wall  = [2]int64{2560, 1440}
)

const (
	matrixPainted = "document.querySelector('#silent') && document.querySelector('.overview[aria-busy=false]') && document.querySelector('.matrix canvas')?.dataset.painted"
	graphsDrawn   = "document.querySelectorAll('.plot .canvas[data-buckets]').length >= 8 && !document.querySelector('[aria-busy=true]') && document.querySelector('.profile')"
	// allDrawn: what is far down a page comes when somebody goes there.
	allDrawn = "(document.querySelector('.later')?.scrollIntoView(), document.querySelector('#routes') && document.querySelector('#scatter')) && " + graphsDrawn
)

// Pictures for the docs, and for who changes the pages to look at.
func TestScreens(t *testing.T) {
	folder := os.Getenv("PATHWISE_SCREENSHOTS")
	if folder == "" {
		t.Skip("PATHWISE_SCREENSHOTS names no folder for pictures")
	}
	p := open(t, desk, theMesh(t).url)
	for _, c := range []struct {
		name, hash, ready string
		size              [2]int64
		dark              bool
	}{
		{"matrix", "#/?metric=rtt_median_seconds", matrixPainted, desk, false},
		{"matrix-dark", "#/?colour=past", matrixPainted, half, true},
		{"matrix-phone", "#/?metric=rtt_median_seconds", matrixPainted, phone, false},
		{"matrix-table", "#/?view=table&metric=loss_ratio", "document.querySelector('.table tr')", desk, false},
		{"matrix-wall", "#/?metric=loss_ratio", matrixPainted, wall, true},
		{"pair", "#/pair/ucl/cern", allDrawn, desk, false},
		{"pair-dark", "#/pair/ucl/cern?compare=-1d", allDrawn, half, true},
		{"pair-phone", "#/pair/ucl/cern", allDrawn, phone, false},
		{"pair-wall", "#/pair/ucl/cern", allDrawn, wall, true},
		{"wall", "#/wall", matrixPainted, wall, true},
		{"result", "#/result/" + someResult, "document.querySelector('#echoes')", desk, false},
		{"calculator", "#/calc/recovery?rate=1gbit&rtt=70ms&mss=1500", answered, desk, false},
		{"calculator-phone", "#/calc/transfer?size=50MB&rate=100mbit&rtt=50ms", answered, phone, true},
		{"knowledge", "#/knowledge?q=loss", "document.querySelector('.entries a')", desk, false},
		{"knowledge-entry", "#/knowledge/receive-window-limited", "document.querySelector('.entry svg')", phone, true},
		{"knowledge-drawing", "#/knowledge/congestion-avoidance", "document.querySelector('.entry svg')", desk, false},
		{"knowledge-fields", "#/knowledge", "document.querySelector('.entries a')", desk, false},
		{"sign-in", "#/sign-in", "document.querySelector('form')", desk, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := p.in(t)
			p.show(c.hash, c.size, c.dark)
			p.until(c.ready)
			p.shoot(filepath.Join(folder, c.name+".png"))
		})
	}
}
