// Adds the recorded examples of requests and responses to a description.
import { operationsOf } from './document.ts'

type Json = Record<string, unknown>

/** A request of an operation and its response, as a test recorded them. Bodies that are not JSON or text are left out. */
export type RecordedExample = {
  /** Values of parameters in the path and the query, by name. */
  parameters?: Readonly<Record<string, string>>
  /** The JSON body, or the JSON part of a form as `data`. */
  body?: unknown
  status: number
  answer?: unknown
}

type Media = Record<string, { schema?: Json; example?: unknown }>
type Operation = {
  operationId: string
  parameters?: { name: string; in: string; schema?: Json; example?: unknown; examples?: Json }[]
  requestBody?: { content: Media }
  responses: Record<string, { content?: Media }>
}

/** Adds the example of each operation, by its ID. Returns the same document. */
export function addExamples(document: Json, examples: Readonly<Record<string, RecordedExample>>): Json {
  for (const { operationId, parameters = [], requestBody, responses } of operationsOf<Operation>(document)) {
    const example = examples[operationId]
    if (example === undefined) continue
    for (const parameter of parameters) {
      const value = example.parameters?.[parameter.name]
      // A parameter that has several examples already shows its choices.
      if (value !== undefined && parameter.examples === undefined) parameter.example ??= typed(value, parameter.schema)
    }
    setExample(requestBody?.content, example.body)
    setExample(responses[example.status]?.content, example.answer)
  }
  return document
}

function setExample(content: Media | undefined, value: unknown): void {
  if (value === undefined || content === undefined) return
  const all = Object.entries(content)
  const [, media] = all.find(([type]) => isText(type) === (typeof value === 'string')) ?? all[0] ?? []
  if (media !== undefined) media.example = value
}

const isText = (type: string): boolean => !/json(?!l)|form/.test(type)

/** A query is text, and the example of a number is a number. */
function typed(value: string, schema: Json = {}): unknown {
  if (schema['type'] === 'integer' || schema['type'] === 'number') return Number(value)
  return schema['type'] === 'boolean' ? value === 'true' : value
}
