// Converts the schemas of a document to OpenAPI 3.0, and moves each object to `components.schemas` under a name that
// generators of clients can use for a type.

type Json = Record<string, unknown>

/**
 * Converts the JSON Schema of TypeBox to OpenAPI 3.0: `null` in a union becomes `nullable`, constants become enums with one
 * value, and schemas with a `title` move to `components.schemas`. Objects without a title get a name from their place.
 */
export function toOpenApi30(document: Json & { components?: Json }): Json {
  const named = new Map<string, Json>()
  const convert = (value: unknown, isRoot: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item) => convert(item, false))
    if (typeof value !== 'object' || value === null) return value
    const simple = simplify(value as Json)
    const title = simple['title']
    const converted = Object.fromEntries(Object.entries(simple).map(([key, inner]) => [key, convert(inner, false)]))
    if (isRoot || typeof title !== 'string' || !/^[A-Z][A-Za-z]+$/.test(title) || !isSchema(simple)) return converted
    return referTo(title, converted, named)
  }
  const paths = nameObjects(convert(document['paths'], true) as Json, named)
  const schemas = Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1)))
  return { ...document, paths, components: { ...document.components, schemas } }
}

/** Stores a schema as a component. Null is allowed at the reference only, because other places use the same component. */
function referTo(name: string, { nullable, ...schema }: Json, named: Map<string, Json>): Json {
  const text = ({ description: _, ...rest }: Json): string => JSON.stringify(rest)
  const known = named.get(name) ?? schema
  if (text(known) !== text(schema)) throw new Error(`Two different schemas have the title ${name}`)
  named.set(name, schema)
  const reference = { $ref: `#/components/schemas/${name}` }
  return nullable === true ? { type: schema['type'] ?? 'object', nullable, allOf: [reference] } : reference
}

function isSchema(value: Json): boolean {
  return 'type' in value || 'anyOf' in value || 'allOf' in value
}

const isNull = ({ type, enum: values }: Json): boolean =>
  type === 'null' || (Array.isArray(values) && values.length === 1 && values[0] === null)

/** The libraries of other languages have no `[^]`, which matches any character in JavaScript. */
const portable = (pattern: string): string => pattern.replaceAll('[^]', '[\\s\\S]')

/** Generators use 32 bits for an integer without a format. */
function isLargeInteger({ type, format, minimum = 0, maximum = 2 ** 53 }: Json): boolean {
  return type === 'integer' && format === undefined && (Number(maximum) >= 2 ** 31 || Number(minimum) < -(2 ** 31))
}

function simplify({ describedAs, ...schema }: Json): Json {
  if (describedAs !== undefined) {
    // Adds to the properties of the schema, and replaces everything else.
    const { properties, anyOf } = describedAs as Json
    const all = properties === undefined ? {} : { properties: { ...(schema['properties'] as Json), ...properties } }
    // A field of a PATCH accepts null as well.
    const nulls = Array.isArray(schema['anyOf']) ? schema['anyOf'].filter(isNull) : []
    const choices = Array.isArray(anyOf) ? { anyOf: [...anyOf, ...nulls] } : {}
    return simplify({ ...schema, ...(describedAs as Json), ...all, ...choices })
  }
  if (typeof schema['pattern'] === 'string') schema['pattern'] = portable(schema['pattern'])
  if (isLargeInteger(schema)) schema['format'] = 'int64'
  if ('const' in schema) {
    const { const: constant, ...rest } = schema
    return { type: typeof constant, ...rest, enum: [constant] }
  }
  if (isNull(schema)) {
    const { enum: _, ...rest } = schema
    return { ...rest, type: 'object', nullable: true }
  }
  const choices = schema['anyOf']
  if (!Array.isArray(choices)) return 'enum' in schema && !('type' in schema) ? { type: 'string', ...schema } : schema
  const others = choices.filter((choice: Json) => !isNull(choice))
  const { anyOf: _, ...rest } = schema
  const isNullable = others.length < choices.length
  const [only] = others
  if (others.length === 1 && only !== undefined) {
    return { ...simplify(only), ...rest, ...(isNullable ? { nullable: true } : {}) }
  }
  // Next to `nullable`, OpenAPI 3.0 requires `type`, which only the choices have.
  return isNullable ? { ...rest, anyOf: [{ ...only, nullable: true }, ...others.slice(1)] } : schema
}

