// Calls an instance with the client that openapi-generator made.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import depot from './depot-typescript/dist/index.js'

const { DEPOT_URL, DEPOT_TOKEN, DEPOT_PROJECT, DEPOT_JAR } = process.env
const configuration = new depot.Configuration({ basePath: DEPOT_URL, apiKey: DEPOT_TOKEN })
const projects = new depot.ProjectsApi(configuration)

const found = await new depot.SearchApi(configuration).searchProjects({ query: 'lantern', limit: 5 })
assert.ok(found.total_hits >= 1)
assert.equal((await projects.getProject({ id: DEPOT_PROJECT })).slug, DEPOT_PROJECT)

const failure = await projects.getProject({ id: 'no-such-project' }).catch((error) => error)
assert.ok(failure instanceof depot.ResponseError)
assert.equal((await failure.response.json()).error, 'not_found')

const project = await projects.createProject({
  data: {
    name: 'Lantern of TypeScript',
    slug: 'lantern-of-typescript',
    summary: 'Light for long nights.',
    description: '# Lantern',
    categories: ['magic'],
    license_id: 'MIT',
    is_draft: true,
  },
})
const version = await new depot.VersionsApi(configuration).createVersion({
  data: {
    project_id: project.id,
    version_number: '1.0.0',
    version_title: 'First light',
    version_body: '',
    release_channel: 'release',
    dependencies: [],
    loaders: ['fabric'],
    game_versions: ['1.20.1'],
    featured: false,
    file_parts: ['file'],
  },
  file: new File([readFileSync(DEPOT_JAR)], 'lantern-1.0.0.jar'),
})
assert.equal(version.files[0].filename, 'lantern-1.0.0.jar')

const end = new Date()
const slices = await new depot.AnalyticsApi(configuration).queryAnalytics({
  analyticsQuery: {
    time_range: { start: new Date(end - 86_400_000), end, resolution: { slices: 2 } },
    return_metrics: { project_downloads: {} },
    project_ids: [project.id],
  },
})
assert.equal(slices.length, 2)
