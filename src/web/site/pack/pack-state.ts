// The pack of a visitor: it is in the address of its page, so that it needs neither an account nor a script.
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import type { AnswerView } from '#features/catalogue/resolve/views.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { PACK_PROJECTS_MAX } from '#features/community/packs/requests.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { PATHS } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'

export type PackState = {
  /** IDs or slugs of projects. */
  projects: readonly string[]
  loader: string
  gameVersion: string
  name: string
  loaderVersion: string
  /** ID of the saved pack that the visitor edits; empty for a new pack. */
  pack: string
}

/** The chosen versions with everything that the page names. */
export type ShownPack = {
  state: PackState
  answer: AnswerView
  projects: ReadonlyMap<string, ProjectView>
  versions: ReadonlyMap<string, VersionView>
  /** Names of required files that neither the pack nor the catalogue contains. */
  external: readonly string[]
  /** Whether the lock in the address is that of the answer: the files are ready. */
  isStored: boolean
  /** Parts without which players cannot use the pack. */
  lacks: { projects: readonly string[]; gameVersion: boolean; loader: boolean; loaderVersion: boolean }
}

const KEYS = ['loader', 'game_version', 'name', 'loader_version'] as const

/** Reads the pack from values by their names. Without a loader and a game version, those of the visitor's setup count. */
export function readPack(
  { deps, setup }: Pick<PageRequest, 'deps' | 'setup'>,
  value: (name: string) => string,
  has: (name: string) => boolean,
): PackState {
  const added = value('add')
  const named = [...value('projects').split(','), added].filter((name) => /^[A-Za-z0-9._-]{1,64}$/.test(name))
  const loader = has('loader') ? value('loader') : setup.loader
  const gameVersion = has('game_version') ? value('game_version') : setup.gameVersion
  return {
    projects: [...new Set(named)].slice(0, PACK_PROJECTS_MAX),
    loader: deps.taxonomy.loaders.has(loader) ? loader : '',
    gameVersion: isGameVersion(deps.taxonomy, gameVersion) ? gameVersion : '',
    name: lineOf(value('name'), 128),
    loaderVersion: lineOf(value('loader_version'), 64),
    pack: /^[0-9A-Za-z]{0,11}$/.exec(value('pack'))?.[0] ?? '',
  }
}

function isGameVersion(taxonomy: Taxonomy, value: string): boolean {
  return taxonomy.fields.get('game_versions')?.enumValues?.has(value) === true
}

function lineOf(text: string, max: number): string {
  return text
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, max)
    .toWellFormed()
}

/** The values of a form or of a query. */
export function packValues({
  projects,
  loader,
  gameVersion,
  name,
  loaderVersion,
  pack,
}: PackState): Record<string, string> {
  const [first, second, third, fourth] = KEYS
  return {
    projects: projects.join(','),
    [first]: loader,
    [second]: gameVersion,
    ...(name === '' ? {} : { [third]: name }),
    ...(loaderVersion === '' ? {} : { [fourth]: loaderVersion }),
    ...(pack === '' ? {} : { pack }),
  }
}

export function packPath(state: PackState, lock?: string): string {
  const query = new URLSearchParams({ ...packValues(state), ...(lock === undefined ? {} : { lock }) })
  return `${PATHS.pack}?${query}`
}
