// Reads the description of the API (OpenAPI) as the resources of the reference: operations, parameters, bodies and objects.

type Json = Readonly<Record<string, unknown>>
export type Schema = Json & {
  $ref?: string
  type?: string
  format?: string
  description?: string
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  items?: Schema
  enum?: readonly unknown[]
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  allOf?: readonly Schema[]
  additionalProperties?: boolean | Schema
  nullable?: boolean
  example?: unknown
  default?: unknown
}
type Content = Readonly<
  Record<string, { schema?: Schema; example?: unknown; examples?: Readonly<Record<string, Json>> }>
>
type Parameter = {
  name: string
  in: string
  required?: boolean
  description?: string
  schema?: Schema
  example?: unknown
}
type Response = { $ref?: string; description?: string; content?: Content }
type Operation = {
  operationId: string
  summary?: string
  description?: string
  tags?: readonly string[]
  deprecated?: boolean
  parameters?: readonly Parameter[]
  requestBody?: { content: Content; required?: boolean }
  responses: Readonly<Record<string, Response>>
  security?: readonly Json[]
}
export type ApiDocument = {
  info: { title: string; version: string; description: string }
  servers: readonly { url: string }[]
  tags: readonly { name: string; description: string }[]
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  components: {
    schemas: Readonly<Record<string, Schema>>
    responses: Readonly<Record<string, Response>>
    examples?: Readonly<Record<string, { value: unknown }>>
  }
}

/** A field of an object, or a parameter. `object`: the object of the reference that is its value or the items of its list. */
export type Field = { name: string; type: string; isRequired: boolean; description: string; object: string | undefined }
export type Refusal = { status: string; codes: readonly string[] }
export type Operated = {
  id: string
  method: string
  path: string
  summary: string
  description: string
  isDeprecated: boolean
  needsToken: boolean
  parameters: readonly (Field & { place: string; sample: unknown })[]
  body: { type: string; fields: readonly Field[]; object: string | undefined; sample: unknown } | undefined
  answers: readonly { status: string; description: string; type: string; object: string | undefined; sample: unknown }[]
  refusals: readonly Refusal[]
}
export type DescribedObject = { name: string; description: string; fields: readonly Field[] }
export type Resource = {
  /** Part of the path of its page, such as `version-files`. */
  slug: string
  name: string
  description: string
  operations: readonly Operated[]
  /** The objects that its operations return or accept first. */
  objects: readonly DescribedObject[]
}

/** Objects in objects that a sample shows. */
const SAMPLE_DEPTH = 5

/** Returns the resources of a description in its order, without those that have no operation. */
export function describeResources(document: ApiDocument): Resource[] {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const shown = new Set<string>()
  return document.tags.flatMap(({ name, description }) => {
    const own = operations
      .filter(({ operation }) => operation.tags?.[0] === name)
      .map(({ path, method, operation }) => describeOperation(document, { path, method, operation }))
    if (own.length === 0) return []
    const objects = objectsOf(document, own).filter((object) => !shown.has(object.name))
    for (const object of objects) shown.add(object.name)
    return [{ slug: name.replaceAll(' ', '-'), name, description, operations: own, objects }]
  })
}

function describeOperation(
  document: ApiDocument,
  { path, method, operation }: { path: string; method: string; operation: Operation },
): Operated {
  const { operationId: id, summary = '', description = '', parameters = [], responses, security = [] } = operation
  return {
    id,
    method: method.toUpperCase(),
    path,
    summary,
    description,
    isDeprecated: operation.deprecated === true,
    needsToken: security.length > 0 && security.every((each) => Object.keys(each).length > 0),
    parameters: parameters.map((parameter) => {
      const { name, required = false, schema = {} } = parameter
      const sample = parameter.example ?? sampleOf(document, schema, name)
      return {
        ...fieldOf(document, name, { description: parameter.description ?? '', ...schema }, required),
        place: parameter.in,
        sample,
      }
    }),
    body: bodyOf(document, operation),
    answers: Object.entries(responses).flatMap(([status, response]) => {
      if (!/^[23]/.test(status)) return []
      const { description: text = '', content = {} } = resolveResponse(document, response)
      const [type = '', first] = Object.entries(content)[0] ?? []
      const schema = first?.schema
      const sample = type.includes('json')
        ? (exampleOf(document, first) ?? (schema && sampleOf(document, schema)))
        : undefined
      return [{ status, description: text, type, object: schema && objectNameOf(schema), sample }]
    }),
    refusals: Object.entries(responses).flatMap(([status, { $ref = '' }]) => {
      if (!/^[45]/.test(status)) return []
      const [, ...codes] = ($ref.split('/').pop() ?? '').split('.')
      return [{ status, codes }]
    }),
  }
}

function bodyOf(document: ApiDocument, { requestBody }: Operation): Operated['body'] {
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
  if (type === undefined || content === undefined) return undefined
  const schema = content.schema ?? {}
  return {
    type,
    fields: fieldsOf(document, schema),
    object: objectNameOf(schema),
    sample: exampleOf(document, content) ?? sampleOf(document, schema),
  }
}

