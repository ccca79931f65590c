package conformance

import (
	"context"
	"errors"
	"fmt"

	"vademecum/providers"
)

func (k *kit) searchFidelity(ctx context.Context) error {
	word := k.word()
	i, h, err := k.kept(ctx, "The lighthouse keeper's "+word+" is kept in the second drawer.", word)
	if err != nil {
		return err
	}
	if k.able.Capabilities.Attribution && (h.ID != i.ID || h.Version != i.Version || h.Vault != i.Vault || h.Part != i.Part) {
		return fmt.Errorf("%s@%s of %s is given back as %s@%s of %s", i.ID, i.Version, i.Vault, h.ID, h.Version, h.Vault)
	}
	return k.same(i, h)
}

// threeOf puts a memory that is all about two words, and others that have one
// of them, and returns the question and what it finds; the first ref is the best.
func (k *kit) threeOf(ctx context.Context) (refs []providers.Ref, found []providers.Hit, err error) {
	ship, harbour := k.word(), k.word()
	refs, err = k.putAll(ctx,
		k.item("The "+ship+" sails from "+harbour+" on Tuesdays, early."),
		k.item("A "+ship+" needs paint. Paint is in the shed, next to the brushes and the old rope."),
		k.item("Bread is baked at six, and "+harbour+" smells of it until eight or nine."),
	)
	if err != nil {
		return nil, nil, err
	}
	err = k.until(func() error {
		if found, err = k.search(ctx, "when does the "+ship+" sail from "+harbour, 10, nil); err == nil {
			_, err = the(refs[0], found)
		}
		return err
	})
	return refs, found, err
}

func (k *kit) ranking(ctx context.Context) error {
	refs, found, err := k.threeOf(ctx)
	if err != nil {
		return err
	}
	for _, h := range found {
		switch h.Ref {
		case refs[0]:
			return nil
		case refs[1], refs[2]:
			return errors.New("a memory with one word of the question comes before the one that answers it")
		}
	}
	return errGone
}

// scoreKind: the numbers go the way that is declared.
func (k *kit) scoreKind(ctx context.Context) error {
	kind := k.able.Capabilities.Score
	if kind != providers.Similarity && kind != providers.Distance {
		return skip(fmt.Sprintf("scores that mean something are not promised (%q)", kind))
	}
	_, found, err := k.threeOf(ctx)
	if err != nil {
		return err
	}
	for n, h := range found {
		if h.Score == nil {
			return fmt.Errorf("it says that its scores are a %s, and gives none", kind)
		}
		if n == 0 {
			continue
		}
		better, worse := *found[n-1].Score, *h.Score
		if kind == providers.Distance {
			better, worse = worse, better
		}
		if better < worse {
			return fmt.Errorf("it says that its scores are a %s; a better hit has %g, the one behind it %g", kind, *found[n-1].Score, *h.Score)
		}
	}
	return nil
}

func (k *kit) limit(ctx context.Context) error {
	word := k.word()
	if _, err := k.putAll(ctx, k.item(word+" one"), k.item(word+" two"), k.item(word+" three"), k.item(word+" four")); err != nil {
		return err
	}
	return k.until(func() error {
		found, err := k.search(ctx, word, 2, nil)
		if err == nil && len(found) != 2 {
			err = fmt.Errorf("%d hits for a limit of 2, where four match", len(found))
		}
		return err
	})
}

func (k *kit) filter(ctx context.Context) error {
	if err := promised("filter", k.able.Capabilities.Filter); err != nil {
		return err
	}
	word := k.word()
	here, there, anywhere := k.item(word+" here"), k.item(word+" there"), k.item(word+" anywhere")
	here.Workspace, there.Workspace = "github.com/acme/shop", "github.com/acme/shoppe"
	refs, err := k.putAll(ctx, here, there, anywhere)
	if err != nil {
		return err
	}
	return k.until(func() error {
		found, err := k.search(ctx, word, 10, map[string]any{"workspace": here.Workspace})
		if err != nil {
			return err
		}
		if without(refs[1], found) != nil {
			return errors.New("a memory of another workspace is found")
		}
		_, err = the(refs[0], found)
		_, err2 := the(refs[2], found)
		return errors.Join(err, err2)
	})
}
