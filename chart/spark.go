package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// The letters of a sparkline, from the lowest value to the highest; and that of a value which there is not.
const (
	sparks      = "▁▂▃▄▅▆▇█"
	sparksASCII = "_.-=+*#@"
	noSpark     = "x"
)

// Sparkline draws values in a line of letters, of which the lowest stands for from and the highest for the largest value. There are at
// most width letters: where there are more values, each letter is of several, by their mean. NaN is a value that is missing; a letter is
// an x where none of its values are there.
func Sparkline(values []float64, from float64, width int, ascii bool) string {
	letters := []rune(sparks)
	if ascii {
		letters = []rune(sparksASCII)
	}
	values = means(values, width)
	to := from
	for _, v := range values {
		if v > to { // not NaN
			to = v
		}
	}
	var line strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			line.WriteString(noSpark)
		case to == from:
			line.WriteRune(letters[0])
		default:
			line.WriteRune(letters[int(math.Round((max(v, from)-from)/(to-from)*float64(len(letters)-1)))])
		}
	}
	return line.String()
}

// means makes at most so many values of many.
func means(values []float64, most int) []float64 {
	if len(values) <= most {
		return values
	}
	few := make([]float64, most)
	for i := range few {
		sum, n := 0., 0.
		for _, v := range values[i*len(values)/most : (i+1)*len(values)/most] {
			if !math.IsNaN(v) {
				sum, n = sum+v, n+1
			}
		}
		few[i] = sum / n
	}
	return few
}

// Histogram is how often values fall into ranges of equal width, whose limits are numbers that people count in.
type Histogram struct {
	Values []float64                    // none of them NaN
	Text   func(v, step float64) string // a limit of a range, in so many digits that those a step away differ from it
	Bar    func(text string) string     // marks a bar, such as by a colour; nil: it is as it is
	ASCII  bool
}

// most values are within a histogram's ranges; what is above them is in a last range of its own, however far it lies.
const within = 0.95

// Draw returns a line for each range, at most rows of them and each of at most width columns; none without values.
func (h Histogram) Draw(width, rows int) []string {
	if len(h.Values) == 0 || rows < 2 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(h.Values))
	low, high := sorted[0], sorted[int(within*float64(len(sorted)-1))]
	step := niceStep((high - low) / float64(rows-2))
	first := math.Floor(low / step)
	counts := make([]int, rows)
	for _, v := range sorted {
		counts[min(max(0, int(math.Floor(v/step)-first)), rows-1)]++
	}
	last := rows - 1
	for last > 0 && counts[last] == 0 {
		last--
	}
	var names []string
	for i := range last + 1 {
		from, to := h.Text((first+float64(i))*step, step), h.Text((first+float64(i)+1)*step, step)
		name := from + " to " + to
		if i == rows-1 {
			name = from + " or more"
		}
		names = append(names, name)
	}
	return h.bars(names, counts[:last+1], width)
}

func (h Histogram) bars(names []string, counts []int, width int) (lines []string) {
	block := "█"
	if h.ASCII {
		block = "#"
	}
	wide, most := 0, slices.Max(counts)
	for _, name := range names {
		wide = max(wide, utf8.RuneCountInString(name))
	}
	room := max(1, width-wide-len(fmt.Sprint(most))-3)
	for i, name := range names {
		bar := strings.Repeat(block, int(math.Ceil(float64(counts[i])/float64(most)*float64(room))))
		if h.Bar != nil {
			bar = h.Bar(bar)
		}
		lines = append(lines, strings.TrimRight(padLeft(name, wide)+"  "+bar+fmt.Sprintf(" %d", counts[i]), " "))
	}
	return lines
}

// niceStep is the least of 1, 2 and 5 times a power of ten that is not below a distance; a millionth where there is none to speak of.
func niceStep(least float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(max(least, 1e-6))+1e-9))
	for _, times := range []float64{1, 2, 5} {
		if step := times * power; step >= least*(1-1e-9) {
			return step
		}
	}
	return 10 * power
}
