// Package index finds memories: exact, deterministic, explainable, without any
// model.
//
// What there is to search is whatever a [Source] lists at that moment. The
// index only saves work: it holds the analysed terms of notes that it has seen
// before, keyed by (path, blob). A note that no generation holds is analysed
// in memory within the same query, so a recall is never stale, with or without
// a watcher, and an index that is missing, damaged or of another format costs
// time and nothing else.
//
// On disk, derived and safe to delete:
//
//	index/
//	  manifest            which generations count, oldest first; replaced by rename
//	  g-….zap             one immutable segment of bleve's zap format: terms and postings
//	  g-….docs            its notes: path, blob, document numbers, lengths, places; see table
//	  g-….suspect         a reader found the generation damaged; the next writer drops it
//	  damaged/            the last generation that was dropped so
//	  tmp-…               a writer's work in progress
//	  writer.lock         held while a generation is made; never by a reader
//
// The segments are written and read with zapx alone. bleve's index packages
// would do more, and cost 13 to 26 ms of processor time at every process start.
//
// A generation never changes. Readers open the ones that the manifest names and
// take no lock. A writer makes new ones under the lock, syncs them, publishes
// by renaming the manifest, and removes those that were retired a while ago. So
// a writer that is killed leaves only tmp files, and nobody waits for anybody.
//
// A note is live in a generation when the source has the same blob at the same
// path and no newer generation has. Everything else in a generation is dead: it
// counts neither as a hit nor in any statistic. Statistics are therefore exact
// over what is searched, and a ranking does not depend on how notes came to be
// in one generation or another, or in memory.
package index
