// The side of the upload page: what the version lacks, what differs from the previous version, how it will look, and the
// request to the API that does the same.

import type { VersionView } from '#features/catalogue/versions/views.ts'
import { listEntries } from '#features/community/moderation/entries/read-entries.ts'
import { missingFields } from '#taxonomy/loader-fields.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { versionPath } from '#web/kit/paths.ts'
import { fieldTexts } from '#web/site/lists/rows.ts'
import { tagNames, termName, versionRuns } from '#web/site/names.ts'
import { fileSize, timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { lastZone } from '../../zone.ts'
import type { DependencyData } from '../form/dependency-data.ts'
import type { RefusedFile } from '../form/receive-form.ts'
import type { UploadData } from '../form/upload-data.ts'
import { isOpen, rowsOf, toDependency, type VersionValues } from '../form/version-values.ts'
import { chosenTime } from './publish-part.ts'

type Shown = { values: VersionValues; dependencies: DependencyData; refused: readonly RefusedFile[]; state: FormState }

export async function uploadAside(request: OwnRequest, data: UploadData, of: Shown): Promise<Markup> {
  const { t } = request
  return html`<aside id="aside" aria-label="${t('upload.aside')}"><div class="stick scrolls">
${checksPanel(request, data, of)}
${await comparisonPanel(request, data, of)}
${previewPanel(request, data, of)}
${requestPanel(request, data, of)}
</div></aside>`
}

const panel = (title: Part, content: Part): Markup => html`<section class="panel"><h2>${title}</h2>${content}</section>`

type Check = { state: 'done' | 'todo' | 'fail'; text: string }

/** Everything that the publication needs, and the recommended changelog. */
function checksPanel(
  { page, deps }: OwnRequest,
  { draft, proposals }: UploadData,
  { values, dependencies, refused }: Shown,
): Markup {
  const { t } = page.language
  const files = draft?.files.length ?? 0
  const check = (isDone: boolean, text: string, otherwise: Check['state'] = 'todo'): Check => ({
    state: isDone ? 'done' : otherwise,
    text,
  })
  const { mrpack_loaders, environment } = values
  const fields = { ...(mrpack_loaders.length > 0 ? { mrpack_loaders } : {}), ...(environment ? { environment } : {}) }
  const others = missingFields(deps.taxonomy, values.loaders, fields).filter((name) => name !== 'game_versions')
  const open = dependencies.rows.filter(isOpen).length
  const checks = [
    check(files > 0, t('upload.check.files', { count: files })),
    refused.length > 0 && check(false, t('upload.check.refused', { count: refused.length }), 'fail'),
    ...(proposals?.unreadable_manifests ?? []).map((entry) =>
      check(false, t('upload.check.manifest', { entry }), 'fail'),
    ),
    check(values.version_number !== '', t('upload.check.number')),
    check(values.name !== '', t('upload.check.name')),
    check(values.loaders.length > 0, t('upload.check.loaders', { count: values.loaders.length })),
    check(values.game_versions.length > 0, t('upload.check.game-versions', { count: values.game_versions.length })),
    others.length > 0 && check(false, t('upload.check.others', { fields: others.map(termName).join(', ') })),
    open > 0 && check(false, t('upload.check.dependencies', { count: open }), 'fail'),
    check(values.changelog.trim() !== '', t('upload.check.changelog')),
  ].filter((item) => item !== false)
  const icons = { done: 'ok', todo: 'circle', fail: 'alert' } as const
  const items = checks.map(
    ({ state, text }) =>
      html`<li class="${state}">${icon(page, icons[state])}<span>${text}<span class="vh"> (${t(state === 'done' ? 'upload.check.done' : 'upload.check.open')})</span></span></li>`,
  )
  return panel(t('upload.checks'), html`<ul class="checks">${items}</ul>`)
}

/** Renders the differences from the previous version. A draft without files is not compared by size. */
async function comparisonPanel(
  request: OwnRequest,
  { draft, previous, path, view }: UploadData,
  { values, dependencies }: Shown,
): Promise<Part> {
  if (previous === undefined) return false
  const { page, deps, language, t } = request
  const change = (before: readonly string[], after: readonly string[]): Part => {
    const [added, removed] = [new Set(after).difference(new Set(before)), new Set(before).difference(new Set(after))]
    if (added.size + removed.size === 0) return t('upload.compare.same')
    return [
      added.size > 0 && html`<ins dir="auto">${[...added].join(', ')}</ins> `,
      removed.size > 0 && html`<del dir="auto">${[...removed].join(', ')}</del>`,
    ]
  }
  const runs = (versions: readonly string[], others: readonly string[]): string[] =>
    versionRuns(deps.taxonomy, [...new Set(versions).difference(new Set(others))])
  const games = fieldTexts(previous, 'game_versions')
  const nameOf = ({ project, file, declared }: DependencyData['rows'][number]): string =>
    dependencies.projects.get(project)?.name ?? (file || declared || project)
  const [was, is] = [previous.files, draft?.files ?? []].map((files) => files.reduce((sum, file) => sum + file.size, 0))
  const rows: [string, Part][] = [
    [t('upload.compare.published'), timeAgo(language, new Date(previous.date_published), page.now)],
    ...(is === 0 || is === undefined
      ? []
      : ([
          [t('upload.compare.files'), sizeChange(previous.files.length, draft?.files.length ?? 0, String)],
          [t('upload.compare.size'), sizeChange(was ?? 0, is, (bytes) => fileSize(language, bytes))],
        ] as [string, Part][])),
    [t('upload.loaders'), change(tagNames(page.language, previous.loaders), tagNames(page.language, values.loaders))],
    [t('upload.game-versions'), change(runs(games, values.game_versions), runs(values.game_versions, games))],
    [t('upload.dependencies'), change(rowsOf(previous).map(nameOf), dependencies.rows.map(nameOf))],
    ...(await entryChanges(request, { draft, previous })),
  ]
  const link = html`<a href="${pathTo(page, versionPath(path, previous))}">${t('upload.error.view-version')}</a>`
  return panel(
    html`<span>${t('upload.compare', { number: previous.version_number })}<span class="vh">: ${view.name}</span></span> ${link}`,
    html`<dl class="pairs">${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`,
  )
}

function sizeChange(before: number, after: number, format: (value: number) => string): string {
  const [from, to] = [format(before), format(after)]
  return from === to ? to : `${from} → ${to}`
}

/** Compares the entries of the primary files, if both are archives. */
async function entryChanges(
  { deps, page }: OwnRequest,
  { draft, previous }: Pick<UploadData, 'draft' | 'previous'>,
): Promise<[string, Part][]> {
  const primary = draft?.files.find((file) => file.primary)
  if (draft === undefined || previous === undefined || primary === undefined) return []
  const of = { versionId: draft.id, against: previous.id }
  const { files } = await listEntries(deps, of, { file: primary.id, text: '', count: 0, offset: 0 })
  const [listed] = files
  if (listed?.listed === undefined || listed.against === undefined) return []
  const { added, removed, changed } = listed.listed.counts
  const { t } = page.language
  return [[t('upload.compare.entries'), t('upload.compare.entry-counts', { added, removed, changed })]]
}

/** The version as lists will show it. */
function previewPanel({ page, deps }: OwnRequest, { draft }: UploadData, { values, dependencies }: Shown): Markup {
  const { language } = page
  const { t } = language
  const primary = draft?.files.find((file) => file.primary)
  const required = dependencies.rows
    .filter(({ type }) => type === 'required')
    .map(({ project, file, declared }) => dependencies.projects.get(project)?.name ?? (file || declared))
  const runs = [...tagNames(page.language, values.loaders), ...versionRuns(deps.taxonomy, values.game_versions)]
  const facts = [
    primary !== undefined && fileSize(language, primary.size),
    t('upload.preview.today'),
    required.length > 0 && t('upload.preview.requires', { names: new Intl.ListFormat(language.tag).format(required) }),
  ].filter((fact) => fact !== false)
  return panel(
    t('upload.preview'),
    html`<div class="note"><div><p class="strong" dir="auto">${values.version_number || t('upload.preview.no-number')}</p><p class="small" dir="auto">${values.name}</p><p class="small">${runs.join(' · ')}</p><p class="small soft" dir="auto">${facts.join(' · ')}</p></div></div>`,
  )
}

function requestPanel(request: OwnRequest, { project, draft }: UploadData, { values, state }: Shown): Markup {
  const { page, t } = request
  const zone = state.text('zone', lastZone(request))
  const at = state.text('when') === 'at' ? chosenTime(state, zone) : undefined
  const { text, isWhole } = apiRequest({
    baseUrl: page.site.url,
    projectId: project.id,
    values,
    files: draft?.files ?? [],
    scheduledAt: at === undefined ? undefined : new Date(at).toISOString(),
  })
  const more = !isWhole && html`<p class="small soft">${t('upload.api.long')}</p>`
  return panel(
    t('upload.api'),
    html`<details class="more"><summary>${t('upload.api.request')}</summary><div class="prose"><pre tabindex="0" aria-label="${t('upload.api.label')}"><code id="api-request">${text}</code></pre></div>${more}<div class="line"><button type="button" class="tight" data-copy="api-request" data-done="${t('upload.api.copied')}" hidden>${t('upload.api.copy')}</button></div></details>`,
  )
}

/** Length up to which the command contains the changelog. */
const CHANGELOG_SHOWN_MAX = 2000

type Described = {
  baseUrl: string
  projectId: string
  values: VersionValues
  files: VersionView['files']
  /** When the version is published; undefined for now. */
  scheduledAt: string | undefined
}

/** Returns the command, and whether it contains the changelog. */
function apiRequest({ baseUrl, projectId, values, files, scheduledAt }: Described): { text: string; isWhole: boolean } {
  const isWhole = values.changelog.length <= CHANGELOG_SHOWN_MAX
  const parts = files.map((file, index) => ({ ...file, part: `file-${index}` }))
  const primary = parts.find((file) => file.primary)
  const types = Object.fromEntries(
    parts.flatMap(({ part, file_type }) => (file_type === null ? [] : [[part, file_type]])),
  )
  const data = {
    project_id: projectId,
    version_number: values.version_number,
    version_title: values.name,
    ...(isWhole ? { version_body: values.changelog } : {}),
    release_channel: values.version_type,
    loaders: values.loaders,
    game_versions: values.game_versions,
    ...(values.mrpack_loaders.length > 0 ? { mrpack_loaders: values.mrpack_loaders } : {}),
    ...(values.environment === '' ? {} : { environment: values.environment }),
    dependencies: values.dependencies.map(toDependency),
    featured: values.featured,
    file_parts: parts.map(({ part }) => part),
    ...(primary !== undefined && parts.length > 1 ? { primary_file: primary.part } : {}),
    ...(Object.keys(types).length > 0 ? { file_types: types } : {}),
    ...(scheduledAt === undefined ? {} : { status: 'draft' }),
  }
  const create = [
    `curl ${quoted(`${baseUrl}/v3/version`)}`,
    '-H "Authorization: $DEPOT_TOKEN"',
    // `-F` would read a value that begins with @ or contains a semicolon as an instruction.
    `--form-string ${quoted(`data=${JSON.stringify(data, null, 2)}`)}`,
    ...parts.map(({ part, filename }) => `-F ${quoted(`${part}=@"${filename}"`)}`),
  ].join(' \\\n  ')
  if (scheduledAt === undefined) return { text: create, isWhole }
  const patch = { status: 'scheduled', requested_status: 'listed', scheduled_at: scheduledAt }
  const schedule = [
    `curl -X PATCH ${quoted(`${baseUrl}/v3/version/`)}"$ID"`,
    '-H "Authorization: $DEPOT_TOKEN"',
    "-H 'Content-Type: application/json'",
    `-d ${quoted(JSON.stringify(patch))}`,
  ].join(' \\\n  ')
  return { text: `${create}\n\n${schedule}`, isWhole }
}

/** Returns a text as one word of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
