// Rules for an OpenAPI 3.0 document, written out: what the format demands, and what this API demands of itself.

export type Json = Record<string, unknown>
export type Operation = { path: string; method: string; operation: Json }

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/** Keywords of a Schema Object in OpenAPI 3.0. JSON Schema has more keywords, which some tools cannot read. */
const SCHEMA_KEYWORDS = new Set(
  (
    'title multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems ' +
    'uniqueItems maxProperties minProperties required enum type allOf oneOf anyOf not items properties ' +
    'additionalProperties description format default nullable discriminator readOnly writeOnly externalDocs example deprecated'
  ).split(' '),
)
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object'])

export function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
}

export function asList(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(asObject) : []
}

export function operationsOf(document: Json): Operation[] {
  return Object.entries(asObject(document['paths'])).flatMap(([path, item]) =>
    Object.entries(asObject(item))
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => ({ path, method, operation: withAnswers(document, asObject(operation)) })),
  )
}

/** The operation with its answers themselves in the place of references to them. */
function withAnswers(document: Json, operation: Json): Json {
  const shared = asObject(asObject(document['components'])['responses'])
  const responses = Object.entries(asObject(operation['responses'])).map(([status, answer]) => {
    const name = /^#\/components\/responses\/(.+)$/.exec(String(asObject(answer)['$ref'] ?? ''))?.[1]
    return [status, name === undefined ? answer : shared[name]]
  })
  return { ...operation, responses: Object.fromEntries(responses) }
}

/** Calls `visit` for a schema and each nested schema, with its path. Does not follow references. */
export function walkSchema(schema: unknown, visit: (schema: Json, at: string) => void, at = ''): void {
  const value = asObject(schema)
  visit(value, at)
  for (const [name, inner] of Object.entries(asObject(value['properties']))) walkSchema(inner, visit, `${at}.${name}`)
  for (const key of ['items', 'not', 'additionalProperties']) {
    if (typeof value[key] === 'object') walkSchema(value[key], visit, `${at}.${key === 'not' ? key : '*'}`)
  }
  for (const key of ['allOf', 'anyOf', 'oneOf']) {
    for (const choice of asList(value[key])) walkSchema(choice, visit, at)
  }
}

/** Every schema of the document that is not inside another, with a name for messages. */
export function schemasOf(document: Json): { name: string; schema: Json }[] {
  const components = Object.entries(asObject(asObject(document['components'])['schemas']))
  return [
    ...components.map(([name, schema]) => ({ name, schema: asObject(schema) })),
    ...operationsOf(document).flatMap(({ operation }) => {
      const id = String(operation['operationId'])
      const answers = Object.entries(asObject(operation['responses']))
      return [
        ...requestSchemas(operation).map(({ name, schema }) => ({ name: `${id}.${name}`, schema })),
        ...answers.flatMap(([status, answer]) =>
          Object.values(asObject(asObject(answer)['content'])).map((media) => ({
            name: `${id}.${status}`,
            schema: asObject(asObject(media)['schema']),
          })),
        ),
      ]
    }),
  ]
}

/** The names of the component schemas that answers are made of. */
export function answerComponents(document: Json): Set<string> {
  const found = new Set<string>()
  const visit = ({ $ref: reference }: Json): void => {
    const name = /^#\/components\/schemas\/(.+)$/.exec(String(reference ?? ''))?.[1]
    if (name === undefined || found.has(name)) return
    found.add(name)
    walkSchema(resolve(document, { $ref: reference }), visit)
  }
  for (const { operation } of operationsOf(document)) {
    for (const answer of Object.values(asObject(operation['responses']))) {
      for (const media of Object.values(asObject(asObject(answer)['content'])))
        walkSchema(asObject(media)['schema'], visit)
    }
  }
  return found
}

/** Returns the schemas of a request: parameters by name, and the body. */
export function requestSchemas(operation: Json): { name: string; schema: Json }[] {
  const parameters = asList(operation['parameters']).map(({ name, schema }) => ({
    name: String(name),
    schema: asObject(schema),
  }))
  const bodies = Object.values(asObject(asObject(operation['requestBody'])['content'])).map((media) => ({
    name: 'body',
    schema: asObject(asObject(media)['schema']),
  }))
  return [...parameters, ...bodies]
}

/** The schema itself, or the one it refers to. */
export function resolve(document: Json, schema: Json): Json {
  // A component that can be null is in `allOf`.
  const reference = schema['$ref'] ?? asObject(asList(schema['allOf'])[0])['$ref'] ?? ''
  const name = /^#\/components\/schemas\/(.+)$/.exec(String(reference))?.[1]
  if (name === undefined) return schema
  const component = asObject(asObject(asObject(document['components'])['schemas'])[name])
  return schema['nullable'] === true ? { ...component, nullable: true } : component
}

