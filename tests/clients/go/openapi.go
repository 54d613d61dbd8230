package main

import (
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"

	"k8s.io/client-go/openapi"
)

const podSpec = "#/components/schemas/io.k8s.api.core.v1.PodSpec"

// podInProtobuf tells whether OpenAPI v3 in protobuf describes the spec of pods by a reference.
func podInProtobuf(client openapi.Client) (bool, error) {
	paths, err := client.Paths()
	if err != nil {
		return false, err
	}
	content, err := paths["api/v1"].Schema(openapi.ContentTypeOpenAPIV3PB)
	if err != nil {
		return false, err
	}
	document := &openapi_v3.Document{}
	if err := proto.Unmarshal(content, document); err != nil {
		return false, err
	}
	pod := named(document.Components.Schemas.AdditionalProperties, "io.k8s.api.core.v1.Pod")
	spec := named(pod.GetSchema().GetProperties().GetAdditionalProperties(), "spec").GetSchema().GetAllOf()
	return len(spec) == 1 && spec[0].GetReference().GetXRef() == podSpec, nil
}

func named(entries []*openapi_v3.NamedSchemaOrReference, name string) *openapi_v3.SchemaOrReference {
	for _, entry := range entries {
		if entry.Name == name {
			return entry.Value
		}
	}
	return nil
}
