// The published API descriptions: they match the committed files, are valid OpenAPI 3.0, describe every operation
// fully, and their viewer loads no third-party resources.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { SCOPES } from '#features/basics/access/scopes.ts'
import { sampleOf } from '#test/api/operations/requests.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { assertSameText } from '#test/support/http/compare-text.ts'
import {
  answerComponents,
  asList,
  asObject,
  type Json,
  operationProblems,
  operationsOf,
  requestSchemas,
  resolve,
  schemaProblems,
  schemasOf,
  unboundedPlaces,
  walkSchema,
} from '#test/support/http/openapi-rules.ts'

const VIEWER = '/docs/swagger-ui/'

const t = await testApp({ env: { BASE_URL: 'http://127.0.0.1:8080' } })
after(() => t.close())

const idOf = ({ operation }: { operation: Json }): string => String(operation['operationId'])

/**
 * `openAnswers` lists the responses that contain a map, with the type of its values. All other properties must be
 * described.
 */
const DOCUMENTS = [
  {
    version: 'v3',
    url: '/docs/openapi.json',
    file: 'openapi.json',
    openAnswers: [
      'AuditEntry.details',
      'Error.details',
      'Loader.metadata',
      'ModerationEntry.details',
      'OwnAuditEntry.details',
    ],
  },
  { version: 'v2', url: '/docs/v2/openapi.json', file: 'openapi-v2.json', openAnswers: ['Error.details'] },
]

/** Components that are titles of schemas, without a conflict. */
const KNOWN_NAMES = [
  'PasskeyAssertionResponse',
  'PasskeyCreationResponse',
  'WebhookDeliveryWithAttemptsAttemptRequest',
  'WebhookDeliveryWithAttemptsAttemptResponse',
  'AdvisoryMatchRequest',
  'ImpactRequest',
  'PasskeyRequest',
  'ProposalRequest',
  'SearchRequest',
]
/** Operations with two forms of success: the content type or the status selects them. */
const TWO_FORMS = ['queryAnalytics', 'exportAuditLog', 'reportImpact']

