// Messages for Discord webhooks.
import { cut, escaped, toDiscordText } from './discord-text.ts'
import type { Author, EventFacts, Payload } from './payload.ts'

export type Site = { name: string; baseUrl: string; accentHue: number | null }

/** Discord's limits, in characters. */
const MAX = { username: 80, title: 256, author: 256, field: 1024, footer: 2048 } as const
/** Longer texts would fill the channel. */
const TEXT_MAX = 2000
const DEFAULT_HUE = 150

const SENTENCES: Readonly<Record<string, string>> = {
  'project.created': 'New project',
  'project.updated': 'Project updated',
  'project.status_changed': 'Status of the project changed',
  'project.removed': 'Project removed',
  'project.transferred': 'Project has a new owner',
  'version.published': 'New version',
  'version.updated': 'Version updated',
  'version.withdrawn': 'Version withdrawn',
  'version.removed': 'Version removed',
  'member.invited': 'Member invited',
  'member.joined': 'Member joined',
  'member.left': 'Member left',
  'report.created': 'New report',
  'report.closed': 'Report closed',
  'scan.quarantined': 'Version held back by the file scanner',
  'advisory.published': 'Security advisory published',
  'organization.project_added': 'Project added to the organization',
  'organization.project_removed': 'Project removed from the organization',
  'collection.updated': 'Collection updated',
  'account.created': 'New account',
  'dependency.broken': 'A dependency does not work any more',
  'webhook.ping': 'This webhook works',
}

export function discordBody(
  { kind, at }: EventFacts,
  { data, project, version, advisory, author }: Payload,
  site: Site,
): string {
  const name = text(project?.['name'])
  const number = text(version?.['version_number'])
  const subject = text(advisory?.['summary']) || [name, number].filter((part) => part !== '').join(' ')
  const sentence = SENTENCES[kind] ?? kind
  const url = pageOf(data, site.baseUrl)
  const icon = text(project?.['icon_url'])
  const markdown = text(advisory?.['details']) || (kind === 'version.published' ? text(version?.['changelog']) : '')
  const excerpt =
    markdown === '' ? cut(escaped(text(project?.['summary'])), TEXT_MAX) : toDiscordText(markdown, TEXT_MAX)
  const image = WITH_IMAGE.includes(kind) ? imageOf(project) : undefined
  const embed = {
    title: cut(subject === '' ? sentence : `${sentence}: ${escaped(subject)}`, MAX.title),
    ...(url === undefined ? {} : { url }),
    ...(excerpt === '' ? {} : { description: excerpt }),
    ...(author === undefined ? {} : { author: authorOf(author, site.baseUrl) }),
    color: colourOf(project?.['color'], site.accentHue),
    timestamp: at.toISOString(),
    ...(isPublicImage(icon) ? { thumbnail: { url: icon } } : {}),
    ...(image === undefined ? {} : { image: { url: image } }),
    fields: fieldsOf(kind, data, version),
    footer: { text: cut(site.name, MAX.footer) },
  }
  return JSON.stringify({ username: usernameOf(site.name), allowed_mentions: { parse: [] }, embeds: [embed] })
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Discord loads images from public addresses only. */
const isPublicImage = (url: unknown): url is string => typeof url === 'string' && url.startsWith('https://')

function authorOf({ username, avatar_url }: Author, baseUrl: string) {
  const icon = isPublicImage(avatar_url) ? { icon_url: avatar_url } : {}
  return { name: cut(username, MAX.author), url: `${baseUrl}/user/${encodeURIComponent(username)}`, ...icon }
}

/** Events that introduce a project or a version, for which the image of the project is shown. */
const WITH_IMAGE = ['project.created', 'project.status_changed', 'version.published']

/** Returns the URL of the featured image of the gallery. */
function imageOf(project: Payload['project']): string | undefined {
  const gallery = Array.isArray(project?.['gallery']) ? (project['gallery'] as Record<string, unknown>[]) : []
  const url = gallery.find(({ featured }) => featured === true)?.['url']
  return isPublicImage(url) ? url : undefined
}

/** Discord refuses names that contain its own. */
function usernameOf(name: string): string {
  const clean = name.replace(/discord|clyde/gi, '').trim()
  return cut(clean === '' ? 'Depot' : clean, MAX.username)
}

function colourOf(colour: unknown, hue: number | null): number {
  if (typeof colour === 'number' && Number.isInteger(colour) && colour >= 0 && colour <= 0xffffff) return colour
  return hueToColour(hue ?? DEFAULT_HUE)
}

/** A colour of medium saturation and lightness. */
function hueToColour(hue: number): number {
  const channel = (offset: number): number => {
    const at = (offset + hue / 30) % 12
    return Math.round(255 * (0.45 - 0.27 * Math.max(-1, Math.min(at - 3, 9 - at, 1))))
  }
  return channel(0) * 0x10000 + channel(8) * 0x100 + channel(4)
}

function pageOf(data: Payload['data'], baseUrl: string): string | undefined {
  const { project_id, version_id, organization_id, collection_id, report_id, user_id, advisory_id } = data
  if (typeof advisory_id === 'string') return `${baseUrl}/advisory/${advisory_id}`
  if (typeof project_id === 'string') {
    const version = typeof version_id === 'string' ? `/version/${version_id}` : ''
    return `${baseUrl}/project/${project_id}${version}`
  }
  if (typeof organization_id === 'string') return `${baseUrl}/organization/${organization_id}`
  if (typeof collection_id === 'string') return `${baseUrl}/collection/${collection_id}`
  if (typeof report_id === 'string') return `${baseUrl}/moderation/report/${report_id}`
  return typeof user_id === 'string' ? `${baseUrl}/user/${user_id}` : undefined
}

/** Only the event about a status has one: readers of a channel do not need the states of drafts. */
function fieldsOf(kind: string, data: Payload['data'], version: Payload['version']) {
  const gameVersions = Array.isArray(version?.['game_versions']) ? (version['game_versions'] as unknown[]) : []
  const loaders = Array.isArray(version?.['loaders']) ? (version['loaders'] as unknown[]) : []
  const rows: [string, string][] = [
    ['Channel', text(version?.['version_type'])],
    ['Loaders', loaders.join(', ')],
    ['Game versions', gameVersions.join(', ')],
    ['Status', kind === 'project.status_changed' ? text(data['to']) : ''],
  ]
  return rows
    .filter(([, value]) => value !== '')
    .map(([name, value]) => ({ name, value: cut(escaped(value), MAX.field), inline: true }))
}