/** Moves objects that have properties but no title to components, and returns the paths with references. */
function nameObjects(paths: Json, named: Map<string, Json>): Json {
  const names = new Map<string, string>()
  const nameOf = (wanted: string, schema: Json): string => {
    const key = JSON.stringify({ ...schema, nullable: undefined })
    const known = names.get(key)
    if (known !== undefined) return known
    let name = wanted
    while (named.has(name)) name += 'Entry'
    names.set(key, name)
    return name
  }
  /** `place` is the name that the schema gets if it is an object that does not stay in its place. */
  const visit = (value: unknown, place: string, stays = false): unknown => {
    if (typeof value !== 'object' || value === null) return value
    const schema = joinChoices(value as Json, named)
    if ('$ref' in schema) return schema
    const inner: Json = { ...schema }
    if (isObject(schema['properties'])) {
      inner['properties'] = Object.fromEntries(
        Object.entries(schema['properties']).map(([key, each]) => [key, visit(each, `${place}${pascal(key)}`)]),
      )
    }
    if (isObject(schema['items'])) inner['items'] = visit(schema['items'], singular(place))
    if (isObject(schema['additionalProperties'])) {
      inner['additionalProperties'] = visit(schema['additionalProperties'], singular(place))
    }
    for (const key of ['anyOf', 'oneOf', 'allOf'] as const) {
      if (!Array.isArray(schema[key])) continue
      inner[key] = schema[key].map((each: Json) => visit(each, `${place}${pascal(valuesOf(each, 'type')[0] ?? '')}`))
    }
    if (schema['discriminator'] !== undefined) inner['discriminator'] = mapKinds(schema, inner, named)
    const isNamed = !stays && schema['type'] === 'object' && isObject(schema['properties'])
    if (!isNamed || Object.keys(schema['properties'] as Json).length === 0) return inner
    return referTo(nameOf(place, inner), inner, named)
  }
  for (const [name, schema] of [...named]) named.set(name, visit(schema, name, true) as Json)
  return mapBodies(paths, visit)
}

type Visit = (schema: unknown, place: string, stays: boolean) => unknown

/** Visits the schemas of bodies. The fields of a form stay in their place: generators make parameters from them. */
function mapBodies(paths: Json, visit: Visit): Json {
  const contentOf = (body: Json, place: string): Json => {
    const content = Object.entries(body['content'] as Json).map(([type, media]) => [
      type,
      { ...(media as Json), schema: visit((media as Json)['schema'], place, /form/.test(type)) },
    ])
    return { ...body, content: Object.fromEntries(content) }
  }
  const operation = (each: Json): Json => {
    const {
      requestBody,
      responses = {},
      operationId,
    } = each as { requestBody?: Json; responses?: Json; operationId: string }
    const id = pascal(operationId)
    const answers = Object.entries(responses).map(([status, answer]) => [
      status,
      isObject((answer as Json)['content']) ? contentOf(answer as Json, `${id}Result`) : answer,
    ])
    const request = requestBody === undefined ? {} : { requestBody: contentOf(requestBody, `${id}Body`) }
    return { ...each, ...request, responses: Object.fromEntries(answers) }
  }
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(Object.entries(item as Json).map(([method, each]) => [method, operation(each as Json)])),
    ]),
  )
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the values that a property of an object can have; none if it can have any value. */
function valuesOf({ properties }: Json, name: string): string[] {
  const { enum: values = [] } = ((properties ?? {}) as Record<string, { enum?: string[] }>)[name] ?? {}
  return values
}

/**
 * Describes a choice between objects as generators can express it: by a discriminator if the property `type` selects the
 * object, or else as one object in which the properties that not all have are optional.
 */
function joinChoices(schema: Json, named: ReadonlyMap<string, Json>): Json {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf)) return schema
  const objects = anyOf.map((each: Json) => target(each, named))
  if (objects.some((each) => !isObject(each['properties']))) return schema
  const kinds = objects.map((each) => valuesOf(each, 'type'))
  if (kinds.every(({ length }) => length > 0)) return { ...rest, oneOf: anyOf, discriminator: { propertyName: 'type' } }
  const requiredBy = objects.map(({ required = [] }) => required as string[])
  const required = requiredBy[0]?.filter((name) => requiredBy.every((names) => names.includes(name))) ?? []
  return {
    type: 'object',
    ...rest,
    ...(required.length === 0 ? {} : { required }),
    properties: Object.assign({}, ...objects.map(({ properties }) => properties)),
    ...(objects.every((each) => each['additionalProperties'] === false) ? { additionalProperties: false } : {}),
  }
}

/** Returns the discriminator of a choice, with the component of each value. */
function mapKinds(schema: Json, { oneOf }: Json, named: ReadonlyMap<string, Json>): Json {
  const mapping = (oneOf as Json[]).flatMap((each) =>
    valuesOf(target(each, named), 'type').map((value) => [value, each['$ref']]),
  )
  return { ...(schema['discriminator'] as Json), mapping: Object.fromEntries(mapping) }
}

/** Returns the component to which a schema refers; the schema itself if it is not a reference. */
function target(schema: Json, named: ReadonlyMap<string, Json>): Json {
  return named.get(String(schema['$ref'] ?? '').replace('#/components/schemas/', '')) ?? schema
}

const pascal = (name: string): string =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join('')

/** Returns the name of an entry of a list: `Point` for `Points`, and `ChangedItem` for `Changed`. */
function singular(name: string): string {
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`
  if (/(?:sh|x)es$/.test(name)) return name.slice(0, -2)
  return /[^su]s$/.test(name) ? name.slice(0, -1) : `${name}Item`
}
