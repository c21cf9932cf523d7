package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/pathwise-net/pathwise/bench/archivebench"
)

// pageFlags are how large the archive of the part pages is, and how many look at it.
func (b *bench) pageFlags(flags *flag.FlagSet) {
	flags.IntVar(&b.viewed.Few, "few", 12, "hosts of the mesh with a long past, in the part pages")
	flags.IntVar(&b.viewed.FewDays, "few-days", 365, "length of that past")
	flags.IntVar(&b.viewed.Many, "many", 200, "hosts of the large mesh in the part pages")
	flags.IntVar(&b.viewed.ManyDays, "many-days", 30, "length of its past")
	flags.StringVar(&b.viewed.Keep, "keep", "", "folder in which the archive of the part pages is kept, and found the next time")
	flags.IntVar(&b.viewed.Viewers, "viewers", 50, "who ask at once in the part pages")
	flags.IntVar(&b.viewed.Seconds, "viewing", 20, "seconds that they do so")
}

// validatePages checks what pageFlags took.
func (b *bench) validatePages() error {
	for _, f := range []struct {
		name         string
		value, least int
	}{{"few", b.viewed.Few, 2}, {"few-days", b.viewed.FewDays, 2}, {"many", b.viewed.Many, 2},
		{"many-days", b.viewed.ManyDays, 8}, {"viewers", b.viewed.Viewers, 1}, {"viewing", b.viewed.Seconds, 1}} {
		if f.value < f.least {
			return fmt.Errorf("-%s: \"%d\": want %d or more", f.name, f.value, f.least)
		}
	}
	return nil
}

// pages prints how long an archive with much in it takes to answer what pages ask.
func (b *bench) pages(ctx context.Context) error {
	fmt.Fprint(b.out, "pages: ")
	return archivebench.Pages(ctx, b.viewed, b.out)
}
