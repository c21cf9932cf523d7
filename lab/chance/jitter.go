package chance

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// Jitter says how much the delay of a packet differs from the link's own. The zero value adds nothing.
//
//	jitter: 2ms                                                 uniform from 2 ms less to 2 ms more
//	jitter: {spread: 2ms, distribution: normal, correlation: 25%}
//	jitter: {table: [0ms, 0.1ms, 0.3ms, 4ms]}                   measured
//	jitter: {table_file: delays.txt}                            the same, from a file
//
// What is added may be negative; the link lets no delay fall below zero.
//
// Correlation holds from one packet to the next. The normal score behind each value is an autoregressive process of
// first order, z(n) = c z(n-1) + sqrt(1-c²) e(n), and the value is the quantile of the distribution at the probability
// of z(n) (a Gaussian copula). So the values keep exactly the distribution that was asked for, where netem, which mixes
// each uniform number with the one before, narrows it as correlation grows. The autocorrelation at lag k is c^k for
// normal; other distributions have a little less (25 % and 50 % give uniform 0.239 and 0.483, which is 6/π·asin(c^k/2),
// exponential 0.215 and 0.453, paretonormal 0.172 and 0.381, pareto, whose rare large values hide it, 0.136 and 0.324).
type Jitter struct {
	// Spread is the distribution's scale, see Distribution.
	Spread notation.Delay `yaml:"spread" json:"spread,omitempty"`
	// Distribution is uniform if empty.
	Distribution Distribution `yaml:"distribution" json:"distribution,omitempty"`
	// Table holds the quantiles of an empirical distribution, in rising order: entry i of n is the value that a share
	// of i/(n-1) of the packets does not exceed, with straight lines between. In place of Spread and Distribution.
	Table []notation.Delay `yaml:"table" json:"table,omitempty"`
	// TableFile names a file of measured values, from which whoever reads a lab file fills in Table, by ReadTable.
	TableFile string `yaml:"table_file" json:"table_file,omitempty"`
	// Correlation of a packet's value with the one before; default none.
	Correlation notation.Ratio `yaml:"correlation" json:"correlation,omitempty"`
	// Overtake lets a packet that is held back less pass one that came before it. By default the link keeps the order,
	// and a packet waits for the one before, so that delays are no longer the distribution's where packets come close
	// together. The process does not look at it; the link does.
	Overtake bool `yaml:"overtake" json:"overtake,omitempty"`
}

// maxTable is four times what netem's tables hold; more quantiles than that say nothing more.
const maxTable = 1 << 16

// Validate returns what is wrong, as a *document.Error that begins with the key.
func (j *Jitter) Validate() error {
	if err := cmp.Or(checkDelay("spread", j.Spread), checkCorrelation(j.Correlation)); err != nil {
		return err
	}
	if !slices.Contains(distributions, j.Distribution) && j.Distribution != "" {
		return document.Errorf("distribution: %q: want one of %v", string(j.Distribution), distributions)
	}
	if j.Table == nil && j.TableFile == "" {
		if j.Distribution != "" && j.Spread == 0 {
			return document.Errorf("distribution: %s without a spread; want a spread too, such as 2ms", j.Distribution)
		}
		return nil
	}
	if j.Spread != 0 || j.Distribution != "" {
		return document.Errorf("table: with a spread or a distribution; want either")
	}
	if n := len(j.Table); j.Table != nil && (n < 2 || n > maxTable) {
		return document.Errorf("table: %d entries; want 2 to %d", n, maxTable)
	}
	for i, d := range j.Table {
		if err := checkDelay("table", d); err != nil {
			return err
		}
		if i > 0 && d < j.Table[i-1] {
			return document.Errorf("table: %v after %v: want rising order", d, j.Table[i-1])
		}
	}
	return nil
}

// UnmarshalYAML reads a spread or a mapping.
func (j *Jitter) UnmarshalYAML(node ast.Node) error {
	*j = Jitter{}
	if _, plain := document.Scalar(node); plain {
		return j.Spread.UnmarshalYAML(node)
	}
	type full Jitter
	return document.Mapping(node, "{spread: 2ms, distribution: normal}", (*full)(j), func() error {
		if j.Table != nil && j.TableFile != "" {
			return document.Errorf("table: beside table_file; want either")
		}
		return j.Validate()
	})
}

// String prints the jitter as a lab file has it, a table that came from a file by the file's name.
func (j Jitter) String() string {
	if j.Distribution == "" && j.Table == nil && j.TableFile == "" && j.Correlation == 0 && !j.Overtake {
		return j.Spread.String()
	}
	var m mapping
	m.add("spread", j.Spread, j.Spread != 0)
	m.add("distribution", j.Distribution, j.Distribution != "")
	m.add("table", list(j.Table), j.Table != nil && j.TableFile == "")
	m.add("table_file", strconv.QuoteToASCII(j.TableFile), j.TableFile != "")
	m.add("correlation", j.Correlation, j.Correlation != 0)
	m.add("overtake", j.Overtake, j.Overtake)
	return m.String()
}

// ReadTable reads measured values into a Table: a number of milliseconds on each line, in any order. Blank lines are
// skipped. Errors are *document.Error with the line; the caller adds the file's name.
func ReadTable(r io.Reader) ([]notation.Delay, error) {
	const most = float64(notation.MaxDelay) / 1e6
	var table []notation.Delay
	lines := bufio.NewScanner(r)
	for line := 1; lines.Scan() && len(table) <= maxTable; line++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0 && v <= most) {
			return nil, &document.Error{Line: line, Column: 1, Problem: fmt.Sprintf("%.40q: want milliseconds, 0 to %.0f", text, most)}
		}
		table = append(table, notation.Delay(math.Round(v*1e6)))
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	if n := len(table); n < 2 || n > maxTable {
		return nil, document.Errorf("%d values; want 2 to %d, one a line", n, maxTable)
	}
	slices.Sort(table)
	return table, nil
}
