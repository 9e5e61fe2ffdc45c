// Names and icons of the taxonomy's terms, and the texts and colours that describe a project.
import { releasesOf } from '#features/reading/search/facet-counts.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import type { Setup } from '#web/kit/cookies.ts'
import type { ProjectType } from '#web/kit/paths.ts'
import { classOfHue } from '#web/ui/hues.ts'
import type { IconName } from '#web/ui/icons.ts'
import { type Language, type MessageKey, messageOr } from '#web/ui/languages.ts'

/** Proper names that `termName` cannot derive. */
const NAMES: Readonly<Record<string, string>> = {
  neoforge: 'NeoForge',
  liteloader: 'LiteLoader',
  bungeecord: 'BungeeCord',
  optifine: 'OptiFine',
  nilloader: 'NilLoader',
  'bta-babric': 'BTA (Babric)',
}

/** Returns the English name of a term: `kitchen-sink` becomes `Kitchen sink`. */
export function termName(term: string): string {
  if (Object.hasOwn(NAMES, term)) return NAMES[term] ?? term
  const words = term.replace(/[-_]+/g, ' ').trim()
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}

/** Returns the name of a category or loader. The names of loaders are proper names, and those of other tags are English. */
export const tagName = (language: Language, tag: string): string => messageOr(language, `tags.${tag}`, termName(tag))

export const tagNames = (language: Language, tags: readonly string[]): string[] =>
  tags.map((tag) => tagName(language, tag))

export const TYPE_ICONS: Readonly<Record<ProjectType, IconName>> = {
  mod: 'box',
  modpack: 'layers',
  resourcepack: 'image',
  shader: 'sun',
  datapack: 'code',
  plugin: 'plug',
}

export const typeName = (language: Language, type: ProjectType): string => language.t(`site.type.${type}`)
export const typesName = (language: Language, type: ProjectType): string => language.t(`site.types.${type}`)

const TAG_ICONS: Readonly<Record<string, IconName>> = {
  adventure: 'sword',
  decoration: 'sun',
  economy: 'coins',
  equipment: 'shield',
  food: 'utensils',
  library: 'lib',
  magic: 'wand',
  mobs: 'bug',
  optimization: 'gauge',
  social: 'chat',
  storage: 'archive',
  technology: 'cog',
  utility: 'sliders',
  worldgen: 'map',
  transportation: 'globe',
  'game-mechanics': 'joystick',
  management: 'dashboard',
  challenging: 'trending',
  combat: 'sword',
  'kitchen-sink': 'layers',
  lightweight: 'gauge',
  multiplayer: 'users',
  quests: 'map',
  themed: 'palette',
  audio: 'bell',
  blocks: 'box',
  environment: 'leaf',
  foliage: 'leaf',
  gui: 'monitor',
  locale: 'globe',
  lighting: 'sun',
  atmosphere: 'sun',
}

export const tagIcon = (tag: string): IconName => (Object.hasOwn(TAG_ICONS, tag) && TAG_ICONS[tag]) || 'flag'

/** Minimum chroma (Oklab) of a colour; below it, a colour counts as grey. */
const CHROMA_MIN = 0.03

