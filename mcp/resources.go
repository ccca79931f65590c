package mcp

import (
	"context"
	"errors"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vademecum/vault"
)

const (
	recentURI = "memory://recent"
	idURI     = "memory://id/"
	markdown  = "text/markdown"
	// listedMemories is how many memories stand in the list of resources, from
	// which people pick.
	listedMemories = 50
)

// addResources offers memories to the person at the client: memory://recent,
// memory://id/ID for each of the latest ones, and a template for all others.
func addResources(s *sdk.Server, open Opener) {
	read := func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		text, err := resource(ctx, open, agentOf(req.ClientInfo()), req.Params.URI)
		if err != nil {
			return nil, err
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, MIMEType: markdown, Text: text}}}, nil
	}
	s.AddResource(&sdk.Resource{
		URI: recentURI, Name: "recent", Title: "Recent memories", MIMEType: markdown,
		Description: "The latest memories of this project and of none, without their text",
	}, read)
	s.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: idURI + "{id}", Name: "memory", Title: "A memory", MIMEType: markdown,
		Description: "One memory by its id",
	}, read)
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			res, err := next(ctx, method, req)
			if list, ok := res.(*sdk.ListResourcesResult); ok && err == nil && list.NextCursor == "" {
				list.Resources = append(list.Resources, latest(ctx, open)...)
			}
			return res, err
		}
	})
}

// resource is the text of a memory:// address.
func resource(ctx context.Context, open Opener, agent, uri string) (string, error) {
	v, err := open(ctx, agent)
	if err != nil {
		return "", err
	}
	defer v.Close()
	if uri == recentURI {
		found, err := v.List(ctx, Filter{})
		if err != nil {
			return "", err
		}
		if len(found) == 0 {
			return "No memories yet.", nil
		}
		return listed(found, 0, listedMemories), nil
	}
	id, ok := strings.CutPrefix(uri, idURI)
	if !ok {
		return "", sdk.ResourceNotFoundError(uri)
	}
	if id, err = url.PathUnescape(id); err != nil {
		return "", sdk.ResourceNotFoundError(uri)
	}
	m, err := v.Read(ctx, id)
	if _, ambiguous := errors.AsType[*vault.AmbiguousError](err); ambiguous || errors.Is(err, vault.ErrNotFound) {
		return "", sdk.ResourceNotFoundError(uri)
	}
	if err != nil {
		return "", err
	}
	return whole(m, 1), nil
}

// latest are the latest memories as resources; none when the vault cannot be
// read, which the tools will tell.
func latest(ctx context.Context, open Opener) []*sdk.Resource {
	v, err := open(ctx, "")
	if err != nil {
		return nil
	}
	defer v.Close()
	found, err := v.List(ctx, Filter{})
	if err != nil {
		return nil
	}
	var out []*sdk.Resource
	for _, m := range found {
		if len(out) == listedMemories {
			break
		}
		if m.ID == "" {
			continue
		}
		out = append(out, &sdk.Resource{
			URI: idURI + string(m.ID), Name: string(m.ID), Title: oneLine(m.Title, 120), MIMEType: markdown,
			Description: changed(m.Updated, m.Created),
		})
	}
	return out
}
