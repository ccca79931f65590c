package main

import (
	"fmt"
	"strings"

	"vademecum/index/eval"
)

func (a *app) printEval(answer evalAnswer) {
	width := len("set")
	for _, s := range answer.Sets {
		width = max(width, len(s.Set))
		for _, c := range s.Categories {
			width = max(width, len(c.Name)+2)
		}
	}
	a.printf("%-*s %9s %9s", width, "set", "questions", "documents")
	for _, name := range eval.Names {
		a.printf(" %7s", name)
	}
	a.printf("\n")
	for _, s := range answer.Sets {
		a.printf("%-*s %9d %9d%s\n", width, s.Set, s.Queries, s.Docs, metricColumns(s.Metrics))
		for _, c := range s.Categories {
			a.printf("%s\n", a.paint(dim, fmt.Sprintf("  %-*s %9d %9s%s", width-2, c.Name, c.Queries, "", metricColumns(c.Metrics))))
		}
	}
	for _, c := range answer.Comparisons {
		a.printComparison(c)
	}
}

func metricColumns(m eval.Metrics) string {
	var b strings.Builder
	for _, v := range m.Values() {
		fmt.Fprintf(&b, " %7s", share(v))
	}
	return b.String()
}

// share is .654 or 1.000.
func share(v float64) string { return strings.TrimPrefix(fmt.Sprintf("%.3f", v), "0") }

func (a *app) printComparison(c evalComparison) {
	a.printf("\n%s: %s against %s\n", c.Set, c.B, c.A)
	a.printf("  %-8s %7s %7s %8s %7s %7s %9s\n", "measure", "before", "now", "change", "better", "worse", "p")
	for _, d := range c.Metrics {
		line := fmt.Sprintf("  %-8s %7s %7s %+8.4f %7d %7d %9.4f", d.Metric, share(d.A), share(d.B), d.Delta, d.Wins, d.Losses, d.P)
		switch {
		case d.P >= 0.05:
		case d.Delta > 0:
			line = a.paint(green, line)
		default:
			line = a.paint(red, line)
		}
		a.printf("%s\n", line)
	}
}

// printFound shows what q found, with the judged answers marked.
func (a *app) printFound(q eval.Query, found []eval.Found, judged map[string]int) {
	a.printf("%s  %s\n", a.paint(cyan, q.ID), a.paint(bold, oneLine(q.Text)))
	missing := len(judged)
	for i, f := range found {
		mark := " "
		if judged[f.ID] > 0 {
			mark = a.paint(green, "✓")
			missing--
		}
		a.printf("%s %2d %s  %s\n", mark, i+1, f.ID, a.paint(dim, strings.ReplaceAll(printable(f.Explain), "\n", "\n     ")))
	}
	if missing > 0 {
		a.printf("  %s\n", a.paint(gold, fmt.Sprintf("%d of %d answers not found", missing, len(judged))))
	}
	a.printf("\n")
}
