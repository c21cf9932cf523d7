package control

import (
	"cmp"
	"context"
	"slices"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/diagnose"
)

// known is what the mesh tells of the path of a diagnosis: which part of the mesh is worse with it, what the mesh file says of both lines, and by
// which other host it could go.
func (d *diagnosis) known(ctx context.Context) diagnose.Known {
	common := d.request.common
	if d.request.trouble == "" && d.config.Judge != nil {
		worse, err := d.config.Judge(ctx)
		if d.attempt("look for what got worse with a path", err); err == nil {
			common = worse.commonOf(d.request.Source, d.request.Target)
		}
	}
	return diagnose.Known{Common: common, Declared: declared(d.Mesh(), common, d.request.Source, d.request.Target), Via: d.via(ctx)}
}

// via is the host by way of which the path could go. Round trips of a family are not told apart in an archive.
func (d *diagnosis) via(ctx context.Context) diagnose.Via {
	if d.request.Family != "" {
		return diagnose.Via{}
	}
	via, err := Via(ctx, d.config.Archive, d.request.Source, d.request.Target, d.config.Now())
	d.attempt("look for a shorter way", err)
	return via
}

// common is a trouble as a diagnosis is told of it; nil: it is of one pair alone.
func common(t *analysis.Trouble) *diagnose.Common {
	if t.Kind == analysis.OfPair || len(t.Signs) == 0 {
		return nil
	}
	c := &diagnose.Common{Part: t.Part}
	for _, s := range t.Signs {
		c.Aspects = append(c.Aspects, s.Aspect)
		if s.Ill > c.Ill {
			c.Ill, c.All = s.Ill, s.All
		}
	}
	return c
}

// commonOf is the one trouble that a path belongs to, either way; nil: there is none, or there are several, of which any may be what the path suffers.
func (w *Worse) commonOf(source, target string) (found *diagnose.Common) {
	for k := range w.Troubles {
		of := slices.ContainsFunc(w.Troubles[k].Pairs, func(i int) bool {
			p := &w.Pairs[i]
			return p.Source == source && p.Target == target || p.Source == target && p.Target == source
		})
		switch {
		case !of:
		case found != nil:
			return nil
		default:
			found = common(&w.Troubles[k])
		}
	}
	return found
}

// declared is the lesser of the rates that the mesh file says of two hosts. Where both are the same it is that of the host whose paths are all worse.
func declared(m *config.Mesh, common *diagnose.Common, source, target string) (least diagnose.Declared) {
	if m == nil {
		return least
	}
	names := []string{source, target}
	if common != nil && common.Name == target {
		slices.Reverse(names)
	}
	for _, name := range names {
		at, known := m.Host(name)
		if !known {
			continue
		}
		rate := 0.0
		for _, i := range m.Hosts[at].Interfaces {
			rate = max(rate, i.BitsPerSecond)
		}
		if rate > 0 && rate < cmp.Or(least.BitsPerSecond, rate+1) {
			least = diagnose.Declared{Host: name, BitsPerSecond: rate}
		}
	}
	return least
}