/** Returns the class of a project's hue (`h0` to `h345`) from its RGB colour; undefined for grey or no colour. */
export function hueClass(color: number | null | undefined): string | undefined {
  if (color === null || color === undefined) return undefined
  const [r = 0, g = 0, b = 0] = [16, 8, 0].map((shift) => {
    const part = ((color >> shift) & 255) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  // Conversion to Oklab.
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  const along = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s
  const across = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s
  if (Math.hypot(along, across) < CHROMA_MIN) return undefined
  return classOfHue((Math.atan2(across, along) * 180) / Math.PI)
}

/** Returns the releases of a list, newest first. */
export function releasesIn(taxonomy: Taxonomy, versions: readonly string[]): string[] {
  const known = taxonomy.fields.get('game_versions')?.enumValues
  return [...new Set(versions)]
    .flatMap((version) => known?.get(version) ?? [])
    .filter(({ metadata }) => metadata?.['type'] === 'release')
    .sort((a, b) => b.rank - a.rank)
    .map(({ value }) => value)
}

/** Groups releases into runs without a gap (`1.20 – 1.20.4`), newest first. Other versions follow one by one. */
export function versionRuns(taxonomy: Taxonomy, versions: readonly string[]): string[] {
  const order = releasesOf(taxonomy)
  const runs: { from: string; to: string }[] = []
  for (const release of releasesIn(taxonomy, versions)) {
    const run = runs.at(-1)
    if (run !== undefined && order.indexOf(run.from) + 1 === order.indexOf(release)) run.from = release
    else runs.push({ from: release, to: release })
  }
  const named = runs.map(({ from, to }) => (from === to ? from : `${from} – ${to}`))
  return [...named, ...new Set(versions).difference(new Set(order))]
}

/** Returns the range from the oldest to the newest release. */
export function versionRange(taxonomy: Taxonomy, versions: readonly string[]): string | undefined {
  const releases = releasesIn(taxonomy, versions)
  const [from, to] = [releases.at(-1), releases[0]]
  if (from === undefined) return versions[0]
  return from === to ? from : `${from} – ${to}`
}

const RUNS_ON: Readonly<Record<string, MessageKey>> = {
  'required required': 'site.runs.both',
  'required optional': 'site.runs.client-optional-server',
  'optional required': 'site.runs.server-optional-client',
  'required unsupported': 'site.runs.client',
  'unsupported required': 'site.runs.server',
  'optional unsupported': 'site.runs.client',
  'unsupported optional': 'site.runs.server',
  'optional optional': 'site.runs.either',
}

/** Describes where a project runs; undefined if the project does not specify it. */
export function runsOn(language: Language, client: string | undefined, server: string | undefined): string | undefined {
  const key = RUNS_ON[`${client} ${server}`]
  return key === undefined ? undefined : language.t(key)
}

const ENVIRONMENTS = [
  'client_and_server',
  'client_only',
  'client_only_server_optional',
  'singleplayer_only',
  'server_only',
  'server_only_client_optional',
  'dedicated_server_only',
  'client_or_server',
  'client_or_server_prefers_both',
] as const
const BY_TYPE = ['plugin', 'datapack', 'shader', 'resourcepack'] as const

/**
 * Describes in a sentence where a project or a version must be installed; undefined if that is unknown. Types that run on
 * one side only have their own sentence.
 */
export function environmentText(
  language: Language,
  types: readonly string[],
  environment: string | null,
): string | undefined {
  const only = BY_TYPE.find((type) => types.length === 1 && types[0] === type)
  const known = only ?? ENVIRONMENTS.find((name) => name === environment)
  return known === undefined ? undefined : language.t(`project.environment.${known}`)
}

/** Names of services as they write themselves. */
const SERVICES: Readonly<Record<string, string>> = {
  discord: 'Discord',
  patreon: 'Patreon',
  bmac: 'Buy Me a Coffee',
  paypal: 'PayPal',
  github: 'GitHub Sponsors',
  'ko-fi': 'Ko-fi',
}

/** Returns the name of a service that links lead to; undefined if the platform is not a service. */
export function serviceName(platform: string): string | undefined {
  return Object.hasOwn(SERVICES, platform) ? SERVICES[platform] : undefined
}

/** Returns the name of a platform of links: of the service, or the purpose of the link. */
export const linkName = (language: Language, platform: string): string =>
  serviceName(platform) ?? messageOr(language, `site.link.${platform}`, termName(platform))

/** Returns the name of a role in a team: users write their own, except for those that Depot gives. */
export function roleName({ t }: Language, role: string): string {
  if (role === 'Owner') return t('people.owner')
  return role === 'Member' ? t('people.member') : role
}

/** Returns the name of a setup: `1.21.4 on Fabric`; empty if the visitor chose nothing. */
export function setupName(language: Language, { gameVersion, loader }: Setup): string {
  if (gameVersion === '') return tagName(language, loader)
  const values = { version: gameVersion, loader: tagName(language, loader) }
  return loader === '' ? gameVersion : language.t('site.setup.both', values)
}
