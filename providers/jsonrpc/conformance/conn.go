package conformance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"vademecum/providers/child"
	"vademecum/providers/jsonrpc"
)

// conn is one process of the program, and what it has answered.
type conn struct {
	proc   *child.Process
	lines  chan []byte   // closed when stdout ends
	over   chan struct{} // closed when nobody reads lines any more
	waited map[string]jsonrpc.Reply
	noise  string // the last line that was no answer, and why
	lastID int
}

// start runs the program anew. A long-lived one is greeted.
func (k *kit) start(ctx context.Context) (*conn, error) {
	proc, err := child.Start(k.spec)
	if err != nil {
		return nil, err
	}
	c := &conn{proc: proc, lines: make(chan []byte, 64), over: make(chan struct{}), waited: map[string]jsonrpc.Reply{}}
	go func() { // ends with stdout, which end closes
		defer close(c.lines)
		r := bufio.NewReader(proc.Stdout)
		for {
			line, err := child.ReadLine(r)
			if err != nil {
				return
			}
			select {
			case c.lines <- line:
			case <-c.over:
				return
			}
		}
	}()
	if k.mode == jsonrpc.LongLived {
		_, err = result[jsonrpc.Abilities](k.await(ctx, c, k.send(c, "vade.initialize", greeting)))
	}
	if err != nil {
		c.end(0)
		return nil, fmt.Errorf("initialize: %w", err)
	}
	return c, nil
}

var greeting = map[string]any{"protocol": jsonrpc.Protocol, "client": map[string]string{"name": "vade eval"}}

// live is the long-lived process, started if there is none.
func (k *kit) live(ctx context.Context) (*conn, error) {
	if k.conn != nil {
		select {
		case <-k.conn.proc.Done():
			k.end()
		default:
			return k.conn, nil
		}
	}
	c, err := k.start(ctx)
	k.conn = c
	return c, err
}

// end stops the process.
func (c *conn) end(patience time.Duration) {
	close(c.over)
	c.proc.End(patience)
}

// end stops the long-lived process.
func (k *kit) end() {
	if k.conn != nil {
		k.conn.end(2 * time.Second)
		k.conn = nil
	}
}

// call makes one request, in a process of its own if that is the mode.
func (k *kit) call(ctx context.Context, method string, params any) (jsonrpc.Reply, error) {
	if k.mode != jsonrpc.OneShot {
		c, err := k.live(ctx)
		if err != nil {
			return jsonrpc.Reply{}, err
		}
		return k.await(ctx, c, k.send(c, method, params))
	}
	c, err := k.start(ctx)
	if err != nil {
		return jsonrpc.Reply{}, err
	}
	id := k.send(c, method, params)
	_ = c.proc.Stdin.Close()
	reply, err := k.await(ctx, c, id)
	defer c.end(2 * time.Second)
	for err == nil { // is there something behind the answer?
		select {
		case line, ok := <-c.lines:
			if !ok {
				return reply, nil
			}
			k.hear(c, line)
		case <-time.After(2 * time.Second):
			return reply, errors.New("the program does not end 2 s after its answer, though its stdin is closed")
		}
	}
	return reply, err
}

// send writes a request and returns its id. A program that does not read is
// found out by await.
func (k *kit) send(c *conn, method string, params any) string {
	c.lastID++
	id := strconv.Itoa(c.lastID)
	line, err := jsonrpc.Line(id, method, params)
	if err == nil {
		_, _ = c.proc.Stdin.Write(line)
	}
	return id
}

// notify writes a notification.
func (k *kit) notify(c *conn, method string, params any) {
	if line, err := jsonrpc.Line("", method, params); err == nil {
		_, _ = c.proc.Stdin.Write(line)
	}
}

// await returns the answer to id; "" is one without.
func (k *kit) await(ctx context.Context, c *conn, id string) (jsonrpc.Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, k.Timeout)
	defer cancel()
	for {
		if r, ok := c.waited[id]; ok {
			delete(c.waited, id)
			return r, nil
		}
		select {
		case <-ctx.Done():
			return jsonrpc.Reply{}, fmt.Errorf("no answer within %s%s", k.Timeout, c.noise)
		case line, ok := <-c.lines:
			if !ok {
				return jsonrpc.Reply{}, k.ended(c)
			}
			k.hear(c, line)
		}
	}
}

// maxNoise bounds what is kept of a program that never stops printing.
const maxNoise = 100

// hear sorts a line of stdout.
func (k *kit) hear(c *conn, line []byte) {
	r, err := jsonrpc.ParseReply(line)
	if err == nil {
		c.waited[r.ID] = r
		return
	}
	c.noise = "; " + jsonrpc.Hiding(err, k.hide).Error()
	if len(k.noise) < maxNoise {
		k.noise = append(k.noise, c.noise[2:])
	}
}

func (k *kit) ended(c *conn) error {
	select {
	case <-c.proc.Done():
	case <-time.After(time.Second):
		return errors.New("it closed its stdout")
	}
	msg := "the program ended: " + c.proc.Exit()
	if said := strings.TrimSpace(k.hide(c.proc.Stderr())); said != "" { // before it is cut: half a secret is not known for one
		msg += "; it said: " + said[max(0, len(said)-300):]
	}
	return errors.New(msg + c.noise)
}

// hide is text without secrets: a report is kept, and read by others.
func (k *kit) hide(text string) string { return jsonrpc.Redact(text, k.Env) }
