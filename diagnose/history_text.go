package diagnose

import (
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/analysis"
)

// most is how many items a sentence lists.
const most = 3

// together says what else changed when an event began, in sentences; "" where nothing did that is known.
func (e *Event) together() string {
	var texts []string
	if len(e.With) > 0 {
		texts = append(texts, "About then: "+some(e.With)+".")
	}
	with := "with it"
	if e.Ended != nil {
		with = "at that time"
	}
	switch n := len(e.Pairs); {
	case n > 0 && len(e.Shared) > 0:
		texts = append(texts, fmt.Sprintf("%d of %d other pairs changed %s, and have in common %s.", n, e.Looked, with, sharedText(e.Shared)))
	case n > 0:
		texts = append(texts, fmt.Sprintf("%d of %d other pairs changed %s, and nothing is known that they alone have in common.",
			n, e.Looked, with))
	case e.Looked == 1:
		texts = append(texts, "The one other pair did not change "+with+".")
	case e.Looked > 0:
		texts = append(texts, fmt.Sprintf("None of %d other pairs changed %s.", e.Looked, with))
	}
	return strings.Join(texts, " ")
}

// some are the first of many texts, and how many more there are.
func some(texts []string) string {
	if more := len(texts) - most; more > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(texts[:most], "; "), more)
	}
	return strings.Join(texts, "; ")
}

// partTexts say what a part is.
var partTexts = map[analysis.PartKind]string{
	analysis.FromHost: "what %s sends", analysis.ToHost: "what %s receives", analysis.AtHost: "the host %s",
	analysis.OnLink: "the link %s", analysis.AtRouter: "the router %s", analysis.AtSite: "the site %s",
}

// sharedText names parts, each with how many of its pairs changed.
func sharedText(shared []analysis.Shared) string {
	var texts []string
	for _, s := range shared {
		texts = append(texts, fmt.Sprintf(partTexts[s.Kind], s.Name)+fmt.Sprintf(" (%d of its %d pairs)", s.Changed, s.All))
	}
	return some(texts)
}
