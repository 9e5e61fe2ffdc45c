// Messages like GitHub's, for programs that understand nothing else.
import { createHash, createHmac } from 'node:crypto'
import type { EventFacts, Payload } from './payload.ts'

type Site = { baseUrl: string }

/** Returns the name of the event and the body. A published version is a release; other events keep their own name. */
export function githubMessage(
  { kind, at }: EventFacts,
  { data, project, version }: Payload,
  { baseUrl }: Site,
): { event: string; body: string } {
  if (kind === 'webhook.ping') return { event: 'ping', body: JSON.stringify({ zen: 'Pings arrive.', ...data }) }
  const action = kind.slice(kind.indexOf('.') + 1)
  const repository = repositoryOf(data, project, baseUrl)
  if (version === undefined) {
    const event = kind.slice(0, kind.indexOf('.'))
    return { event, body: JSON.stringify({ action, ...data, ...(repository && { repository }) }) }
  }
  const release = {
    id: version['id'],
    tag_name: version['version_number'],
    name: version['name'],
    body: version['changelog'],
    draft: false,
    prerelease: version['version_type'] !== 'release',
    published_at: version['date_published'],
    created_at: version['date_published'],
    html_url: `${baseUrl}/project/${String(data['project_id'])}/version/${String(version['id'])}`,
    assets: assetsOf(version),
  }
  const known = ['published', 'removed'].includes(action)
  const releaseAction = known ? action.replace('removed', 'deleted') : 'edited'
  const body = { action: releaseAction, release, repository, timestamp: at.toISOString() }
  return { event: 'release', body: JSON.stringify(body) }
}

function repositoryOf(data: Payload['data'], project: Payload['project'], baseUrl: string) {
  const id = data['project_id']
  if (typeof id !== 'string') return undefined
  const name = project?.['slug'] ?? id
  return { id, name, full_name: name, description: project?.['summary'] ?? null, html_url: `${baseUrl}/project/${id}` }
}

function assetsOf(version: NonNullable<Payload['version']>) {
  const files = Array.isArray(version['files']) ? (version['files'] as Record<string, unknown>[]) : []
  return files.map(({ filename, size, url }) => ({ name: filename, size, browser_download_url: url }))
}

export function githubSignature(secret: Buffer | string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

/** Returns the identifier of a message as a UUID (version 8). */
export function githubDelivery(id: string): string {
  const hex = createHash('sha256').update(id).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
