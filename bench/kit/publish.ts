// Users and projects of a server that is measured, made over its API.
import { setTimeout as sleep } from 'node:timers/promises'
import { makeZip } from '#test/support/factories/archives.ts'
import { depot } from '#test/support/processes/running-depot.ts'
import { call } from './servers.ts'

export const PASSWORD = 'violet-harbour-lantern-42'
const UNTIL_FOUND_MS = 20_000

export const author = (dataDir: string): Promise<string> => createToken(dataDir, 'bench', ['--role', 'admin'])

/** Creates a user, and returns a token of every scope. */
export async function createToken(dataDir: string, name: string, options: string[] = []): Promise<string> {
  const user = ['--username', name, '--email', `${name}@example.org`, '--password', PASSWORD]
  await depot(dataDir, ['user', 'create', ...user, ...options])
  const { stdout } = await depot(dataDir, ['token', 'create', '--user', name, '--scopes', 'all'])
  return stdout.trim()
}

/** The fields that all versions of the benchmarks share. */
export const VERSION = {
  release_channel: 'release',
  loaders: ['fabric'],
  game_versions: ['1.20.1'],
  dependencies: [],
  featured: false,
  file_parts: ['file'],
}

export async function publishProjects(url: string, token: string, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i += 1) {
    const form = new FormData()
    const version = { ...VERSION, version_number: '1.0', version_title: 'One' }
    form.append(
      'data',
      JSON.stringify({
        name: `Bench ${i}`,
        slug: `bench-${i}`,
        summary: 'A project to measure with.',
        description: 'x'.repeat(2000),
        categories: ['magic'],
        license_id: 'MIT',
        initial_versions: [version],
      }),
    )
    form.append(
      'file',
      new Blob([Uint8Array.from(makeZip([{ name: 'fabric.mod.json', data: `{"n":${i}}` }]))]),
      'bench.jar',
    )
    const created = await call(`${url}/v3/project`, { method: 'POST', token, body: form })
    const { id } = (await created.json()) as { id: string }
    await call(`${url}/v3/project/${id}`, {
      method: 'PATCH',
      token,
      body: '{"status":"approved"}',
      headers: { 'content-type': 'application/json' },
    })
    ids.push(id)
  }
  return ids
}

/** Waits until the search index has all projects, so that a search returns a full page. */
export async function untilFound(url: string, count: number): Promise<void> {
  for (const startedAt = performance.now(); performance.now() - startedAt < UNTIL_FOUND_MS; await sleep(100)) {
    const { total_hits } = (await (await call(`${url}/v3/search`)).json()) as { total_hits: number }
    if (total_hits === count) return
  }
  throw new Error('The search index has not found the projects')
}
