package diagnose

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// Rule looks for one cause. What the cause is, how it shows itself and what cures it stands in the entry of the knowledge base
// that has the rule's ID; here stands when it holds, and what it allows.
type Rule struct {
	ID     string
	Of     Kind         // of subject
	Also   []Kind       // of subject, whose facts have the same names
	In     []State      // of a way, in which it is looked for; nil: it is slow
	Needs  []Name       // facts without which it says nothing
	Reads  []Name       // facts that it uses where they are known, beside those that limits and predictions rest on
	Brings []definition // facts of ways that stand nowhere else, each with its reader: see definition.Read

	// Apart are the findings that look alike, and the fact that tells each from this one.
	Apart map[string]Name
	// Suspect reports whether a step is worth its time, to learn a fact that is needed, tells apart, or is used: nil: never.
	Suspect func(*Subject) bool
	// Replaces are findings that say the same less exactly: they are left out where this one holds.
	Replaces []string
	// Last rules are looked for only where no other one found a problem.
	Last bool

	// Look returns what is found, nil where the cause is not there. It is called with the facts of Needs known.
	Look func(*Subject) *Claim
}

// State is how a way does as a whole.
type State string

const (
	Slow  State = "slow"  // or not known to be full
	Full  State = "full"  // it carries what it can, or nearly
	Dead  State = "stuck" // a connection opens, and nothing moves
	Other State = ""      // of subjects that are no way
)

// Claim is what a rule says of a subject.
type Claim struct {
	Severity   measure.Severity // zero: Problem
	Confidence float64
	Where      Place
	Evidence   []Name
	Says       []string          // which texts of the knowledge base explain it; nil: main
	Advice     []string          // which advice of the knowledge base fits
	Words      map[string]string // what the texts name beside facts

	// Allows is the goodput that the limit leaves by its own formula, in bit/s; +Inf where the formula lacks an input.
	Allows float64
	Calc   string // the call of a calculator that gives Allows; "": there is none
	// Gone are limits that the cure takes away, and Cured facts as they would be then: the prediction is made of what is left.
	Gone        []limit
	Cured       map[Name]float64
	Unpredicted bool // nothing can be promised by formulas
	Beyond      bool // it is of more than this transfer, so that it counts where the path is full as well
	BothWays    bool // it is known to slow the other way as well
	// Returns is what was measured where the cause was not, and so comes back without it; nil: that is not known.
	Returns *measure.Predicted
}

// Place is where on a path a cause sits.
type Place string

const (
	OnPath     Place = "path from {sender} to {receiver}"
	AtSender   Place = "sender {sender}"
	AtReceiver Place = "receiver {receiver}"
	AtTarget   Place = "{target}"
	AtEnds     Place = "{sender} and {receiver}"
	AtHost     Place = "{host}"
)

// Considered is what came of one rule, so that it can be told which facts ruled which causes out.
type Considered struct {
	ID      string
	Subject *Subject
	Outcome Outcome
	Because string // for people: the facts that it needs, or what is wrong with them
}

// Outcome is what came of a rule.
type Outcome string

const (
	Holds    Outcome = "holds"
	Absent   Outcome = "absent"
	Refuted  Outcome = "refuted" // by the rule's own formula
	Untold   Outcome = "unknown" // a fact that it needs is not known
	Replaced Outcome = "replaced"
)

// found is a claim that holds, with the speed that is expected without it.
type found struct {
	rule *Rule
	*Claim
	predicted *measure.Predicted
}

// A limit is not what holds a transfer if its own formula allows far more than was achieved, or far less.
const (
	mostAllowed = 2
	// leastAllowed: CUBIC reaches up to twice what the formula for loss gives on long paths, and the send buffer holds up to a
	// fifth more than its usual share.
	leastAllowed = 1.0 / 3
)

// possible reports whether a claim can be the cause of what was achieved, as far as the claim's own formula can tell.
func possible(s *Subject, c *Claim) bool {
	return s.Kind != OfWay && s.Kind != OfConnection || c.Allows <= mostAllowed*s.Value(Steady) && c.Allows >= leastAllowed*s.Value(Steady)
}

