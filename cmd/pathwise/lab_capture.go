package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/terminal"
)

func labCapture(s *session, name *string) *cobra.Command {
	var path, span string
	c := &cobra.Command{
		Use: "capture AT… -w FILE", Short: "Write what passes nodes or interfaces to a file in pcapng", Args: cobra.MinimumNArgs(1),
		Long: "Write the packets that pass a host or router, or a single interface (london.eth0), with the lab's own time stamps,\n" +
			"until Ctrl-C or for the time given. tcpdump and tshark read the file. -w - writes to standard output.",
		Example: "  pathwise lab capture bob carol.eth0 -w bob.pcapng -t 10s\n" +
			"  pathwise lab capture london -w - | tcpdump -n -r -",
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop, err := untilTime(c.Context(), span)
			if err != nil {
				return err
			}
			defer stop()
			switch {
			case path == "":
				return badFlag("write", errors.New(`"": want a file, such as path.pcapng, or - for standard output`))
			case path == "-" && s.json:
				return badFlag("write", errors.New(`"-": want a file; --json takes standard output`))
			}
			if info, err := os.Stat(filepath.Dir(path)); path != "-" && (err != nil || !info.IsDir()) {
				return badFlag("write", fmt.Errorf("%q: want a file in a folder that is there", path))
			}
			return s.capture(ctx, &lab.Lab{Name: *name}, path, args)
		},
	}
	c.Flags().StringVarP(&path, "write", "w", "", "the file to write")
	c.Flags().StringVarP(&span, "time", "t", "", "how long (default: until Ctrl-C)")
	return c
}

// capture captures until ctx ends. What can be wrong with the names is found by a capture of no time to nowhere, so that
// it does not cost the user a file of that name.
func (s *session) capture(ctx context.Context, l *lab.Lab, path string, at []string) error {
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	defer nowhere.Close()
	noTime, stop := context.WithCancel(ctx)
	stop()
	if err := l.Capture(noTime, nowhere, at...); err != nil {
		return err
	}
	if path == "-" {
		out := terminal.File(s.out)
		if out == nil {
			return badFlag("write", errors.New(`"-": standard output is no file`))
		}
		return l.Capture(ctx, out, at...)
	}
	file, err := os.Create(path)
	if err != nil {
		return badFlag("write", err)
	}
	defer file.Close()
	s.progress("capturing into %s until Ctrl-C…", path)
	err = l.Capture(ctx, file, at...)
	s.progress("")
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	doc := map[string]any{"schema": "pathwise.lab.capture/1", "name": l.Name, "at": at, "file": path, "file_bytes": info.Size()}
	return s.emit(doc, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", path, quantity.FormatSize(info.Size())) })
}

// untilTime returns a context that ends after the time in span, which is what --time holds; of "" it ends with its parent only.
func untilTime(ctx context.Context, span string) (context.Context, context.CancelFunc, error) {
	if span == "" {
		ctx, stop := context.WithCancel(ctx)
		return ctx, stop, nil
	}
	d, err := parsePositive(span)
	if err != nil {
		return nil, nil, badFlag("time", err)
	}
	ctx, stop := context.WithTimeout(ctx, d)
	return ctx, stop, nil
}
