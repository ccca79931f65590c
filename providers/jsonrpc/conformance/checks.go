package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"

	"vademecum/providers/jsonrpc"
)

// check is something to try: nil, why it failed, a skip or a measured.
type check struct {
	name string
	try  func(k *kit, ctx context.Context) error
}

// checks are all of them, in the order in which they are made: what is about
// the whole run comes last.
func checks() []check {
	return []check{
		{"handshake", (*kit).handshake},
		{"health", (*kit).health},
		{"unknown-method", (*kit).unknownMethod},
		{"unknown-field", (*kit).unknownField},
		{"malformed-line", (*kit).malformedLine},
		{"big-item", (*kit).bigItem},
		{"unicode", (*kit).unicode},
		{"put-batch", (*kit).putBatch},
		{"same-key-twice", (*kit).sameKeyTwice},
		{"new-version", (*kit).newVersion},
		{"search-fidelity", (*kit).searchFidelity},
		{"ranking", (*kit).ranking},
		{"score-kind", (*kit).scoreKind},
		{"limit", (*kit).limit},
		{"filter", (*kit).filter},
		{"find", (*kit).find},
		{"list", (*kit).list},
		{"delete", (*kit).delete},
		{"delete-missing", (*kit).deleteMissing},
		{"resolve", (*kit).resolves},
		{"expired", (*kit).expired},
		{"deadline", (*kit).deadline},
		{"cancel", (*kit).cancel},
		{"concurrency", (*kit).concurrency},
		{"restart", (*kit).restart},
		{"killed", (*kit).killed},
		{"environment", (*kit).environment},
		{"soak", (*kit).soak},
		{"purge", (*kit).purge},
		{"stdout-noise", (*kit).stdoutNoise},
	}
}

// handshake asks what the program is, and fixes the mode.
func (k *kit) handshake(ctx context.Context) error {
	able, err := k.ask(ctx)
	if err != nil {
		return err
	}
	k.able = able
	if k.Mode == jsonrpc.LongLived || k.Mode == jsonrpc.Auto && !able.OneShot {
		k.mode = jsonrpc.LongLived
		_, err = k.live(ctx)
	}
	return err
}

func (k *kit) ask(ctx context.Context) (jsonrpc.Abilities, error) {
	reply, err := k.call(ctx, "vade.initialize", greeting)
	if err == nil && reply.Error != nil && reply.Error.Code == jsonrpc.CodeNoMethod {
		return jsonrpc.Abilities{OneShot: true}, nil
	}
	able, err := result[jsonrpc.Abilities](reply, err)
	if err == nil && able.Protocol != jsonrpc.Protocol {
		err = fmt.Errorf("it speaks %q, not %s", able.Protocol, jsonrpc.Protocol)
	}
	return able, err
}

func (k *kit) health(ctx context.Context) error {
	_, err := result[struct {
		Version  string   `json:"version"`
		Warnings []string `json:"warnings"`
	}](k.call(ctx, "vade.health", map[string]any{}))
	return err
}

func (k *kit) unknownMethod(ctx context.Context) error {
	reply, err := k.call(ctx, "vade.dance", map[string]any{})
	if err != nil {
		return err
	}
	if reply.Error == nil || reply.Error.Code != jsonrpc.CodeNoMethod {
		return fmt.Errorf("vade.dance is not refused with %d", jsonrpc.CodeNoMethod)
	}
	return k.health(ctx)
}

func (k *kit) unknownField(ctx context.Context) error {
	_, err := k.search(ctx, k.word(), 1, map[string]any{"mood": map[string]any{"of": []int{1}}})
	return err
}

// malformedLine must be answered, and survived.
func (k *kit) malformedLine(ctx context.Context) error {
	c, err := k.fresh(ctx)
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.proc.Stdin, `{"jsonrpc":"2.0","id":"x","method":`+"\n")
	if k.mode == jsonrpc.OneShot {
		defer c.end(0)
		_ = c.proc.Stdin.Close()
	}
	if err != nil {
		return err
	}
	reply, err := k.await(ctx, c, "")
	if err != nil {
		return fmt.Errorf("half a request: %w", err)
	}
	if reply.Error == nil || reply.Error.Code != jsonrpc.CodeParse {
		return fmt.Errorf("half a request is not refused with %d", jsonrpc.CodeParse)
	}
	if k.mode == jsonrpc.OneShot {
		return nil
	}
	id := k.send(c, "vade.health", map[string]any{})
	if _, err := k.await(ctx, c, id); err != nil {
		return fmt.Errorf("after half a request: %w", err)
	}
	return nil
}

// fresh is the long-lived process, or one that is the caller's to end.
func (k *kit) fresh(ctx context.Context) (*conn, error) {
	if k.mode == jsonrpc.OneShot {
		return k.start(ctx)
	}
	return k.live(ctx)
}

func (k *kit) stdoutNoise(context.Context) error {
	if len(k.noise) > 0 {
		return fmt.Errorf("%d times, first: %s", len(k.noise), k.noise[0])
	}
	return nil
}

// longLived is a skip for a program that is not.
func (k *kit) longLived() error {
	if k.mode == jsonrpc.OneShot {
		return skip("it is run one-shot")
	}
	return nil
}

// promised is a skip for what is not.
func promised(what string, is bool) error {
	if !is {
		return skip(what + " is not promised")
	}
	return nil
}

var errGone = errors.New("what was put is not there")
