package browser

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pathwise-net/pathwise/archive/generated"
	"github.com/pathwise-net/pathwise/measure"
)

// dayOf is a made-up day of the played mesh.
func dayOf(faults ...generated.Fault) *generated.History {
	h := generated.Day(nil, time.Now(), 7)
	h.Start, h.Steady, h.Faults = h.End.Add(-28*time.Hour), true, faults
	h.Tests = []generated.Test{{Tool: generated.Ping, Every: 5 * time.Minute}, {Tool: generated.Throughput, Every: 30 * time.Minute}}
	for i, name := range []string{"ucl", "cern", "dl", "ral", "sink"} {
		h.Hosts = append(h.Hosts, generated.Host{Name: name, Address: "10.0.0." + string(rune('1'+i)), East: 300 * float64(i)})
	}
	return &h
}

// The first page says what is wrong, for whom and since when without a click, and what a diagnosis found of it; one press diagnoses it, at
// once; and the matrix below says of each cell why it is as it is.
func TestWhatIsWrong(t *testing.T) {
	m := newPlayed(t, "olga")
	now := time.Now()
	must(t, dayOf(generated.Fault{Host: "dl", Since: now.Add(-3 * time.Hour), Loss: 0.05},
		generated.Fault{Source: "ucl", Target: "cern", Since: now.Add(-4 * time.Hour), Rate: 0.2}).Fill(t.Context(), m.Archive))
	p := open(t, desk, m.url)
	p.withAxe()
	p.says("h1", "1 host and 1 path are slow")
	p.says(".troubles li:nth-child(1)", "dl: packets lost since ")
	p.says(".troubles li:nth-child(1)", ", 8 of 8 paths, such as ")
	p.says(".troubles li:nth-child(1)", "have only dl in common: it is that host, or the line by which it is attached.")
	p.says(".troubles li:nth-child(1) .sparked", "loss, ")
	p.says(".troubles li:nth-child(2)", "ucl → cern: transfers slow since ")
	p.says(".troubles li:nth-child(2)", "Not diagnosed yet.")
	p.says(".basis", "20 paths between 6 hosts compared with their own past")
	p.until("document.querySelectorAll('.spark path[d^=M]').length === 2 && " + matrixPainted)
	p.says(".news", "dl: packets lost since ")
	p.accessible("what is wrong")
	p.run(chromedp.Focus(chromedp.CSS(".matrix")))
	p.keys(kb.End, kb.ArrowLeft)
	p.until("/^\\S+ → \\S+: (packets lost since|as usual|transfers slow|too little was measured)/.test(document.querySelector('.detail').textContent)")
	p.show("#/?view=table", phone, true)
	p.says(".table tbody tr", "since ")
	p.until("document.documentElement.scrollWidth <= innerWidth")
	p.accessible("what is wrong, table, phone, dark")
	p.show("#/pair/ucl/cern?from=-6h", desk, false) // a span of which its own past says nothing
	p.says(".since", "ucl → cern: transfers slow since ")
	p.until("[...document.querySelectorAll('.lane .event')].some((mark) => mark.ariaLabel.includes('transfers slow since '))")
	p.show("#/pair/dl/ral?from=-6h", desk, false)
	p.says(".since", "It is one of the paths of dl that are worse.")
	for host, says := range map[string]string{"dl": "dl: packets lost since ", "ral": "Nothing is wrong with ral itself, and there is nothing to change: 2 of its 8 paths are worse than they should be, because of dl."} {
		p.show("#/hosts/"+host, desk, false)
		p.says(".health", says)
	}
	p.show("#/hosts", phone, false)
	p.until("/^dl.*8 of 8 worse: its own.*/.test([...document.querySelectorAll('.hosts tbody tr')].find((e) => e.textContent.startsWith('dl'))?.textContent) && document.querySelector('.scroll').scrollWidth <= document.querySelector('.scroll').clientWidth")
	p.show("#/sign-in", desk, false)
	p.signIn("olga", password)
	p.show("#/", desk, false)
	p.until("document.querySelector('.troubles li:nth-child(2) button')")
	p.run(chromedp.Click(chromedp.CSS(".troubles li:nth-child(2) button")))
	p.says(".diagnosis h2", "The receiver's window is too small for the distance")
	p.show("#/", desk, false)
	p.says(".troubles li:nth-child(2) a[href^='#/result/']", "receiver")
	p.says(".troubles li:nth-child(2)", "Cure on cern")
	p.until(matrixPainted)
	p.picture("overview")
	p.show("#/", half, true)
	p.until(matrixPainted)
	p.picture("overview-dark")
	p.show("#/", phone, false)
	p.until(matrixPainted + " && document.documentElement.scrollWidth <= innerWidth")
	p.picture("overview-phone")
}

// What was diagnosed on its own says so, with when and why: on the first page, which tells also that no more may be made in this hour and what
// is under way, on the page of the diagnosis, on that of the pair, and among the newest changes.
func TestMadeOnItsOwn(t *testing.T) {
	m := newPlayed(t)
	now := time.Now()
	must(t, dayOf(generated.Fault{Host: "dl", Since: now.Add(-3 * time.Hour), Loss: 0.05}).Fill(t.Context(), m.Archive))
	var made []*measure.Result
	for i, trouble := range []string{"host dl", "pair ucl → ral", "from ral", "link 10.0.0.1 - 10.0.0.9"} { // as many as may be in an hour
		r := ended("diagnosis", "diagnosis", "dl", "ucl", now.Add(-time.Duration(10*i+5)*time.Minute))
		r.Parameters = map[string]any{"verdict": "random-loss", "trouble": trouble, "results": []any{}}
		r.Metrics = nil
		r.Samples.Findings = []measure.Finding{{ID: "random-loss", Severity: measure.Problem, Explanation: "Packets are lost."}}
		made = append(made, r)
	}
	must(t, m.Archive.Put(t.Context(), made))
	p := open(t, phone, m.url)
	p.says(".troubles li:nth-child(1)", "Packets are lost although the path is not busy (dl → ucl, ")
	p.says(".troubles li:nth-child(1)", "made by the controller itself, because of dl)")
	at := func(r *measure.Result, later time.Duration) string { return r.Started.Add(later).UTC().Format("15:04") }
	p.says(".summary .spent", "The controller made 4 diagnoses by itself in the last hour, as many as the mesh file lets there be; the next may begin at ")
	p.says(".summary .spent", at(made[3], time.Hour))
	p.says(".news", "dl to ucl: Packets are lost although the path is not busy, made by the controller itself")
	p.until("document.documentElement.scrollWidth <= innerWidth")
	p.show("#/result/"+made[2].ID, phone, false)
	p.says(".unasked", "Nobody asked for this diagnosis: it was made by the controller itself, because of what ral sends, at ")
	p.says(".unasked", at(made[2], 0))
	p.says("#verdict", "Packets are lost although the path is not busy")
	p.show("#/pair/ucl/dl", phone, false)
	p.says(".ends", "made by the controller itself, because of dl")
}

// Where nothing is wrong one line says so, and what that rests on.
func TestNothingIsWrong(t *testing.T) {
	t.Run("nothing was measured", func(t *testing.T) {
		p := open(t, desk, newPlayed(t).url)
		p.says("h1", "Nothing was measured lately")
	})
	t.Run("all is as usual", func(t *testing.T) {
		m := newPlayed(t)
		must(t, dayOf().Fill(t.Context(), m.Archive))
		p := open(t, phone, m.url)
		p.says("h1", "All is as usual")
		p.says(".basis", "20 paths")
		p.until("!document.querySelector('.troubles')")
	})
}
