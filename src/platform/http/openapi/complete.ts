// Adds the descriptions of properties that the schemas of the routes do not contain.
import { operationsOf } from './document.ts'

type Json = Record<string, unknown>
type Operation = { operationId: string; requestBody?: { content: Record<string, { schema: Json }> } }
type Texts = Readonly<Record<string, string>>

/** Describes the properties of components and forms. `texts` has the descriptions, by name. Returns the same document. */
export function describeProperties(document: Json, texts: Texts): Json {
  const { schemas } = document['components'] as { schemas: Record<string, Json> }
  for (const schema of Object.values(schemas)) describeEach(schema, texts)
  for (const { requestBody } of operationsOf<Operation>(document)) {
    for (const { schema } of Object.values(requestBody?.content ?? {})) describeEach(schema, texts)
  }
  return document
}

/** A reference shows the description of its component. */
function describeEach(schema: Json, texts: Texts): void {
  for (const [key, property] of Object.entries((schema['properties'] ?? {}) as Record<string, Json>)) {
    if ('$ref' in property || 'description' in property) continue
    if (texts[key] !== undefined) property['description'] = texts[key]
  }
}
