package terminal

import "github.com/charmbracelet/x/ansi"

// Palette marks words by what they mean, with the sixteen colours that a terminal's own theme makes readable. The zero Palette leaves
// words as they are. No meaning hangs on colour alone: what is marked says the same in words.
type Palette struct {
	Marks  bool // bold and faint
	Colors bool
}

// Good is of what is as it should be.
func (p Palette) Good(text string) string { return p.color(text, ansi.Green, false) }

// Warn is of what is worth a look.
func (p Palette) Warn(text string) string { return p.color(text, ansi.Yellow, true) }

// Bad is of what is wrong, and of what was lost.
func (p Palette) Bad(text string) string { return p.color(text, ansi.Red, true) }

// Accent is of what a reader may do next: commands, and bars of drawings.
func (p Palette) Accent(text string) string { return p.color(text, ansi.Cyan, false) }

// Strong is of headings and of the figure that counts.
func (p Palette) Strong(text string) string { return p.mark(text, ansi.NewStyle().Bold()) }

// Faint is of what is there to be looked up.
func (p Palette) Faint(text string) string { return p.mark(text, ansi.NewStyle().Faint()) }

// color marks a text by a colour, or where there are none and it is to stand out, by being bold.
func (p Palette) color(text string, c ansi.BasicColor, strong bool) string {
	style := ansi.NewStyle()
	if strong {
		style = style.Bold()
	}
	if p.Colors {
		style = style.ForegroundColor(c)
	}
	return p.mark(text, style)
}

func (p Palette) mark(text string, style ansi.Style) string {
	if !p.Marks || len(style) == 0 || text == "" {
		return text
	}
	return style.Styled(text)
}
