package probe

import "github.com/pathwise-net/pathwise/measure"

// RouteWords is what people read of a route beside its table, in the sentences that a terminal has for it. What there is nothing of is empty.
type RouteWords struct {
	Route       WayWords // the way there
	Return      WayWords // the way back
	Middleboxes []string // a sentence for each of measure.Middleboxes.Changes
	Known       string   // how far it is known what middleboxes do
	Proxy       string   // who answers in the target's name
}

// WayWords are of one way.
type WayWords struct {
	Hops  [][]string // what each hop told beside that it is there, but for what the one before it told
	Lines []string   // what hops say together
}

// WordsOf are those of a Result of a route, or of the MTU of one.
func WordsOf(r *measure.Result) (w RouteWords) {
	w.Route = wayWords(r.Samples.Hops, r.Samples.Route)
	if r.Kind == "mtu" {
		if line := narrowedText(r.Samples.Hops); line != "" {
			w.Route.Lines = append(w.Route.Lines, line)
		}
	}
	if back := r.Samples.Return; back != nil {
		w.Return = wayWords(back.Hops, &back.Route)
	}
	if line := backNarrowsLine(r); line != "" {
		w.Return.Lines = append(w.Return.Lines, line)
	}
	if found := r.Samples.Middleboxes; found != nil {
		for _, c := range found.Changes {
			w.Middleboxes = append(w.Middleboxes, changeText(c, r.Target.Name, r.Samples.Hops))
		}
		w.Known, w.Proxy = knownText(r.Target.Name, found), proxyText(found.Proxy, r.Target.Name)
	}
	return w
}

func wayWords(hops []measure.Hop, route *measure.RouteSample) (w WayWords) {
	for i, h := range hops {
		if i > 0 {
			h = onlyNew(h, hops[i-1])
		}
		w.Hops = append(w.Hops, HopTells(h))
	}
	w.Lines = RouteLines(route)
	return w
}