// judgement is what rules say of one subject.
type judgement struct {
	subject    *Subject
	state      State
	held       []found
	considered []Considered
}

// judge applies rules to a subject. Of several causes the one whose end would gain the most is the problem, and the others are
// warnings: a limit that another one hides gains nothing by itself.
func judge(rules []Rule, s *Subject) *judgement {
	j := &judgement{subject: s, state: state(s)}
	j.try(rules, false)
	j.replace()
	slices.SortStableFunc(j.held, func(a, b found) int { return -compareGain(a, b) })
	found := false
	for i := range j.held {
		c := j.held[i].Claim
		switch {
		case j.state == Full && !c.Beyond: // it is there, and does not slow this transfer
			c.Severity, j.held[i].predicted = measure.Info, nil
		case c.Severity == measure.Problem && found:
			c.Severity = measure.Warning
		}
		found = found || c.Severity == measure.Problem
	}
	if !j.explained() {
		j.try(rules, true)
	}
	return j
}

// explained reports whether a problem was found, by another rule than the last ones.
func (j *judgement) explained() bool {
	return slices.ContainsFunc(j.held, func(f found) bool { return f.Severity == measure.Problem && !f.rule.Last })
}

// explainsBack reports whether the problem that was found slows the other way as well.
func (j *judgement) explainsBack() bool {
	return slices.ContainsFunc(j.held, func(f found) bool { return f.Severity == measure.Problem && f.BothWays })
}

// try looks for what rules know, the last ones or the others.
func (j *judgement) try(rules []Rule, last bool) {
	s := j.subject
	for i := range rules {
		r := &rules[i]
		if !r.about(s.Kind) || r.Last != last || !r.fits(j.state) {
			continue
		}
		if n := slices.IndexFunc(r.Needs, func(n Name) bool { return !s.Known(n) }); n >= 0 {
			j.note(r, Untold, strings.ReplaceAll(string(r.Needs[n]), "_", " ")+": "+s.Fact(r.Needs[n]).Unknown)
			continue
		}
		switch c := r.Look(s); {
		case c == nil:
			j.note(r, Absent, s.told(r.Needs))
		case !possible(s, c):
			j.note(r, Refuted, "it would leave "+format(c.Allows, "bit/s"))
			if !math.IsInf(c.Allows, 0) {
				s.refuted = append(s.refuted, refuted{r.ID, c.Allows})
			}
		default:
			c.Severity = cmp.Or(c.Severity, measure.Problem)
			f := found{rule: r, Claim: c, predicted: c.Returns}
			if !c.Unpredicted {
				f.predicted = next(s.with(c.Cured), c.Gone...)
			}
			j.held = append(j.held, f)
			j.note(r, Holds, s.told(r.Needs))
		}
	}
}

func (j *judgement) note(r *Rule, o Outcome, because string) {
	j.considered = append(j.considered, Considered{r.ID, j.subject, o, because})
}

// replace takes out what another finding says more exactly.
func (j *judgement) replace() {
	by := map[string]string{}
	for _, f := range j.held {
		for _, id := range f.rule.Replaces {
			by[id] = f.rule.ID
		}
	}
	j.held = slices.DeleteFunc(j.held, func(f found) bool { return by[f.rule.ID] != "" })
	for i, c := range j.considered {
		if by[c.ID] != "" && c.Outcome == Holds {
			j.considered[i].Outcome, j.considered[i].Because = Replaced, by[c.ID]+" says it more exactly"
		}
	}
}

// compareGain orders causes by how fast the way would be without each; one without which no limit is known comes first. What
// is no problem comes after all causes.
func compareGain(a, b found) int {
	gain := func(f found) float64 {
		switch {
		case f.Severity != measure.Problem:
			return -1
		case f.predicted == nil:
			return math.Inf(1)
		}
		return f.predicted.BitsPerSecond
	}
	switch x, y := gain(a), gain(b); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// about reports whether a rule is about subjects of a kind.
func (r *Rule) about(k Kind) bool { return r.Of == k || slices.Contains(r.Also, k) }

// fits reports whether a rule is looked for in a state.
func (r *Rule) fits(s State) bool {
	if r.In == nil {
		return s == Slow || s == Other
	}
	return slices.Contains(r.In, s)
}
