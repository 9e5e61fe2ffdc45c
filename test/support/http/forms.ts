// Multipart bodies and small archives for requests.
import { makeZip, type TestEntry } from '../factories/archives.ts'

export type FormFile = { name: string; filename?: string; bytes: Uint8Array }
export type Form = { payload: Buffer; headers: { 'content-type': string } }

/** A small image. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAEElEQVQI12P4f4YBiBggFAA2PgctYFZQWAAAAABJRU5ErkJggg==',
  'base64',
)

/** A form with the part `data` first (unless undefined), then the files. */
export async function form(data: unknown, files: readonly FormFile[] = []): Promise<Form> {
  const body = new FormData()
  if (data !== undefined) body.append('data', JSON.stringify(data))
  for (const { name, filename, bytes } of files)
    body.append(name, new Blob([Uint8Array.from(bytes)]), filename ?? `${name}.jar`)
  const response = new Response(body)
  return {
    payload: Buffer.from(await response.arrayBuffer()),
    headers: { 'content-type': response.headers.get('content-type') ?? '' },
  }
}

/** A mod archive for the loader fabric; `salt` makes its bytes its own. */
export function modJar(salt: string, more: readonly TestEntry[] = []): Buffer {
  return makeZip([{ name: 'fabric.mod.json', data: JSON.stringify({ schemaVersion: 1, id: 'test', salt }) }, ...more])
}

/** `data` of a version, complete; override what a test is about. */
export function versionData(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    version_number: '1.0.0',
    version_title: 'First light',
    version_body: 'All of it.',
    dependencies: [],
    release_channel: 'release',
    loaders: ['fabric'],
    game_versions: ['1.20.1'],
    featured: false,
    file_parts: ['file'],
    ...fields,
  }
}

/** `data` of a project, complete; override what a test is about. */
export function projectData(slug: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: `Project ${slug}`.slice(0, 64),
    slug,
    summary: 'A project for a test.',
    description: '# Test',
    categories: ['magic'],
    license_id: 'MIT',
    is_draft: true,
    initial_versions: [],
    ...fields,
  }
}

/** The same in the v2 API. */
export function versionDataV2(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    version_number: '1.0.0',
    name: 'First light',
    changelog: 'All of it.',
    dependencies: [],
    version_type: 'release',
    loaders: ['fabric'],
    game_versions: ['1.20.1'],
    featured: false,
    file_parts: ['file'],
    ...fields,
  }
}

/** Complete `data` of a project in the v2 API. */
export function projectDataV2(slug: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    title: `Project ${slug}`.slice(0, 64),
    project_type: 'mod',
    slug,
    description: 'A project for a test.',
    body: '# Test',
    client_side: 'required',
    server_side: 'optional',
    categories: ['magic'],
    license_id: 'MIT',
    is_draft: true,
    initial_versions: [],
    ...fields,
  }
}
