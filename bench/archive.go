package main

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/pathwise-net/pathwise/bench/archivebench"
)

const (
	// postgresShare of the points that go into SQLite go into PostgreSQL: a million of 40.
	postgresShare = 40
	// minPoints is one run of twelve metrics for PostgreSQL, and a few for SQLite.
	minPoints = 1000
)

// archive prints how fast an archive takes Results and draws a year, beside rrdtool where that is installed.
func (b *bench) archive(ctx context.Context) error {
	_, err := exec.LookPath("rrdtool")
	fmt.Fprint(b.out, "archive: ")
	return archivebench.Run(ctx, archivebench.Options{SQLitePoints: b.points, PostgresPoints: b.points / postgresShare,
		RRDTool: err == nil}, b.out)
}
