// The difference between a version and the previous one: what it supports, what it needs, and the files in its archive.
import type { VersionView } from '#features/catalogue/versions/views.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { fileSize } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext } from '#web/ui/page-context.ts'
import { fieldTexts } from '../lists/rows.ts'
import { tagNames, versionRuns } from '../names.ts'
import { type Dependency, primaryFile } from '../project/offer.ts'
import type { ContentsFile } from './version-contents.ts'

/** A version with its dependencies, without those that are hidden from the viewer. */
export type Compared = { version: VersionView; dependencies: readonly Dependency[] }

export type Comparison = {
  now: Compared
  before: Compared
  /** The files of the newer version, compared with those of the older one. */
  contents: readonly ContentsFile[] | undefined
  /** Link to the entries that differ. */
  entriesHref: string
}

/** Shows the differences, or that there are none. */
export function comparison(page: PageContext, taxonomy: Taxonomy, of: Comparison): Markup {
  const { language } = page
  const { now, before, contents, entriesHref } = of
  const games = (each: Compared) => fieldTexts(each.version, 'game_versions')
  const lines: Part[] = [
    ...changeLines(page, language.t('site.facet.v'), setChange(games(now), games(before)), (list) =>
      versionRuns(taxonomy, list).join(', '),
    ),
    ...changeLines(page, language.t('site.facet.l'), setChange(now.version.loaders, before.version.loaders), (list) =>
      tagNames(language, list).join(', '),
    ),
    ...dependencyLines(page, now.dependencies, before.dependencies),
    sizeLine(page, now.version, before.version),
    contents?.map((file) => entriesLine(page, file, entriesHref)),
  ]
  const shown = lines.flat().filter((line) => line !== null && line !== undefined && line !== false)
  return shown.length === 0
    ? html`<p class="soft">${language.t('project.compare.same')}</p>`
    : html`<ul class="compare">
${shown}</ul>`
}

/** Maximum number of dependencies in the list. A pack can contain thousands. */
const DEPENDENCIES_MAX = 30

type Change = { added: string[]; removed: string[] }

function setChange(now: readonly string[], before: readonly string[]): Change {
  return {
    added: now.filter((value) => !before.includes(value)),
    removed: before.filter((value) => !now.includes(value)),
  }
}

function changeLines(
  page: PageContext,
  what: string,
  { added, removed }: Change,
  textOf: (values: string[]) => string,
): Part[] {
  return [
    added.length > 0 && line(page, 'added', html`${what}: ${textOf(added)}`),
    removed.length > 0 && line(page, 'removed', html`${what}: ${textOf(removed)}`),
  ]
}

const ICONS = { added: 'plus', removed: 'x', changed: 'pencil' } as const

function line(page: PageContext, kind: keyof typeof ICONS, text: Part): Markup {
  return html`<li class="${kind}">${icon(page, ICONS[kind])}<span><span class="vh">${page.language.t(`project.compare.${kind}`)} </span>${text}</span></li>
`
}

/** Compares dependencies by their project; a file outside the catalogue has only a name. */
function dependencyLines(page: PageContext, now: readonly Dependency[], before: readonly Dependency[]): Part[] {
  const { language } = page
  const keyOf = ({ project, fileName }: Dependency) => project?.id ?? `file ${fileName}`
  const nameOf = ({ project, fileName }: Dependency) => html`<bdi>${project?.name ?? fileName}</bdi>`
  const typeOf = ({ type }: Dependency) => language.t(`site.dependency.${type as 'required'}`)
  const old = new Map(before.map((each) => [keyOf(each), each]))
  const current = new Set(now.map(keyOf))
  const lines = now.map((each) => {
    const previous = old.get(keyOf(each))
    if (previous === undefined) return line(page, 'added', html`${nameOf(each)} (${typeOf(each)})`)
    if (previous.type === each.type) return null
    return line(page, 'changed', html`${nameOf(each)}: ${typeOf(previous)} → ${typeOf(each)}`)
  })
  const gone = [...old].filter(([key]) => !current.has(key))
  const all = [...lines, ...gone.map(([, each]) => line(page, 'removed', html`${nameOf(each)} (${typeOf(each)})`))]
  const shown = all.filter((each) => each !== null)
  const more = shown.length - DEPENDENCIES_MAX
  return more <= 0
    ? shown
    : [...shown.slice(0, DEPENDENCIES_MAX), line(page, 'changed', language.t('project.compare.more', { count: more }))]
}

function sizeLine(page: PageContext, now: VersionView, before: VersionView): Part {
  const { language } = page
  const [size, previous] = [primaryFile(now)?.size, primaryFile(before)?.size]
  if (size === undefined || previous === undefined || size === previous) return null
  const by = fileSize(language, Math.abs(size - previous))
  const text = language.t(size > previous ? 'project.compare.larger' : 'project.compare.smaller', { size: by })
  return line(page, 'changed', text)
}

function entriesLine(page: PageContext, { filename, counts, isCompared, entries }: ContentsFile, href: string): Part {
  const { added, removed, changed } = counts
  if (!isCompared || entries === undefined || added + removed + changed === 0) return null
  const text = Object.entries({ added, removed, changed })
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => page.language.t(`project.compare.count.${kind as 'added'}`, { count }))
    .join(', ')
  return line(page, 'changed', html`<bdi>${filename}</bdi>: <a href="${href}">${text}</a>`)
}
