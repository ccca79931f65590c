package mcp

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var allKinds = []param{
	{name: "query", required: true, also: []string{"q"}},
	{name: "limit", kind: number},
	{name: "tags", kind: list, also: []string{"tag"}},
	{name: "all", kind: flag},
	{name: "tier", enum: []string{"ltm", "stm"}},
}

type values struct {
	Query, Tier string
	Limit       int
	Tags        []string
	All         bool
}

func TestArgumentsAreTakenAsMeant(t *testing.T) {
	for _, test := range []struct {
		raw  string
		want values
	}{
		{`{"query":"a"}`, values{Query: "a", Limit: 5}},
		{`{"query":"a","limit":7,"tags":["x","y"],"all":true,"tier":"stm"}`, values{"a", "stm", 7, []string{"x", "y"}, true}},
		{`{"q":"a","limit":"7","tag":"x, y","all":"True","tier":"STM"}`, values{"a", "stm", 7, []string{"x", "y"}, true}},
		{`{"Query":"a","limit":7.0,"tags":"[\"x\", 1]","all":1}`, values{"a", "", 7, []string{"x", "1"}, true}},
		{`{"query":["a","b"],"limit":null,"tags":null,"all":null}`, values{Query: "a\nb", Limit: 5}},
		{`{"query":42,"limit":"1e2","tags":3}`, values{Query: "42", Limit: 50, Tags: []string{"3"}}},
		{`"{\"query\":\"twice encoded\"}"`, values{Query: "twice encoded", Limit: 5}},
		{`{"query":"a","tags":["", " "],"all":"no"}`, values{Query: "a", Limit: 5, Tags: []string{}}},
		{`{"query":"a","tags":""}`, values{Query: "a", Limit: 5}},
	} {
		a, err := parseArgs(json.RawMessage(test.raw), allKinds)
		if err != nil {
			t.Errorf("%s: %v", test.raw, err)
			continue
		}
		got := values{a.text("query"), a.oneOf("tier"), a.number("limit", 5, 1, 50), a.list("tags"), a.flag("all")}
		if diff := cmp.Diff(test.want, got); diff != "" || a.problem() != nil {
			t.Errorf("%s: %v (-want +got)\n%s", test.raw, a.problem(), diff)
		}
	}
}

func TestBadArgumentsAreToldAtOnce(t *testing.T) {
	const takes = ". It takes: query (required), limit, tags, all, tier."
	for _, test := range []struct{ raw, want string }{
		{`{}`, "query is missing" + takes},
		{``, "query is missing" + takes},
		{`{"query":" "}`, "query is missing" + takes},
		{`{"query":{"a":1}}`, "query must be a string; query is missing" + takes},
		{`{"query":"a","q":"b"}`, "query is given twice" + takes},
		{
			`{"query":"a","limit":"many","all":"maybe","tags":{"a":1},"tier":"x","odd":1}`,
			`there is no argument "odd"; tier must be one of ltm, stm, not "x"; limit must be a whole number, not "many"; tags must be a list of strings; all must be true or false` + takes,
		},
		{`{"query":"a","limit":0}`, "limit must be at least 1" + takes},
		{`{"query":"a","limit":2.5}`, "limit must be a whole number, not 2.5" + takes},
		{`{"query":"a","all":{}}`, "all must be true or false" + takes},
	} {
		a, err := parseArgs(json.RawMessage(test.raw), allKinds)
		if err != nil {
			t.Errorf("%s: %v", test.raw, err)
			continue
		}
		_ = values{a.text("query"), a.oneOf("tier"), a.number("limit", 5, 1, 50), a.list("tags"), a.flag("all")}
		if err := a.problem(); err == nil || err.Error() != test.want {
			t.Errorf("%s:\ngot  %v\nwant %s", test.raw, err, test.want)
		}
	}
	for _, raw := range []string{`[1]`, `7`, `"no object"`, `{"query":`} {
		if _, err := parseArgs(json.RawMessage(raw), allKinds); err == nil {
			t.Errorf("%s was taken", raw)
		}
	}
}

func FuzzArgs(f *testing.F) {
	f.Add(`{"query":"a","limit":"7","tags":"[\"x\"]","all":1}`)
	f.Add(`"{\"query\":{}}"`)
	f.Fuzz(func(t *testing.T, raw string) {
		a, err := parseArgs(json.RawMessage(raw), allKinds)
		if err != nil {
			return
		}
		n := a.number("limit", 5, 1, 50)
		query, _, _, _ := a.text("query"), a.oneOf("tier"), a.list("tags"), a.flag("all")
		if n < 1 || n > 50 || a.problem() == nil && query == "" {
			t.Errorf("%q: limit %d, query %q and no complaint", raw, n, query)
		}
	})
}