/** Lists the violations of the OpenAPI format in a schema. */
export function schemaProblems(document: Json, schema: Json): string[] {
  const problems: string[] = []
  walkSchema(schema, (value, at) => {
    const say = (problem: string): number => problems.push(`${at}: ${problem}`)
    if ('$ref' in value) {
      if (Object.keys(value).length > 1) say('ignores keys next to $ref')
      if (Object.keys(resolve(document, value)).length === 0) say(`${value['$ref']} leads nowhere`)
      return
    }
    for (const key of Object.keys(value)) if (!SCHEMA_KEYWORDS.has(key)) say(`${key} is not a keyword`)
    if ('type' in value && !TYPES.has(String(value['type']))) say(`type ${JSON.stringify(value['type'])}`)
    if (value['type'] === 'array' && typeof value['items'] !== 'object') say('an array without items')
    if (value['nullable'] === true && !('type' in value) && !('anyOf' in value)) say('nullable without a type')
    if ('required' in value) {
      const names = value['required']
      const properties = asObject(value['properties'])
      if (!Array.isArray(names) || names.length === 0 || new Set(names).size !== names.length) say('required')
      else for (const name of names) if (!(String(name) in properties)) say(`required ${name} is not described`)
    }
    for (const key of ['allOf', 'anyOf', 'oneOf']) {
      if (key in value && asList(value[key]).length === 0) say(`${key} without a choice`)
    }
    const pattern = value['pattern']
    if (typeof pattern === 'string') new RegExp(pattern, 'u')
  })
  return problems
}

/** Lists the violations of the OpenAPI format in an operation and its path. */
export function operationProblems(document: Json, { path, operation }: Operation): string[] {
  const problems: string[] = []
  const parameters = asList(operation['parameters'])
  const inPath = parameters.filter((parameter) => parameter['in'] === 'path')
  const templates = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name)
  const names = inPath.map(({ name }) => name)
  if (JSON.stringify([...names].sort()) !== JSON.stringify([...templates].sort())) problems.push(`path names ${names}`)
  if (inPath.some(({ required }) => required !== true)) problems.push('an optional part of the path')
  const keys = parameters.map((parameter) => `${parameter['in']} ${parameter['name']}`)
  if (new Set(keys).size !== keys.length) problems.push('a parameter twice')
  for (const parameter of parameters) {
    if (!['path', 'query', 'header', 'cookie'].includes(String(parameter['in'])))
      problems.push('a parameter from nowhere')
    if (typeof parameter['schema'] !== 'object') problems.push(`${parameter['name']} has no schema`)
  }
  const answers = Object.entries(asObject(operation['responses']))
  if (answers.length === 0) problems.push('no answer')
  for (const [status, answer] of answers) {
    if (!/^([1-5]\d\d|[1-5]XX|default)$/.test(status)) problems.push(`status ${status}`)
    if (typeof asObject(answer)['description'] !== 'string') problems.push(`${status} without a description`)
  }
  if ('requestBody' in operation && Object.keys(asObject(asObject(operation['requestBody'])['content'])).length === 0)
    problems.push('a body without content')
  const schemes = asObject(asObject(document['components'])['securitySchemes'])
  for (const choice of asList(operation['security'])) {
    for (const name of Object.keys(choice)) if (!(name in schemes)) problems.push(`security ${name}`)
  }
  return problems
}

/** Lists the paths, below the schema, at which a client could send unlimited data. */
export function unboundedPlaces(document: Json, schema: Json): string[] {
  const places: string[] = []
  const seen = new Set<Json>()
  const visit = (value: Json, at: string): void => {
    const target = resolve(document, value)
    if (target !== value) {
      if (!seen.has(target)) {
        seen.add(target)
        walkSchema(target, (inner, below) => visit(inner, `${at}${below}`))
      }
      return
    }
    const { type } = value
    if ('enum' in value) return
    // The server limits the size of files while it receives them; the description of the operation states the limits.
    const isText = type === 'string' && value['format'] !== 'binary'
    if (isText && typeof value['maxLength'] !== 'number') places.push(`${at} maxLength`)
    if (type === 'array' && typeof value['maxItems'] !== 'number') places.push(`${at} maxItems`)
    if (type === 'integer') {
      if (typeof value['minimum'] !== 'number') places.push(`${at} minimum`)
      if (typeof value['maximum'] !== 'number') places.push(`${at} maximum`)
    }
  }
  walkSchema(schema, visit)
  return places
}
