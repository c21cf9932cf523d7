package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/web"
)

func meshDiagnose(s *session) *cobra.Command {
	var patience, failOn, points string
	var over hostFlags
	c := &cobra.Command{
		Use: "diagnose SOURCE TARGET", Short: "Say why the path between two hosts of the mesh is slow", Args: cobra.ExactArgs(2),
		Long: "Have one host of the mesh measure to another what a diagnosis needs: round trips, the route, transactions, and each way the\n" +
			"narrowest link's capacity and a transfer; then name the cause if the path is slow, as `pathwise diagnose` does. Tests that fill\n" +
			"a link are made one after the other, and none where it disturbs another. With --segments the parts of the path are measured as\n" +
			"well, between hosts of the mesh along it, and the one that is to blame is named. It takes under a minute, and longer where it\n" +
			"has to wait for planned tests.\n" +
			"The results are kept, and so is the diagnosis. Ctrl-C calls the test under way back.",
		Example: "  pathwise mesh diagnose ucl ral\n  pathwise mesh diagnose ucl cern --segments=ral,geant\n  pathwise mesh diagnose ucl ral --json --fail-on problem\n" +
			"  pathwise mesh diagnose ucl ral --controller https://mesh.example.org:8080 --token-file ~/mesh.token",
	}
	mesh := controllerFlag(c.Flags())
	mesh.remoteFlags(c.Flags())
	mesh.tokenFlag(c.Flags())
	c.RunE = func(c *cobra.Command, args []string) error {
		wait, err := parsePositive(patience)
		if err != nil {
			return badFlag("wait", err)
		}
		if err := checkFailOn(failOn); err != nil {
			return err
		}
		family, err := over.family(oneFamily)
		if err != nil {
			return err
		}
		request := web.DiagnosisRequest{Source: args[0], Target: args[1], Family: string(family), PatienceSeconds: wait.Seconds(),
			Segments: points != ""}
		if points != "" && points != byRoutes {
			request.Points = strings.Split(points, ",")
		}
		answer, err := mesh.call(c.Context(), http.MethodPost, "diagnoses", nil, request)
		if err != nil {
			return err
		}
		defer answer.Close()
		d, err := s.followDiagnosis(answer, args[1])
		if c.Context().Err() != nil {
			return errCalledBack
		}
		if err != nil {
			return err
		}
		err = s.emit(d, func(w io.Writer) { s.printDiagnosis(w, d) })
		if err == nil && isBad(d, failOn) {
			return errBadOutcome
		}
		return err
	}
	over.add(c.Flags())
	c.Flags().StringVar(&patience, "wait", "2m", "how long its tests may wait until both ends are free, all together")
	c.Flags().StringVar(&points, "segments", "",
		"also measure the parts of the path, and say which one is to blame: between hosts that traces show on the route, or =HOST,HOST")
	c.Flags().Lookup("segments").NoOptDefVal = byRoutes
	addFailOn(c.Flags(), &failOn)
	return c
}

// byRoutes is what --segments of a mesh holds where it names no hosts: no host is called so.
const byRoutes = "by routes"

// errNoDiagnosis says that the controller went away in the middle of a diagnosis.
var errNoDiagnosis = errors.New("the controller went away before the diagnosis was made; what was measured will be in the archive")

// followDiagnosis shows the steps of a diagnosis of the path to a target until it is made.
func (s *session) followDiagnosis(answer io.Reader, target string) (*diagnose.Diagnosis, error) {
	defer s.showSteps()()
	steps := newMeshSteps(s, target)
	lines := json.NewDecoder(answer)
	for {
		var l control.DiagnosisLine
		if err := lines.Decode(&l); err != nil {
			return nil, errNoDiagnosis
		}
		switch {
		case l.Diagnosis != nil:
			return l.Diagnosis, nil
		case s.steps != nil && (l.Step != "" || l.Plan != nil):
			steps.take(s, &l)
		case l.Step != "":
			s.showStep(&l)
		case l.Error != "":
			return nil, errors.New(l.Error)
		}
	}
}

// showStep tells where a step is: what goes on now on a terminal, how it ended on a line of its own.
func (s *session) showStep(l *control.DiagnosisLine) {
	switch l.State {
	case control.StepWaiting:
		if wait := time.Until(*l.Begins); wait > time.Second {
			s.progress("%s begins in %s", l.Step, wait.Round(time.Second))
		}
	case control.StepRunning:
		s.progress("%s…", l.Step)
	case control.StepDone:
		s.progress("")
		if l.Error != "" {
			l.Error = " in part: " + l.Error
		}
		s.say("%-16s done%s", l.Step, l.Error)
	case control.StepFailed:
		s.progress("")
		s.say("%-16s failed: %s", l.Step, l.Error)
	default:
		if p := l.Progress; p != nil && p.Interval != nil {
			s.progress("%s: %s", l.Step, quantity.FormatRate(p.Interval.BitsPerSecond))
		}
	}
}
