// Package merge brings together what two hosts made of one vault, without
// asking anybody and without losing a word of either.
//
// Every merge is a function of its inputs alone, and symmetric: merging a with
// b and b with a gives the same bytes, up to the id of the merge commit. Hosts
// that exchange commits therefore converge without talking. No merge writes a
// conflict marker.
//
// From small to large:
//
//	[Merge3]       three texts, by lines
//	[Files]        three versions of a memory: front matter by key, body by lines
//	[Texts]        three versions of any other file
//	[Trees]        three trees: renames, deletes, forgets, folds, name clashes
//	[Commits]      two commits, with the merge base that they have
//	[RevertAll]    the undo of commits, as a merge with the past
//	[NearestBase]  which version a stale editor buffer was made of
//
// Where both sides changed one place, one stays where it is: the side that
// changed later. The other is parked: it becomes a file in conflicts/ of its
// own, named by its content, with conflict_of naming the one that stayed.
package merge
