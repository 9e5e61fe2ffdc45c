// Requests that the compiler rejects: each line below `@ts-expect-error` must be an error. Nothing runs this file.
import { createDepot, Form } from '#client/index.ts'

const depot = createDepot({ url: 'http://127.0.0.1:8080' })
const path = { id: 'lantern' }

// @ts-expect-error a path that does not exist
await depot.get('/v3/projekt/{id}', { params: { path } })
// @ts-expect-error a method that the path does not have
await depot.put('/v3/project/{id}', { params: { path } })
// @ts-expect-error without the parameter of the path
await depot.get('/v3/project/{id}')
// @ts-expect-error with another parameter
await depot.get('/v3/project/{id}', { params: { path: { slug: 'lantern' } } })
// @ts-expect-error a query parameter that does not exist
await depot.get('/v3/search', { params: { query: { page: 2 } } })
// @ts-expect-error a query parameter of another type
await depot.get('/v3/search', { params: { query: { limit: 'ten' } } })
// @ts-expect-error a body without a required field
await depot.post('/v3/collection', { body: { description: 'Lights' } })
// @ts-expect-error a value that the field does not have
await depot.patch('/v3/project/{id}', { params: { path }, body: { status: 'great' } })
// @ts-expect-error a field that does not exist
await depot.patch('/v3/project/{id}', { params: { path }, body: { titel: 'Lantern' } })
// @ts-expect-error a form where the operation needs JSON
await depot.post('/v3/collection', { body: new Form({ name: 'Lights' }, {}) })
// @ts-expect-error a form with another description
await depot.post('/v3/version/proposals', { body: new Form({ project: 'AABBCCDD' }, {}) })
// @ts-expect-error a dry run of an operation that has none
await depot.dryRun.post('/v3/collection', { body: { name: 'Lights' } })
// @ts-expect-error a list that has no pages
depot.items('/v3/project/{id}', { params: { path } })
// @ts-expect-error a path that takes no IDs
await depot.many('/v3/search', ['AABBCCDD'])
// @ts-expect-error a property that the response does not have
console.log((await depot.get('/v3/user/{id}', { params: { path } })).title)

// The same without errors.
const { name } = await depot.get('/v3/project/{id}', { params: { path } })
const { hits } = await depot.get('/v3/search', { params: { query: { limit: 10 } } })
await depot.post('/v3/version/proposals', { body: new Form({ project_id: 'AABBCCDD' }, { file: new Blob([]) }) })
const versions = await depot.many('/v3/versions', ['AABBCCDD'])
export const seen: (string | undefined)[] = [name, hits[0]?.name, versions[0]?.version_number]
