package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/faults"
	"github.com/pathwise-net/pathwise/lab/scenario"
	"github.com/pathwise-net/pathwise/lab/topology"
)

func labUp(s *session, name *string) *cobra.Command {
	var device, start, fault string
	c := &cobra.Command{
		Use: "up FILE | --topology NAME | --fault NAME", Short: "Stand a lab up and leave it running", Args: cobra.MaximumNArgs(1),
		Long: "Stand up the lab that a file describes, or one of those that come with Pathwise (`pathwise lab topologies`), or\n" +
			"the one of a fault (`pathwise lab faults`) with what is wrong in it, and leave it running until `pathwise lab down`.",
		Example: "  pathwise lab up path.yaml\n  pathwise lab up --topology dumbbell\n  pathwise lab up --fault random-loss",
		RunE: func(c *cobra.Command, args []string) error {
			var played *scenario.Case
			var spec *lab.Spec
			var err error
			if fault == "" {
				spec, err = readLab(args, start)
			} else if played, err = readFault(args, start, fault); err == nil {
				spec = &played.Lab
			}
			if err != nil {
				return err
			}
			if err := lab.DeviceKind(device).Validate(); err != nil {
				return badFlag("device", err)
			}
			s.progress("standing up %d hosts…", len(spec.Hosts))
			l, err := lab.Start(c.Context(), spec, lab.Options{Name: *name, Detached: true, Device: lab.DeviceKind(device)})
			s.progress("")
			if err != nil {
				return err
			}
			if played == nil {
				return s.showLab(l)
			}
			return s.showFault(l, *name, played)
		},
	}
	c.Flags().StringVar(&start, "topology", "", "a network that comes with Pathwise, by name")
	c.Flags().StringVar(&fault, "fault", "", "a fault of the library, by name")
	c.Flags().StringVar(&device, "device", "", "what host interfaces are made of: veth or tun (default veth)")
	return c
}

// readLab reads the lab file that a call names, or the one of a topology.
func readLab(files []string, name string) (*lab.Spec, error) {
	switch {
	case len(files) == 1 && name != "":
		return nil, badFlag("topology", fmt.Errorf("%q: beside the file %s; want one of the two", name, files[0]))
	case len(files) == 0 && name == "":
		return nil, input.Errorf("lab file: none; want FILE, --topology NAME or --fault NAME")
	case name != "":
		text, err := topology.Read(name)
		if err != nil {
			return nil, badFlag("topology", err)
		}
		return lab.ParseSpec(name, text)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return nil, input.Errorf("lab file: %w", err)
	}
	return lab.ParseSpec(files[0], text)
}

// readFault reads the case of a fault that a call names in place of a file and a topology.
func readFault(files []string, start, name string) (*scenario.Case, error) {
	if len(files) > 0 || start != "" {
		return nil, badFlag("fault", fmt.Errorf("%q: beside %s; want one of the two", name, strings.Join(append(files, start), "")))
	}
	text, err := faults.Read(name)
	if err != nil {
		return nil, badFlag("fault", err)
	}
	return scenario.Parse(name, text)
}

// showFault brings a fault into a lab that was stood up for it, and says what to do there.
func (s *session) showFault(l *lab.Lab, name string, c *scenario.Case) error {
	programs, diagnosis, err := c.Fault(l)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	if s.json {
		return s.showLab(l)
	}
	err = s.showLab(l)
	s.fitted(func(w io.Writer) {
		fmt.Fprintf(w, "fault  %s\n", strings.TrimSpace(c.Cause))
		command := "pathwise lab exec"
		if name != defaultLab {
			command = "pathwise lab --name " + name + " exec"
		}
		for _, p := range programs {
			fmt.Fprintf(w, "then   %s %s -- %s &\n", command, p.On, shellWords(p.Run))
		}
		if diagnosis != nil {
			fmt.Fprintf(w, "then   %s %s -- pathwise diagnose %s\n", command, diagnosis.On, shellWords(diagnosis.Run))
		}
	})
	return err
}

// shellWords are words as a shell takes them.
func shellWords(words []string) string {
	var all []string
	for _, word := range words {
		if strings.ContainsAny(word, " \t\"'$&|;<>()*?`\\") || word == "" {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		all = append(all, word)
	}
	return strings.Join(all, " ")
}
