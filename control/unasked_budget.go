package control

import (
	"context"
	"slices"
	"time"
)

// UnaskedBudget says how many diagnoses that nobody asked for there were lately, beside how many there may be.
type UnaskedBudget struct {
	Hourly   int             // how many there may be in an hour: controller.hourly_diagnoses of the mesh file
	Made     int             // how many began in the last hour
	Next     time.Time       // when there may be another, where Made is all of Hourly; zero: at once, or never, as Hourly is 0
	UnderWay []UnaskedBegins // those that are not over yet
}

// UnaskedBegins is a diagnosis that nobody asked for and that is under way.
type UnaskedBegins struct {
	Trouble        string // what it is made of, such as "host lyon"
	Source, Target string
	Began          time.Time
}

// UnaskedBudget says how the diagnoses stand that nobody asks for.
func (c *Control) UnaskedBudget(ctx context.Context) (UnaskedBudget, error) {
	now := c.config.Now()
	before, err := c.before(ctx, now)
	if err != nil {
		return UnaskedBudget{}, err
	}
	return budgetOf(before, c.Mesh().Controller.HourlyDiagnoses, now), nil
}

// budgetOf counts as mayBegin does.
func budgetOf(before []made, hourly int, now time.Time) UnaskedBudget {
	b := UnaskedBudget{Hourly: hourly}
	var lately []time.Time
	for _, m := range before {
		if m.trouble == "" {
			continue
		}
		if m.state == madeUnderWay {
			b.UnderWay = append(b.UnderWay, UnaskedBegins{m.trouble, m.source, m.target, m.began})
		}
		if now.Sub(m.began) < time.Hour {
			lately = append(lately, m.began)
		}
	}
	if b.Made = len(lately); hourly > 0 && b.Made >= hourly {
		slices.SortFunc(lately, time.Time.Compare)
		b.Next = lately[b.Made-hourly].Add(time.Hour)
	}
	return b
}
