package analysis

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"
)

// OfPair is the kind of a Part that is one pair alone; its name is SOURCE → TARGET.
const OfPair PartKind = "pair"

// view is what pairs are like in one aspect.
type view struct {
	aspect Aspect
	pairs  []Watched
	sign   []*Sign      // of each pair; nil: none
	known  []bool       // whether enough is known of each pair for it to have one
	blamed map[int]Part // of transfers that are slow: what has been found to lose or delay the packets of these pairs
}

// blame notes of pairs that have a sign the part of them that other troubles have found ill already: that they are slow says nothing against
// what else they have in common, such as the router before a host that loses packets.
func (v *view) blame(troubles []Trouble) {
	for i := range troubles {
		if troubles[i].Kind == OfPair {
			continue
		}
		for p, s := range v.sign {
			if _, has := v.blamed[p]; !has && s != nil && slices.Contains(v.pairs[p].Parts, troubles[i].Part) {
				v.blamed[p] = troubles[i].Part
			}
		}
	}
}

func newView(pairs []Watched, signs [][]Sign, looked []map[Aspect]bool, aspect Aspect) *view {
	v := &view{aspect, pairs, make([]*Sign, len(pairs)), make([]bool, len(pairs)), map[int]Part{}}
	for i := range signs {
		v.known[i] = looked[i][aspect]
		if at := slices.IndexFunc(signs[i], func(s Sign) bool { return s.Aspect == aspect }); at >= 0 {
			v.sign[i] = &signs[i][at]
		}
	}
	return v
}

// troubles groups the pairs that are worse by what they have in common.
func (v *view) troubles() (all []Trouble) {
	members, at := v.members()
	shared := v.shared(members)
	explained := make([]bool, len(v.pairs))
	for i := range v.pairs {
		part, blamed := v.blamed[i]
		if !blamed {
			continue
		}
		explained[i] = true
		at := slices.IndexFunc(all, func(t Trouble) bool { return t.Part == part })
		if at < 0 {
			at, all = len(all), append(all, Trouble{Part: part})
		}
		all[at].Pairs, all[at].Evidence = append(all[at].Pairs, i), all[at].Evidence+min(mostEvidence, v.sign[i].Evidence)
	}
	for i := range all {
		all[i].Signs = []Told{v.told(all[i].Part, all[i].Pairs)}
	}
	for _, s := range shared {
		t := Trouble{Part: s.Part}
		for k, m := range members {
			if m.Changed && slices.Contains(m.Parts, s.Part) {
				t.Pairs = append(t.Pairs, at[k])
				t.Evidence += min(mostEvidence, v.sign[at[k]].Evidence)
			}
		}
		if t.Evidence < sharedSure {
			continue
		}
		for _, i := range t.Pairs {
			explained[i] = true
		}
		t.Signs = []Told{v.told(s.Part, t.Pairs)}
		all = append(all, t)
	}
	for i, s := range v.sign {
		if s == nil || explained[i] || s.Evidence < aloneSure || v.aspect == Losing && !s.again {
			continue
		}
		part := Part{OfPair, v.pairs[i].Source + " → " + v.pairs[i].Target}
		all = append(all, Trouble{part, []Told{v.told(part, []int{i})}, []int{i}, min(mostEvidence, s.Evidence)})
	}
	for i := range all {
		slices.SortStableFunc(all[i].Pairs, func(a, b int) int { return cmp.Compare(v.sign[b].Evidence, v.sign[a].Evidence) })
	}
	return all
}

// shared are the parts that explain which members changed. What is left where others are blamed for the rest of a part is explained by that
// part all the same.
func (v *view) shared(members []Member) []Shared {
	shared, alone := Explain(members)
	if len(alone) < leastTogether || len(v.blamed) == 0 {
		return shared
	}
	whole := slices.Clone(members)
	for i := range whole {
		whole[i].Changed, whole[i].Unsure = whole[i].Changed || whole[i].Blamed, whole[i].Unsure && !whole[i].Blamed
	}
	more, _ := Explain(whole)
	for _, s := range more {
		left := slices.DeleteFunc(slices.Clone(alone), func(m Member) bool { return !slices.Contains(m.Parts, s.Part) })
		if len(left) >= leastTogether {
			shared = append(shared, s)
		}
	}
	return shared
}

// told is how pairs are ill that have a part in common, and of how many.
func (v *view) told(part Part, ill []int) Told {
	all := 0
	for i := range v.pairs {
		if len(v.pairs[i].Spells[v.aspect]) > 0 && slices.Contains(v.pairs[i].Parts, part) {
			all++
		}
	}
	t := Told{Ill: len(ill), All: max(all, len(ill)), Pairs: ill}
	if t.Sign = *v.sign[ill[0]]; len(ill) > 1 {
		t.Sign = pooled(v.pairs, v.sign, ill, v.aspect)
	}
	return t
}

// hidden is how likely a pair may lose nothing, at the ratio that others lose, for it to say nothing.
const hidden = 0.1