function exampleOf(document: ApiDocument, content: Content[string] | undefined): unknown {
  if (content?.example !== undefined) return content.example
  const [first] = Object.values(content?.examples ?? {})
  const name = typeof first?.['$ref'] === 'string' ? first['$ref'].split('/').pop() : undefined
  return name === undefined ? first?.['value'] : document.components.examples?.[name]?.value
}

/** Returns the objects that operations name, and those in them, in the order of their first use. */
function objectsOf(document: ApiDocument, operations: readonly Operated[]): DescribedObject[] {
  const named = operations.flatMap(({ body, answers }) => [
    ...answers.map(({ object }) => object),
    body?.object,
    ...(body?.fields ?? []).map(({ object }) => object),
  ])
  const objects = new Map<string, DescribedObject>()
  // Grows while it is read.
  const names = new Set(named)
  for (const name of names) {
    const schema = name === undefined ? undefined : document.components.schemas[name]
    if (name === undefined || schema === undefined) continue
    const fields = fieldsOf(document, schema)
    if (fields.length > 0) objects.set(name, { name, description: schema.description ?? '', fields })
    for (const { object } of fields) names.add(object)
  }
  return [...objects.values()]
}

const resolve = (document: ApiDocument, schema: Schema): Schema => {
  const name = nameOf(schema)
  return name === undefined ? schema : { ...document.components.schemas[name], ...without$ref(schema) }
}

function without$ref({ $ref: _, ...rest }: Schema): Schema {
  return rest
}

const resolveResponse = (document: ApiDocument, response: Response): Response =>
  response.$ref === undefined ? response : (document.components.responses[response.$ref.split('/').pop() ?? ''] ?? {})

const nameOf = ({ $ref, allOf }: Schema): string | undefined =>
  $ref?.split('/').pop() ?? (allOf?.length === 1 && allOf[0] ? nameOf(allOf[0]) : undefined)

/** Returns the object that a schema is, or of which it is a list. */
const objectNameOf = (schema: Schema): string | undefined =>
  nameOf(schema) ?? (schema.items === undefined ? undefined : nameOf(schema.items))

function fieldsOf(document: ApiDocument, schema: Schema): Field[] {
  const { properties = {}, required = [], allOf = [] } = resolve(document, schema)
  const own = Object.entries(properties).map(([name, each]) => fieldOf(document, name, each, required.includes(name)))
  return [...allOf.flatMap((part) => fieldsOf(document, part)), ...own]
}

function fieldOf(document: ApiDocument, name: string, schema: Schema, isRequired: boolean): Field {
  const description = schema.description ?? resolve(document, schema).description ?? ''
  return { name, type: typeOf(document, schema), isRequired, description, object: objectNameOf(schema) }
}

/** Returns the type in words, such as `list of string` or `integer or null`. */
function typeOf(document: ApiDocument, schema: Schema): string {
  const name = nameOf(schema)
  const isEnum = name !== undefined && document.components.schemas[name]?.enum !== undefined
  const { type, format, items, enum: values, anyOf, oneOf, nullable } = isEnum ? resolve(document, schema) : schema
  const orNull = nullable === true ? ' or null' : ''
  if (name !== undefined && !isEnum) return `${name}${orNull}`
  if (values !== undefined) return `${values.map((value) => JSON.stringify(value)).join(', ')}${orNull}`
  const branches = anyOf ?? oneOf
  if (branches !== undefined)
    return `${[...new Set(branches.map((each) => typeOf(document, each)))].join(' or ')}${orNull}`
  if (type === 'array') return `list of ${items === undefined ? 'any value' : typeOf(document, items)}${orNull}`
  return `${format === 'date-time' ? 'time' : format === 'binary' ? 'file' : (type ?? 'any value')}${orNull}`
}

/** Returns a value of the schema: its example, otherwise one with the required fields. */
function sampleOf(document: ApiDocument, given: Schema, name = '', depth = 0): unknown {
  const schema = resolve(document, given)
  const { type, enum: values, anyOf, oneOf, allOf, items, properties = {}, required = [], format } = schema
  if (schema.example !== undefined) return schema.example
  if (schema.default !== undefined) return schema.default
  if (values !== undefined) return values[0]
  const [first] = anyOf ?? oneOf ?? []
  if (first !== undefined) return sampleOf(document, first, name, depth)
  if (type === 'array')
    return items === undefined || depth > SAMPLE_DEPTH ? [] : [sampleOf(document, items, name, depth + 1)]
  if (type === 'object' || allOf !== undefined) {
    const parts = (allOf ?? []).map((part) => sampleOf(document, part, name, depth) as object)
    const own = Object.entries(properties).filter(([key]) => required.includes(key) && depth <= SAMPLE_DEPTH)
    return Object.assign(
      {},
      ...parts,
      Object.fromEntries(own.map(([key, each]) => [key, sampleOf(document, each, key, depth + 1)])),
    )
  }
  if (type === 'integer' || type === 'number') return typeof schema['minimum'] === 'number' ? schema['minimum'] : 1
  if (type === 'boolean') return true
  if (format === 'date-time') return '2026-03-01T12:00:00.000Z'
  return /(^|_)ids?$/.test(name) ? 'AABBCCDD' : name === '' ? 'text' : name
}