for (const { version, url, file, openAnswers } of DOCUMENTS)
  describe(version, () => {
    let text: string
    let document: Json
    before(async () => {
      text = (await t.anyone.get(url)).body
      document = JSON.parse(text)
    })

    test('the committed one is what the routes say; `npm run gen` makes it again', () => {
      assertSameText(text, readFileSync(join(import.meta.dirname, '../../docs/generated', file), 'utf8'))
    })

    test('the document is valid OpenAPI 3.0', () => {
      assert.match(String(document['openapi']), /^3\.0\.\d+$/)
      const { title, version } = asObject(document['info'])
      assert.deepEqual([typeof title, typeof version], ['string', 'string'])
      const problems = [
        ...operationsOf(document).flatMap((each) =>
          operationProblems(document, each).map((problem) => `${idOf(each)}: ${problem}`),
        ),
        ...schemasOf(document).flatMap(({ name, schema }) =>
          schemaProblems(document, schema).map((problem) => `${name}${problem}`),
        ),
      ]
      assert.deepEqual(problems, [])
      assert.deepEqual(
        Object.keys(asObject(document['paths'])).filter((path) => !path.startsWith('/') || path.includes('*')),
        [],
      )
    })

    /** Names of operations that are one verb: the protocol's own. */
    const VERBS_ALONE = ['authorize']

    test('every operation has a unique name of verb and noun, a summary, a tag and responses', () => {
      const operations = operationsOf(document)
      const names = operations.map(idOf)
      assert.deepEqual(
        names.filter((name, index) => names.indexOf(name) !== index),
        [],
      )
      assert.deepEqual(
        names.filter((name) => !/^[a-z]+([A-Z][A-Za-z0-9]*)+$/.test(name)),
        VERBS_ALONE.filter((name) => names.includes(name)),
      )
      const incomplete = operations.filter(({ operation: { summary, tags, responses, security } }) => {
        const hasTag = Array.isArray(tags) && tags.length === 1 && typeof tags[0] === 'string'
        const isSaid = typeof summary === 'string' && /^\S.*[^.]$/.test(summary)
        return !hasTag || !isSaid || !Array.isArray(security) || Object.keys(asObject(responses)).length === 0
      })
      assert.deepEqual(
        incomplete.map(({ path, method }) => `${method} ${path}`),
        [],
      )
    })

    test('every tag of an operation is explained, and none is explained that has no operation', () => {
      const explained = asList(document['tags']).map(({ name, description }) => [name, typeof description])
      const used = new Set(operationsOf(document).flatMap(({ operation }) => operation['tags'] as string[]))
      assert.deepEqual(
        explained.toSorted(),
        [...used].sort().map((tag) => [tag, 'string']),
      )
    })

    test('describes every parameter, and every response in its own words', () => {
      const problems = operationsOf(document).flatMap((each) => {
        const parameters = asList(each.operation['parameters']).filter(
          ({ description }) => typeof description !== 'string',
        )
        const answers = Object.entries(asObject(each.operation['responses'])).filter(
          ([, answer]) => asObject(answer)['description'] === 'Default Response',
        )
        return [...parameters.map(({ name }) => name), ...answers.map(([status]) => status)].map(
          (problem) => `${idOf(each)}.${problem}`,
        )
      })
      assert.deepEqual(problems, [])
    })

    test('every operation that looks at a token says which scopes it asks for', () => {
      const configs = new Map(t.app.routeTable().map(({ operationId, config }) => [operationId, config.auth]))
      const silent = operationsOf(document).filter((each) => {
        const auth = configs.get(idOf(each))
        if (auth === undefined || auth === 'public' || auth === 'operator') return false
        const text = String(each.operation['description'])
        const scopes = 'read' in auth ? auth.read : auth.scope
        if (scopes.length === SCOPES.length) return !text.includes('any scope')
        return !scopes.every((scope) => text.includes(`\`${scope}\``))
      })
      assert.deepEqual(silent.map(idOf), [])
    })

    test('only what succeeds comes in other types than JSON', () => {
      const problems = operationsOf(document).flatMap((each) =>
        Object.entries(asObject(each.operation['responses']))
          .filter(([status]) => !status.startsWith('2'))
          .flatMap(([status, answer]) =>
            Object.keys(asObject(asObject(answer)['content'])).map((type) => [status, type]),
          )
          .filter(([, type]) => type !== 'application/json')
          .map(([status, type]) => `${idOf(each)} ${status} ${type}`),
      )
      assert.deepEqual(problems, [])
    })

    test('every operation describes how it can fail', () => {
      const silent = operationsOf(document).filter(({ operation }) => {
        const statuses = Object.keys(asObject(operation['responses']))
        return !statuses.some((status) => status === 'default' || /^[45]/.test(status))
      })
      assert.deepEqual(silent.map(idOf), [])
    })

    test('every operation that takes a body describes it, and has a sample in samples.test.ts of its feature', () => {
      const described = operationsOf(document).filter(({ operation }) => 'requestBody' in operation)
      const taking = operationsOf(document).filter((each) => {
        const { body, raw } = sampleOf({ operationId: idOf(each) })
        return body !== undefined || raw !== undefined
      })
      assert.deepEqual(described.map(idOf), taking.map(idOf))
    })

    /** A mail contains the secret of the request; the response is this document. */
    const WITHOUT_EXAMPLE = ['getOlderOpenApi', 'getOpenApi', 'undoEmailChange', 'undoEmailChangeV2']

    test('every JSON request and a successful JSON response of every operation have a recorded example', () => {
      const without = operationsOf(document).filter((each) => {
        const { requestBody, responses } = each.operation
        const jsonOf = (body: unknown) => asObject(asObject(asObject(body)['content'])['application/json'])
        const successes = Object.entries(asObject(responses)).filter(([status]) => status.startsWith('2'))
        const isWithout = (bodies: unknown[]) =>
          bodies.some((body) => 'schema' in jsonOf(body)) && !bodies.some((body) => 'example' in jsonOf(body))
        return isWithout([requestBody]) || isWithout(successes.map(([, body]) => body))
      })
      assert.deepEqual(
        without.map(idOf).filter((id) => !WITHOUT_EXAMPLE.includes(id)),
        [],
        'UPDATE_EXAMPLES=1 npm test -- all-operations; npm run gen',
      )
    })

    /** Inputs without a limit in the schema, because another check limits them. This list must only shrink. */
    const UNBOUNDED: string[] = []

    test('every string, list and integer of a request has limits', () => {
      const places = operationsOf(document).flatMap((each) =>
        requestSchemas(each.operation).flatMap(({ name, schema }) =>
          unboundedPlaces(document, schema).map((place) => `${idOf(each)}.${name}${place}`),
        ),
      )
      assert.deepEqual([...new Set(places)].sort(), UNBOUNDED)
    })

    test('responses have no undescribed properties', () => {
      const shown = answerComponents(document)
      const answers = schemasOf(document).filter(({ name }) => shown.has(name) || /\.([1-5]\d\d|[1-5]XX)$/.test(name))
      const open = answers.flatMap(({ name, schema }) => {
        const places: string[] = []
        walkSchema(schema, (value, at) => {
          if (value['additionalProperties'] === true) places.push(`${name}${at}`)
        })
        return places
      })
      assert.deepEqual([...new Set(open)].sort(), openAnswers)
    })
  })