// members are the pairs that have a value now; at are their places in the list. A pair of which too little is known, or that sent too little
// to lose some of it, says nothing.
func (v *view) members() (members []Member, at []int) {
	var ratios []float64
	var since []time.Time
	for _, s := range v.sign {
		if s != nil && v.aspect == Losing {
			ratios, since = append(ratios, s.Now), append(since, s.Since)
		}
	}
	few, began := 0.0, time.Time{}
	if len(ratios) > 0 {
		slices.Sort(ratios)
		slices.SortFunc(since, time.Time.Compare)
		few, began = ratios[len(ratios)/4], since[len(since)/2]
	}
	for i := range v.pairs {
		p := &v.pairs[i]
		spells := p.Spells[v.aspect]
		if len(spells) == 0 {
			continue
		}
		_, blamed := v.blamed[i]
		m := Member{Source: p.Source, Target: p.Target, Changed: v.sign[i] != nil && !blamed, Unsure: blamed, Blamed: blamed, Parts: p.Parts}
		switch {
		case m.Changed || m.Unsure:
		case !v.known[i]:
			m.Unsure = v.aspect != Slowed || p.Declared == 0 // a rate that is declared is reached, of whatever past
		case v.aspect == Losing:
			_, sent := sum(slices.DeleteFunc(slices.Clone(spells), func(s Spell) bool { return s.From.Before(began) }))
			m.Unsure = math.Pow(1-few, sent) > hidden
		}
		members, at = append(members, m), append(at, i)
	}
	return members, at
}

// pooled is the Sign of pairs together: its values and times are medians, and the rest is what most of them have.
func pooled(pairs []Watched, sign []*Sign, of []int, aspect Aspect) Sign {
	if aspect == Losing {
		var all []Spell
		for _, i := range of {
			all = added(all, pairs[i].Spells[aspect])
		}
		if s, _ := losing(all); s != nil {
			s.Aspect = aspect
			return *s
		}
	}
	var since []time.Time
	var before, now []float64
	p := Sign{Aspect: aspect}
	declared, longer := 0, 0
	for _, i := range of {
		s := sign[i]
		since, before, now = append(since, s.Since), append(before, s.Usual), append(now, s.Now)
		p.Evidence += min(mostEvidence, s.Evidence)
		if s.Declared {
			declared++
		}
		if s.Longer {
			longer++
		}
	}
	p.Declared, p.Longer = 2*declared > len(of), 2*longer > len(of)
	slices.SortFunc(since, time.Time.Compare)
	p.Since, p.Usual, p.Now = since[(len(since)-1)/2], median(before), median(now)
	return p
}

// added adds spells to others, each to that of its time.
func added(to, more []Spell) []Spell {
	for _, s := range more {
		at := sort.Search(len(to), func(i int) bool { return !to[i].From.Before(s.From) })
		if at == len(to) || !to[at].From.Equal(s.From) {
			to = slices.Insert(to, at, Spell{From: s.From, Length: s.Length})
		}
		to[at].Of, to[at].All, to[at].Runs, to[at].High = to[at].Of+s.Of, to[at].All+s.All, to[at].Runs+s.Runs, max(to[at].High, s.High)
	}
	return to
}

// joined puts what is wrong with one part into one Trouble, and transfers that are slow on pairs of it alone, too: where packets are lost or
// take longer, they are.
func joined(all []Trouble, views map[Aspect]*view) (found []Trouble) {
	slices.SortStableFunc(all, func(a, b Trouble) int {
		return cmp.Or(cmp.Compare(slowedLast(a), slowedLast(b)), cmp.Compare(len(b.Pairs), len(a.Pairs)))
	})
	for _, t := range all {
		at := slices.IndexFunc(found, func(f Trouble) bool {
			return f.Part == t.Part || t.Signs[0].Aspect == Slowed && f.Signs[0].Aspect != Slowed && within(t.Pairs, f.Pairs)
		})
		if at < 0 {
			found = append(found, t)
			continue
		}
		f, told := &found[at], t.Signs[0]
		f.Evidence += t.Evidence
		f.Pairs = union(f.Pairs, t.Pairs)
		ill, i := told.Pairs, slices.IndexFunc(f.Signs, func(s Told) bool { return s.Aspect == told.Aspect })
		if i >= 0 {
			ill = union(f.Signs[i].Pairs, ill)
			f.Signs = slices.Delete(f.Signs, i, i+1)
		}
		f.Signs = append(f.Signs, views[told.Aspect].told(f.Part, ill))
	}
	for i := range found {
		slices.SortStableFunc(found[i].Signs, func(a, b Told) int {
			return cmp.Compare(slices.Index(Aspects, a.Aspect), slices.Index(Aspects, b.Aspect))
		})
	}
	return found
}

// union adds to pairs those that are not among them.
func union(pairs, more []int) []int {
	pairs = slices.Clone(pairs)
	for _, i := range more {
		if !slices.Contains(pairs, i) {
			pairs = append(pairs, i)
		}
	}
	return pairs
}

// mostlyWithin is the share of pairs that must be among others for them to be those: one or two may be slow by chance.
const mostlyWithin = 0.9

func within(pairs, others []int) bool {
	n := 0
	for _, i := range pairs {
		if slices.Contains(others, i) {
			n++
		}
	}
	return float64(n) >= mostlyWithin*float64(len(pairs))
}

// slowedLast is 1 of slow transfers, which may be what something else does.
func slowedLast(t Trouble) int {
	if t.Signs[0].Aspect == Slowed {
		return 1
	}
	return 0
}

// bySum orders troubles by how much speaks for them.
func bySum(a, b Trouble) int {
	return cmp.Or(cmp.Compare(b.Evidence, a.Evidence), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}
