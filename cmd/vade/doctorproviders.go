package main

import (
	"context"
	"fmt"

	"vademecum/sync/journal"
)

// checkProviders asks each provider whether it serves us, unless doctor is not
// to ask anybody, and names what it is owed. Whether it has what the vault has,
// "vade provider verify" proves: that may take as long as there are memories.
func (d *doctor) checkProviders(ctx context.Context) error {
	views, err := d.o.providerViews()
	if err != nil || len(views) == 0 {
		return err
	}
	health := map[string]checkedProvider{}
	if !d.offline {
		for _, c := range d.o.checkProviders(ctx, d.o.config.providerNames(), false) {
			health[c.Name] = c
		}
	}
	for _, v := range views {
		d.add(providerFinding(v, health[v.Name], d.offline))
	}
	return nil
}

func providerFinding(v providerView, c checkedProvider, offline bool) finding {
	f := finding{Check: "provider " + v.Name, State: stateOK}
	switch {
	case v.Error != "":
		f.State, f.Detail, f.Remedy = stateBad, v.Error, "vade config edit"
		return f
	case !offline && !c.OK:
		f.State, f.Detail, f.Remedy = stateBad, c.Error, "vade provider check "+v.Name+" tries again; what it is owed waits"
	case notOK(v.Write) != "" || notOK(v.Read) != "":
		f.State, f.Detail, f.Remedy = stateNote, firstOf(notOK(v.Write), notOK(v.Read)), "vade provider check "+v.Name
	}
	if n := v.Owed[journal.Dead]; n > 0 {
		f.State = stateBad
		f.Items = append(f.Items, fmt.Sprintf("%s given up: %s", count(n, "delivery", "deliveries"), oneLine(v.LastError)))
		f.Remedy = firstOf(f.Remedy, "vade journal retry, or vade journal drop")
	}
	if f.State == stateOK {
		f.Detail = "what it is owed: " + firstOf(owedWords(v.Owed), ", nothing")[2:]
	}
	f.Items = append(f.Items, c.Warnings...)
	return f
}
