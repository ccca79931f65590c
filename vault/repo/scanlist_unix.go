//go:build unix && !linux

package repo

// list appends the names of the folder to items.
func (d *scanDir) list(items []scanItem) ([]scanItem, error) {
	names, err := d.f.ReadDir(-1)
	if err != nil {
		return items, err
	}
	for _, e := range names {
		items = appendKey(items, e.Name()+"/", e.Type())
	}
	return items, nil
}
