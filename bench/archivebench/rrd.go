package archivebench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// rrdPairs is how many files rrdtool writes: few enough to stay in the page cache, which is to its advantage.
const rrdPairs = 200

// rrdArchives are rollups like ours, without distributions: mean, least and most, of a minute for a day and so on.
func rrdArchives() string {
	var all []string
	for _, a := range []string{"1:1440", "5:2016", "60:1440", "1440:800"} {
		for _, f := range []string{"AVERAGE", "MIN", "MAX"} {
			all = append(all, "RRA:"+f+":0.5:"+a)
		}
	}
	return strings.Join(all, " ")
}

func rrdSources() string {
	var all []string
	for i := range metrics {
		all = append(all, fmt.Sprintf("DS:m%d:GAUGE:120:U:U", i))
	}
	return strings.Join(all, " ")
}

// FillRRD puts runs of twelve values into rrdtool, of which one process takes them through a pipe, each as one update,
// as they would come. It returns what came of it as for an archive.
func FillRRD(ctx context.Context, folder string, values int) (f Filling, err error) {
	cmd := exec.CommandContext(ctx, "rrdtool", "-")
	cmd.Dir = folder
	in, err := cmd.StdinPipe()
	if err != nil {
		return f, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return f, err
	}
	if err := cmd.Start(); err != nil {
		return f, fmt.Errorf("start rrdtool: %w", err)
	}
	defer func() { err = errors.Join(err, cmd.Wait()) }()
	defer in.Close()
	answers := bufio.NewScanner(out)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for p := range rrdPairs {
		_, err := fmt.Fprintf(in, "create %d.rrd --start %d --step 60 %s %s\n", p, start.Unix()-60, rrdSources(), rrdArchives())
		if err != nil {
			return f, err
		}
	}
	if err := await(answers, rrdPairs); err != nil {
		return f, err
	}
	began := time.Now()
	f.Results = values / MetricsPerRun
	fed := make(chan error, 1)
	go func() { fed <- feedRRD(bufio.NewWriterSize(in, 64<<10), start, f.Results) }()
	if err := errors.Join(await(answers, f.Results), <-fed); err != nil {
		return f, err
	}
	f.Values, f.Seconds = f.Results*MetricsPerRun, time.Since(began).Seconds()
	f.ValuesPerSecond = float64(f.Values) / f.Seconds
	return f, nil
}

// await reads as many answers of rrdtool, each of which begins with OK.
func await(answers *bufio.Scanner, n int) error {
	for n > 0 && answers.Scan() {
		if line := answers.Text(); strings.HasPrefix(line, "OK") {
			n--
		} else if strings.HasPrefix(line, "ERROR") {
			return fmt.Errorf("rrdtool: %s", line)
		}
	}
	if n > 0 {
		return fmt.Errorf("rrdtool ended: %w", answers.Err())
	}
	return nil
}

// feedRRD writes the updates, minute by minute, with the values that an archive gets.
func feedRRD(to *bufio.Writer, start time.Time, runs int) error {
	f := newFeeder(Load{Pairs: rrdPairs, Callers: 1, Batch: 1, Start: start}.withDefaults(), 0)
	var line []byte
	for range runs {
		pair := f.pairs[f.pair]
		at := start.Add(time.Duration(f.minute) * time.Minute)
		r := f.next(1)[0]
		line = fmt.Appendf(line[:0], "update %d.rrd %d", pair, at.Unix())
		for _, m := range metrics {
			line = strconv.AppendFloat(append(line, ':'), r.Metrics[m], 'g', -1, 64)
		}
		if _, err := to.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return to.Flush()
}
