package main

import (
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// plot is a picture: lines over the size of the vault, or bars by kind of
// question. Both axes of lines are logarithmic, and so are bars.
type plot struct {
	name, title, axis string
	bars              bool
	series            []string
	groups            []string // of bars
	points            []plotPoint
}

type plotPoint struct {
	series string
	size   int    // of lines
	group  string // of bars
	value  float64
}

// draw adds a point to a plot of lines.
func (b *bench) draw(name, title, axis, series string, size int, value float64) {
	b.plot(name, title, axis, false).add(plotPoint{series: series, size: size, value: value})
}

// drawBar adds a bar.
func (b *bench) drawBar(name, title, axis, series, group string, value float64) {
	b.plot(name, title, axis, true).add(plotPoint{series: series, group: group, value: value})
}

func (b *bench) plot(name, title, axis string, bars bool) *plot {
	for _, p := range b.plots {
		if p.name == name {
			return p
		}
	}
	p := &plot{name: name, title: title, axis: axis, bars: bars}
	b.plots = append(b.plots, p)
	return p
}

func (p *plot) add(point plotPoint) {
	if !slices.Contains(p.series, point.series) {
		p.series = append(p.series, point.series)
	}
	if p.bars && !slices.Contains(p.groups, point.group) {
		p.groups = append(p.groups, point.group)
	}
	p.points = append(p.points, point)
}

// savePlots writes every plot to dir as SVG.
func (b *bench) savePlots(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, p := range b.plots {
		if err := os.WriteFile(filepath.Join(dir, p.name+".svg"), []byte(p.svg()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// The picture, in pixels.
const (
	plotWidth, plotHeight = 720, 400
	plotLeft, plotRight   = 70, 700
	plotTop, plotBottom   = 60, 340
	plotFont              = `font-family="sans-serif" font-size="12"`
	plotText              = "#333"
	plotGrid              = "#ddd"
	lowest                = 1e-3 // what is drawn of values below
)

func plotColours() []string {
	return []string{"#0b6e4f", "#c8553d", "#3d5a9e", "#b8860b", "#7a4988", "#555"}
}

// scale maps values to pixels, by their logarithms, over whole decades.
type scale struct{ from, to, low, high float64 }

func newScale(from, to float64, values []float64) scale {
	s := scale{from, to, math.Inf(1), math.Inf(-1)}
	for _, v := range values {
		v = math.Log10(max(v, lowest))
		s.low, s.high = min(s.low, math.Floor(v)), max(s.high, math.Ceil(v))
	}
	if s.low >= s.high {
		s.high = s.low + 1
	}
	return s
}

func (s scale) at(v float64) float64 {
	return s.from + (math.Log10(max(v, lowest))-s.low)/(s.high-s.low)*(s.to-s.from)
}

// decades are the powers of ten that s covers.
func (s scale) decades() []float64 {
	var list []float64
	for e := s.low; e <= s.high; e++ {
		list = append(list, math.Pow(10, e))
	}
	return list
}

func (p *plot) svg() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<title>%s</title><rect width="100%%" height="100%%" fill="white"/>`+"\n", html.EscapeString(p.title))
	label(&b, plotLeft, 24, "start", p.title+": "+p.axis)
	var values []float64
	for _, x := range p.points {
		values = append(values, x.value)
	}
	y := newScale(plotBottom, plotTop, values)
	for _, d := range y.decades() {
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="%s"/>`+"\n", plotLeft, plotRight, y.at(d), y.at(d), plotGrid)
		label(&b, plotLeft-6, y.at(d)+4, "end", fmt.Sprintf("%g", d))
	}
	for i, s := range p.series {
		fmt.Fprintf(&b, `<rect x="%d" y="34" width="10" height="10" fill="%s"/>`, plotLeft+i*150, colour(i))
		label(&b, plotLeft+float64(i)*150+14, 43, "start", s)
	}
	if p.bars {
		p.drawBars(&b, y)
	} else {
		p.drawLines(&b, y)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func colour(i int) string {
	all := plotColours()
	return all[i%len(all)]
}

func label(b *strings.Builder, x, y float64, anchor, text string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s" %s>%s</text>`+"\n", x, y, anchor, plotText, plotFont, html.EscapeString(text))
}

func (p *plot) drawLines(b *strings.Builder, y scale) {
	var sizes []float64
	for _, x := range p.points {
		sizes = append(sizes, float64(x.size))
	}
	x := newScale(plotLeft, plotRight, sizes)
	for _, d := range x.decades() {
		label(b, x.at(d), plotBottom+18, "middle", fmt.Sprintf("%.0f", d))
	}
	label(b, (plotLeft+plotRight)/2, plotBottom+40, "middle", "memories")
	for i, s := range p.series {
		var path []string
		for _, point := range p.points {
			if point.series == s {
				path = append(path, fmt.Sprintf("%.1f,%.1f", x.at(float64(point.size)), y.at(point.value)))
			}
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(path, " "), colour(i))
		for _, at := range path {
			cx, cy, _ := strings.Cut(at, ",")
			fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="3" fill="%s"/>`+"\n", cx, cy, colour(i))
		}
	}
}

func (p *plot) drawBars(b *strings.Builder, y scale) {
	width := float64(plotRight-plotLeft) / float64(len(p.groups))
	bar := width * 0.8 / float64(len(p.series))
	for g, name := range p.groups {
		left := plotLeft + width*(float64(g)+0.1)
		label(b, left+width*0.4, plotBottom+18, "middle", strings.TrimSuffix(name, " question"))
		for _, point := range p.points {
			if point.group != name {
				continue
			}
			i := slices.Index(p.series, point.series)
			top := y.at(point.value)
			fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"><title>%s, %s: %.3g</title></rect>`+"\n",
				left+bar*float64(i), top, bar, plotBottom-top, colour(i), html.EscapeString(point.series), html.EscapeString(name), point.value)
		}
	}
}
