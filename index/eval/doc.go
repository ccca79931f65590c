// Package eval measures how well recall finds what it should, on collections
// that somebody else judged: documents, questions, and which documents answer
// which question.
//
// A [Collection] is read from a folder in the form of BEIR (Thakur et al., BEIR:
// A Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval
// Models, NeurIPS 2021). [Collection.Source] lays its documents out as notes,
// which are indexed and searched as those of any vault are; nothing here ranks.
// The ids that come back make a [Run], and a run with the judgements makes
// [Scores]. [Compare] tells whether two runs differ by more than chance.
package eval
