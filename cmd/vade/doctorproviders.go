package main

import (
	"context"
	"fmt"
	"time"

	"vademecum/sync/journal"
)

// A doctor asks each provider for some memories only; "vade provider verify"
// asks for all.
const (
	doctorSample   = 20
	doctorPatience = 20 * time.Second
)

// checkProviders looks at what each provider is owed and has by its receipts, and
// unless doctor is not to ask anybody, whether it serves us and really has some
// of what it should.
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
		f := providerFinding(v, health[v.Name], d.offline)
		if v.Error == "" && v.Write != "off" {
			d.compareProvider(ctx, v.Name, health[v.Name].OK, &f)
		}
		d.add(f)
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

// compareProvider holds a provider against the vault: by its receipts, and if
// it answers, by asking it.
func (d *doctor) compareProvider(ctx context.Context, name string, answers bool, f *finding) {
	b := d.o.outbox()
	lacks, total, err := b.BackfillCount(name)
	if err == nil && lacks > 0 {
		f.Items = append(f.Items, fmt.Sprintf("%d of %s were never handed over", lacks, count(total, "memory", "memories")))
		f.Remedy = firstOf(f.Remedy, "vade provider backfill "+name)
		if f.State == stateOK {
			f.State = stateNote
		}
	}
	if !answers {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	v, err := b.Verify(ctx, name, doctorSample, false)
	if err != nil {
		f.Items = append(f.Items, "could not be compared: "+err.Error())
		return
	}
	if wrong := len(v.Stale) + len(v.Orphaned) + max(len(v.Missing)-lacks, 0); wrong > 0 {
		f.State = stateBad
		f.Items = append(f.Items, fmt.Sprintf("%d of %d that were looked at are missing, old or should be gone", wrong, v.Checked+len(v.Orphaned)))
		f.Remedy = firstOf(f.Remedy, "vade provider verify "+name+" --fix")
	}
}
