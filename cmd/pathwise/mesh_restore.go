package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/input"
)

func meshRestore(s *session) *cobra.Command {
	var data, mesh, passphraseFile string
	c := &cobra.Command{
		Use: "restore FILE [ARCHIVE]", Short: "Read a backup into an empty folder, or a new archive", Args: cobra.RangeArgs(1, 2),
		Long: "Read what `pathwise mesh backup` wrote. With --data: all of it into the empty folder of a new controller, which goes on\n" +
			"where the old one was, without deploying again. With ARCHIVE, the file of a new archive or postgres://…, the archive\n" +
			"alone: it is how an archive moves from one kind to the other, too. With both: all of it, of a controller whose archive\n" +
			"was not in its folder. Nothing is written anywhere else, whatever the backup says.",
		Example: "  pathwise mesh restore mesh.backup --data /var/lib/pathwise\n" +
			"  pathwise mesh restore mesh.backup postgres://pathwise@db.example.org/pathwise",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) < 2 && data == "" {
				return input.Errorf("want --data FOLDER, to restore all, or ARCHIVE, to restore the archive alone")
			}
			if err := checkEmpty(data, mesh); data != "" && err != nil {
				return err
			}
			passphrase, err := readPassphrase(passphraseFile)
			if err != nil {
				return err
			}
			r, err := openBackup(args[0], passphrase)
			if err != nil {
				return err
			}
			defer r.close()
			if data != "" {
				r.to = restored{data: data, mesh: mesh}
				if err := os.MkdirAll(data, 0o700); err != nil {
					return badFlag("data", err)
				}
			}
			if len(args) == 2 {
				r.to.archive = args[1]
			}
			if err := r.read(); err != nil {
				return fmt.Errorf("restore %s: %w", args[0], err)
			}
			return s.fill(c, r)
		},
	}
	c.Flags().StringVar(&data, "data", "", "the empty folder of a new controller")
	c.Flags().StringVar(&mesh, "mesh", "", "where the mesh file, or its folder, goes (default: mesh.yaml or mesh in the new folder)")
	c.Flags().StringVar(&passphraseFile, "passphrase-file", "", "the file with the passphrase of an encrypted backup")
	return c
}

// fill reads the archive's part into a new archive.
func (s *session) fill(c *cobra.Command, r *backupReader) error {
	store, err := archive.Open(c.Context(), r.to.archive, archive.Options{Log: s.serverLog()})
	if err != nil {
		return err
	}
	defer store.Close()
	stop := s.ticking("restoring the archive")
	err = store.Restore(c.Context(), r.archive)
	stop()
	if err != nil {
		return err
	}
	streams := store.Stats().Streams
	doc := map[string]any{"schema": "pathwise.restore/1", "streams": streams}
	if r.to.data != "" {
		doc["data"], doc["mesh"] = r.to.data, r.to.mesh
	}
	return s.emit(doc, func(w io.Writer) {
		fmt.Fprintf(w, "restored %d streams\n", streams)
		if r.to.data != "" {
			fmt.Fprintf(w, "go on with: pathwise serve %s --data %s\n", r.to.mesh, r.to.data)
		}
	})
}

// restored is where the parts of a backup go. data "": the archive alone; archive "": where it was, within data.
type restored struct{ archive, data, mesh string }

// checkEmpty says why a controller's folder, and a mesh file or folder if one is named, cannot be made anew.
func checkEmpty(data, mesh string) error {
	entries, err := os.ReadDir(data)
	switch {
	case len(entries) > 0:
		return badFlag("data", fmt.Errorf("%s: want an empty folder, or one that is not there yet", data))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return badFlag("data", err)
	case mesh == "":
		return nil
	}
	if _, err := os.Lstat(mesh); err == nil {
		return badFlag("mesh", fmt.Errorf("%s: it is there already", mesh))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return badFlag("mesh", err)
	}
	return nil
}

// readPassphrase is the first line of a file; "" without a file.
func readPassphrase(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", badFlag("passphrase-file", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", input.Errorf("--passphrase-file %s: its first line is empty", file)
	}
	return line, nil
}