for (const file of ['openapi.json', 'openapi-v2.json'])
  describe(`generators of clients can read ${file}`, () => {
    const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/generated', file), 'utf8')) as Json
    const schemas = schemasOf(document)
    /** Lists the places of schemas for which `isWrong` is true. */
    const placesOf = (isWrong: (schema: Json) => boolean): string[] =>
      schemas.flatMap(({ name, schema }) => {
        const places: string[] = []
        walkSchema(schema, (value, at) => {
          if (isWrong(value)) places.push(`${name}${at}`)
        })
        return places
      })

    test('names of schemas do not collide with New and another name, which generators use for constructors', () => {
      const names = Object.keys(asObject(asObject(document['components'])['schemas']))
      assert.deepEqual(
        names.filter((name) => name.startsWith('New') && names.includes(name.slice(3))),
        [],
      )
      assert.deepEqual(
        names.filter((name) => /\d$|(?:Request|Response)$/.test(name) && !KNOWN_NAMES.includes(name)),
        [],
        'generators number schemas without a name, and use these endings for their own types',
      )
    })

    test('an enumeration has values other than null, and patterns work outside JavaScript', () => {
      assert.deepEqual(
        placesOf(({ enum: values }) => JSON.stringify(values) === '[null]'),
        [],
      )
      assert.deepEqual(
        placesOf(({ pattern = '' }) => /\[\^\]|\(\?<[=!]|\\p\{/.test(String(pattern))),
        [],
      )
    })

    test('a choice between objects has a discriminator', () => {
      const isObjects = (choices: unknown): boolean =>
        asList(choices).length > 0 && asList(choices).every((each) => 'properties' in resolve(document, each))
      assert.deepEqual(
        placesOf(
          ({ anyOf, oneOf, discriminator }) => discriminator === undefined && (isObjects(anyOf) || isObjects(oneOf)),
        ),
        [],
      )
    })

    test('every object with properties is a component', () => {
      const isForm = (name: string): boolean => /\.body$/.test(name)
      const inline = schemas.flatMap(({ name, schema }) => {
        const places: string[] = []
        walkSchema(schema, (value, at) => {
          const isRoot = at === '' && (!name.includes('.') || isForm(name))
          if (!isRoot && Object.keys(asObject(value['properties'])).length > 0) places.push(`${name}${at}`)
        })
        return places
      })
      assert.deepEqual(inline, [])
    })

    test('a request has one content type without ranges, and one success with a schema', () => {
      const problems = operationsOf(document).flatMap((each) => {
        const types = Object.keys(asObject(asObject(each.operation['requestBody'])['content']))
        const ranges = types.filter((type) => type.includes('*'))
        const answers = Object.entries(asObject(each.operation['responses']))
          .filter(([status]) => status.startsWith('2'))
          .flatMap(([, answer]) => Object.values(asObject(asObject(answer)['content'])))
          .map((media) => JSON.stringify(asObject(media)['schema']))
        const isUnion = new Set(answers).size > 1 && !TWO_FORMS.includes(idOf(each))
        return types.length > 1 || ranges.length > 0 || isUnion ? [`${idOf(each)} ${types} ${answers}`] : []
      })
      assert.deepEqual(problems, [])
    })

    test('a form names a file part', () => {
      const forms = operationsOf(document).flatMap((each) => {
        const form = asObject(asObject(asObject(each.operation['requestBody'])['content'])['multipart/form-data'])
        return 'schema' in form
          ? [{ id: idOf(each), properties: asObject(asObject(form['schema'])['properties']) }]
          : []
      })
      assert.deepEqual(
        forms.filter(({ properties }) => asObject(properties['file'])['format'] !== 'binary').map(({ id }) => id),
        [],
      )
    })

    test('describes every property', () => {
      const silent = schemas.flatMap(({ name, schema }) =>
        Object.entries(asObject(schema['properties']))
          .filter(([, property]) => !('$ref' in asObject(property)) && !('description' in asObject(property)))
          .map(([key]) => `${name}.${key}`),
      )
      assert.deepEqual(silent, [])
    })

    test('every operation that can be limited describes 400, 429 and the headers of its responses', () => {
      const unlimited = t.app.routeTable().filter(({ config }) => config.unlimited === true)
      const limited = operationsOf(document).filter(
        (each) => !unlimited.some(({ operationId }) => operationId === idOf(each)),
      )
      const problems = limited.flatMap((each) => {
        const responses = asObject(each.operation['responses'])
        const missing = ['400', '429'].filter((status) => !(status in responses))
        const bare = Object.entries(responses).filter(([, answer]) => !('headers' in asObject(answer)))
        return [...missing, ...bare.map(([status]) => `headers of ${status}`)].map(
          (problem) => `${idOf(each)} ${problem}`,
        )
      })
      assert.deepEqual(problems, [])
    })
  })

test('requests and responses of versions declare game_versions and environment', async () => {
  const { schemas } = (await t.anyone.get('/docs/openapi.json')).json().components
  const missing = ['VersionCreate', 'InitialVersion', 'VersionUpdate', 'Version', 'Project'].flatMap((name) =>
    ['game_versions', 'environment'].flatMap((field) => (field in schemas[name].properties ? [] : `${name}.${field}`)),
  )
  assert.deepEqual(missing, [])
})

test('the viewer loads its page, styles and scripts from Depot, and its policy blocks other origins', async () => {
  const page = await t.anyone.get(VIEWER)
  assert.equal(page.statusCode, 200)
  const loaded = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address)
  assert.ok(loaded.length >= 5, page.body)
  for (const address of loaded) {
    assert.match(address, /^\.\//)
    const file = await t.anyone.get(new URL(address, `https://depot.test${VIEWER}`).pathname)
    assert.equal(file.statusCode, 200, address)
    const isStyle = address.endsWith('.css')
    const outside = isStyle
      ? [...file.body.matchAll(/(?:url\(\s*["']?|@import\s+["'])((?:https?:)?\/\/[^"')]+)/g)]
      : [...file.body.matchAll(/(?:import\(|importScripts\(|\.src\s*=\s*)["'`]((?:https?:)?\/\/[^"'`]+)/g)]
    assert.deepEqual(
      outside.map(([, found]) => found),
      [],
      address,
    )
  }
  const initializer = await t.anyone.get(`${VIEWER}static/swagger-initializer.js`)
  assert.match(initializer.body, /const config = \{[^}]*"validatorUrl":null/)
  assert.equal(
    (await t.anyone.get(`${VIEWER}json`)).body.trim(),
    JSON.stringify((await t.anyone.get('/docs/openapi.json')).json()),
    'it shows this description',
  )
  const policy = String(page.headers['content-security-policy'])
  assert.match(policy, /(^|; )default-src 'self'/)
  const sources = policy.split(';').flatMap((directive) => directive.trim().split(/\s+/).slice(1))
  const own = ["'self'", "'none'", 'data:', 'http://127.0.0.1:8080']
  assert.deepEqual(
    sources.filter((source) => !own.includes(source)),
    [],
    policy,
  )
  assert.doesNotMatch(policy, /upgrade-insecure-requests/, 'Depot can be served without TLS, in a private network')
})
