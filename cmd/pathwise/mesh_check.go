package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
)

func meshCheck(s *session) *cobra.Command {
	var data string
	c := &cobra.Command{
		Use: "check FILE", Short: "Say what is wrong with a mesh file, and what it will ask of hosts and links",
		Args: cobra.ExactArgs(1),
		Long: "Read a mesh file, or all files of a folder, and print every error with its place. If there is none, print what the\n" +
			"tests add up to: runs and bytes a day for each test, host and site, and what the archive will grow by. --fail-on is\n" +
			"not needed: a budget that would be exceeded gives exit status 3.",
		Example: "  pathwise mesh check mesh.yaml\n  pathwise mesh check /etc/pathwise/mesh.d --json",
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := s.loadMesh(args[0])
			if err != nil {
				return err
			}
			measured, err := s.measuredRates(data, m)
			if err != nil {
				return err
			}
			e := m.Estimate(demandOf, measured)
			if err := s.emit(newCheck(m, e), func(w io.Writer) {
				printEstimate(w, e)
				for _, note := range m.Notes() {
					fmt.Fprintln(w, "note:", note)
				}
			}); err != nil {
				return err
			}
			if over := overBudget(e); len(over) > 0 {
				fmt.Fprintf(s.err, "pathwise: over budget: %s\n", strings.Join(over, "; "))
				return errBadOutcome
			}
			return nil
		},
	}
	dataFlag(c, &data)
	return c
}

// dataFlag is where check and plan find what a controller measured.
func dataFlag(c *cobra.Command, data *string) {
	c.Flags().StringVar(data, "data", "", "the controller's folder, for what it measured (default: what the mesh file says)")
}

// measuredRates are what the controller measured lately whose folder is the flag's, or the mesh file's: what serve goes by, too. Where
// no controller was, nothing is known.
func (s *session) measuredRates(flag string, m *config.Mesh) (config.Measured, error) {
	if _, err := os.Stat(flag); flag != "" && err != nil {
		return nil, notAFolder(flag)
	}
	rates, err := control.ReadRates(dataFolder(flag, m))
	if err != nil {
		fmt.Fprintf(s.err, "pathwise: reckoned without what the controller measured: %v\n", err)
	}
	return rates.Among(m), nil
}

// demandOf is what a checked task asks for.
func demandOf(task measure.Task) measure.Demand {
	d, _ := probe.Demand(task) // the mesh was checked with probe.Validate
	return d
}

// check is `mesh check --json`.
type check struct {
	Schema              string         `json:"schema"`
	Tests               []config.Usage `json:"tests"`
	Hosts               []config.Usage `json:"hosts"`
	Interfaces          []config.Usage `json:"interfaces"`
	Sites               []config.Usage `json:"sites"`
	Total               config.Usage   `json:"total"`
	ArchiveBytesPerYear float64        `json:"archive_bytes_per_year"`
	Notes               []string       `json:"notes"` // what the file says to no effect
}

func newCheck(m *config.Mesh, e config.Estimate) check {
	return check{"pathwise.check/1", e.Tests, e.Hosts, e.Interfaces, e.Sites, e.Total, e.ArchiveBytesPerYear, m.Notes()}
}

func printEstimate(w io.Writer, e config.Estimate) {
	for i, part := range []struct {
		title string
		usage []config.Usage
	}{{"test", e.Tests}, {"host", e.Hosts}, {"site", e.Sites}} {
		if len(part.usage) == 0 {
			continue
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		rows := [][]string{{part.title, "pairs", "runs/day", "bytes/day", "alone/day", "mean rate", "peak rate"}}
		for _, u := range part.usage {
			rows = append(rows, usageRow(u))
		}
		printTable(w, rows)
	}
	fmt.Fprintf(w, "\n%s runs and %s a day; the archive grows by %s a year\n", countText(e.Total.RunsPerDay),
		quantity.FormatSize(int64(e.Total.BytesPerDay)), quantity.FormatSize(int64(e.ArchiveBytesPerYear)))
}

func usageRow(u config.Usage) []string {
	return []string{u.Name, fmt.Sprint(u.Pairs), countText(u.RunsPerDay), quantity.FormatSize(int64(u.BytesPerDay)),
		quantity.FormatSeconds(u.BusySecondsPerDay), quantity.FormatRate(u.MeanBitsPerSecond), quantity.FormatRate(u.PeakBitsPerSecond)}
}

// countText prints a count that may be a fraction: of runs a day, say.
func countText(n float64) string {
	if n >= 10 || n == float64(int64(n)) {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("%.2g", n)
}

// overBudget names what is beyond its budget, and by what.
func overBudget(e config.Estimate) []string {
	var over []string
	for _, part := range [][]config.Usage{e.Hosts, e.Interfaces, e.Sites} {
		for _, u := range part {
			for _, x := range u.Over {
				over = append(over, u.Name+" "+x.String())
			}
		}
	}
	return over
}
