package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/measure"
)

// Known is what a mesh tells of a path beside the Results of its diagnosis. The zero value: nothing.
type Known struct {
	Common   *Common  // nil: nothing else in the mesh is worse as this path is, or what these paths have in common is not known
	Declared Declared // the lesser of both ends'
	Via      Via      // by which the round trip would be shortest
}

// Common is the part of a mesh that paths have in common which are worse as the path of a diagnosis is, while others are not.
type Common struct {
	analysis.Part
	Ill, All int               // paths over this part that are worse, of how many
	Aspects  []analysis.Aspect // in which they are, at least one
}

// Declared is what somebody says that the line of a host carries.
type Declared struct {
	Host          string
	BitsPerSecond float64 // 0: nobody says
}

// DiagnoseKnowing is Diagnose for a path of a mesh that tells more of it.
func DiagnoseKnowing(results []*measure.Result, known Known) *Diagnosis {
	g := gather(results)
	for _, direction := range directions {
		s := g.ways[direction]
		s.common, s.declared = known.Common.of(s), known.Declared
		s.setPositive(DeclaredRate, known.Declared.BitsPerSecond, nil)
		s.tellVia(known.Via)
	}
	if g.exchange != nil {
		g.exchange.common = known.Common.of(g.exchange)
	}
	return diagnoseBy(rules, g, results)
}

// of returns c where it is about a way; nil: it is not, such as about what a host sends, of the way to it, or about a pair alone.
func (c *Common) of(s *Subject) *Common {
	switch {
	case c == nil || len(c.Aspects) == 0:
	case c.Kind == analysis.FromHost && s.Sender != c.Name, c.Kind == analysis.ToHost && s.Receiver != c.Name:
	case commonTexts[c.Kind].place == "":
	default:
		return c
	}
	return nil
}

// sends and receives say whether a host is what is common, and whether what it sends, or receives, is worse.
func (c *Common) sends() bool {
	return c != nil && (c.Kind == analysis.AtHost || c.Kind == analysis.FromHost)
}
func (c *Common) receives() bool {
	return c != nil && (c.Kind == analysis.AtHost || c.Kind == analysis.ToHost)
}

// commonTexts say of each kind of part where to look, which paths it is common to, and who is to act. %s is its name.
var commonTexts = map[analysis.PartKind]struct{ place, paths, who string }{
	analysis.AtHost:   {"%s or its access link", "paths of %s, to it and from it,", "Whoever runs %s is to act."},
	analysis.FromHost: {"%s or its access link, outwards", "paths from %s", "Whoever runs %s is to act."},
	analysis.ToHost:   {"%s or its access link, inwards", "paths to %s", "Whoever runs %s is to act."},
	analysis.AtSite:   {"the site %s or its access link", "paths of the site %s", "Whoever runs the site %s is to act."},
	analysis.OnLink:   {"the link %s", "paths over the link %s", "Whoever runs the link %s is to act."},
	analysis.AtRouter: {"the router %s or a link at it", "paths over the router %s", "Whoever runs the router %s is to act."},
}

// aspectTexts say how paths are worse.
var aspectTexts = map[analysis.Aspect]string{
	analysis.Losing: "lose packets", analysis.Slowed: "are slow", analysis.Delayed: "take longer",
}

// place is where to look.
func (c *Common) place() string { return fmt.Sprintf(commonTexts[c.Kind].place, c.Name) }

// text says for a finding on the way from sender to receiver that what is common is to blame, and who is to act.
func (c *Common) text(s *Subject) string {
	var how []string
	for _, a := range analysis.Aspects {
		if slices.Contains(c.Aspects, a) {
			how = append(how, aspectTexts[a])
		}
	}
	t := commonTexts[c.Kind]
	others := s.Sender + " or " + s.Receiver
	switch c.Name {
	case s.Sender:
		others = s.Receiver
	case s.Receiver:
		others = s.Sender
	}
	return fmt.Sprintf("%d of the %d "+t.paths+" %s, and what they have in common is "+t.place+": look there, and not at %s or in between. "+t.who,
		c.Ill, c.All, c.Name, strings.Join(how, " or "), c.Name, others, c.Name)
}

// atEnd says of a cause at a host that is common that it holds for its other paths, too; "": it is at another host.
func (c *Common) atEnd(s *Subject, where Place) string {
	switch {
	case where == AtReceiver && c.receives() && c.Name == s.Receiver:
		return fmt.Sprintf("It holds for all who send to %s, and not for %s alone.", s.Receiver, s.Sender)
	case where == AtSender && c.sends() && c.Name == s.Sender:
		return fmt.Sprintf("It holds for all to whom %s sends, and not for %s alone.", s.Sender, s.Receiver)
	}
	return ""
}
