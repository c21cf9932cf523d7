package probe

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/pathwise-net/pathwise/disk"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// Files are what a throughput test reads what it sends from, and writes what comes into; by TCP, in one stream and one direction. They are for who
// calls at a host, and no parameter of a Task: a mesh neither reads nor writes files of its hosts.
type Files struct {
	Near   string // a path at this end: sent, or with Config.Reverse written, where it must be empty or not there yet; "": memory
	Far    string // a name below the folder that the target has for files (`respond --files`): sent with Config.Reverse, else written and removed; "": memory
	Direct bool   // past the kernel's cache (O_DIRECT), at both ends
}

// check says what of the files cannot be.
func (f Files) check(p *Throughput) error {
	c := &p.Config
	one := c.Proto != iperf3.UDP && !c.Bidir && c.Parallel <= 1 && c.Omit == 0 && !c.ZeroCopy && p.Search == "" && p.Sweep.Over == ""
	switch {
	case f.Direct && f.Near == "" && f.Far == "":
		return input.Errorf("--direct: it is of files: give --file or --far-file, too")
	case (f.Near != "" || f.Far != "") && !one:
		return input.Errorf("--file: a file is of one TCP stream in one direction, without omit, search, sweep and zero copy: leave these out")
	case f.Far != "" && !filepath.IsLocal(f.Far):
		return input.Errorf("--far-file: %s: want a name below the folder that the target has for files", strconv.Quote(f.Far))
	case f.Near != "" && c.Source != nil:
		return input.Errorf("--file: %s: --input names what is sent already; give one of the two", strconv.Quote(f.Near))
	}
	return nil
}

// open opens the file at this end and has a test use both.
func (f Files) open(c *iperf3.Config) (io.Closer, error) {
	c.FarFile, c.FarDirect = f.Far, f.Direct
	switch {
	case f.Near == "":
		return io.NopCloser(nil), nil
	case c.Reverse:
		w, err := f.create()
		if err != nil {
			return nil, err
		}
		c.Sink = w
		return w, nil
	}
	file, err := os.Open(f.Near)
	if err != nil {
		return nil, input.Errorf("--file: %w", err)
	}
	if info, err := file.Stat(); err != nil || info.IsDir() {
		return nil, cmp.Or(input.Errorf("--file: %s: want a file", strconv.Quote(f.Near)), file.Close())
	}
	reader, err := disk.NewReader(file, f.Direct)
	if err != nil {
		return nil, cmp.Or(input.Errorf("--direct: %w", err), file.Close())
	}
	c.Source = reader
	return reader, nil
}

// nearWriter writes the file at this end. One that it made, and that nothing came into, is taken away again.
type nearWriter struct {
	*disk.Writer
	made string // its path; "": it was there
}

// create opens the file that is written at this end.
func (f Files) create() (*nearWriter, error) {
	if info, err := os.Stat(f.Near); err == nil && (!info.Mode().IsRegular() || info.Size() > 0) {
		return nil, input.Errorf("--file: %s is there, and no empty file: name another one, or remove it", strconv.Quote(f.Near))
	}
	made := f.Near
	file, err := os.OpenFile(f.Near, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		made = ""
		file, err = os.OpenFile(f.Near, os.O_WRONLY|os.O_CREATE, 0o600) // a link may lead to what is not there
	}
	if err != nil {
		return nil, input.Errorf("--file: %w", err)
	}
	w, err := disk.NewWriter(file, f.Direct, 0)
	near := &nearWriter{w, made}
	if err != nil {
		return nil, cmp.Or(input.Errorf("--direct: %w", err), near.Close())
	}
	return near, nil
}

// Close waits until all is on the disk, and closes the file.
func (n *nearWriter) Close() error {
	err := n.Writer.Close()
	if info, failed := os.Stat(n.made); n.made != "" && failed == nil && info.Size() == 0 {
		err = errors.Join(err, os.Remove(n.made))
	}
	return err
}

// recordInto has a Result say which files there were.
func (f Files) recordInto(set map[string]any) {
	for name, value := range map[string]string{"file": f.Near, "far_file": f.Far} {
		if value != "" {
			set[name] = value
		}
	}
	if f.Direct {
		set["direct"] = true
	}
}

// fill adds for which share of its time each end's connection waited for its file.
func (f Files) fill(r *measure.Result, report *iperf3.Report, reverse bool) {
	if f == (Files{}) || len(report.Streams) != 1 {
		return
	}
	s := report.Streams[0]
	for _, end := range []struct {
		file  string
		extra *iperf3.StreamExtra
		sends bool
	}{{f.Near, s.LocalExtra, !reverse}, {f.Far, s.RemoteExtra, reverse}} {
		count, metric := s.Received, measure.FileWaitReceiver
		if end.sends {
			count, metric = s.Sent, measure.FileWaitSender
		}
		if end.file == "" || end.extra == nil || end.extra.FileWait == nil || count == nil || count.Seconds <= 0 {
			continue
		}
		r.Metrics[metric] = min(1, *end.extra.FileWait/count.Seconds)
		if r.Metrics[metric] >= fileBinding {
			r.Note(fmt.Sprintf("the connection waited %s of the time for %s: the disk sets the pace, and not the path", percent(r.Metrics[metric]),
				strconv.Quote(end.file)))
		}
	}
}

// fileBinding is the share of the time from which on a file, and nothing else, sets the pace: a half is more than all else together.
const fileBinding = 0.5
