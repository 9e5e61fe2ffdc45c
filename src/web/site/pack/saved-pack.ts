// The page of a saved pack: its newest save, the files for launchers at addresses that stay the same, and earlier saves.
import type { FastifyReply } from 'fastify'
import { findPreviousOwner } from '#features/basics/previous-names/queries.ts'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { getLockContent } from '#features/catalogue/resolve/locks/store-lock.ts'
import { listContainedExternals } from '#features/catalogue/resolve/queries.ts'
import type { AnswerView } from '#features/catalogue/resolve/views.ts'
import { listVisibleVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { findPackBySlug, listSaves, type PackReadRow, type SaveRow } from '#features/community/packs/queries.ts'
import { type CachedUser, getCachedUser } from '#features/people/users/user-cache.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { errorsOf, type FormRefusal } from '#web/kit/forms/read-form.ts'
import { savedPackPath, userPath } from '#web/kit/paths.ts'
import { noticeOf, type PageRequest } from '#web/kit/request.ts'
import { dayText, fileSize, timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { doneNote } from '#web/ui/parts/actions.ts'
import { buttonForm, errorSummary } from '#web/ui/parts/fields.ts'
import { note } from '#web/ui/parts/lists.ts'
import { embedPath } from '../machines/embed.ts'
import { setupName, tagName } from '../names.ts'
import { copyButton, shareButton } from '../version/version-parts.ts'
import { launcherMenu } from './launcher-menu.ts'
import { externalList, externalsOf, lackingNote, type PackItem, packCover, packTable } from './pack-rows.ts'
import { packPath } from './pack-state.ts'

/** Number of earlier saves that the page lists. */
const SAVES_SHOWN = 10

export type SavedPack = { pack: PackReadRow; owner: CachedUser; path: string }

/**
 * Loads the pack of the path and runs `act`. A path with another case, or with a previous name of the user or the pack,
 * leads to the present path.
 * @throws ApiError 404 if there is no such pack that the viewer can see
 */
export function withSavedPack(act: (request: PageRequest, saved: SavedPack) => Promise<FastifyReply>) {
  return async (request: PageRequest): Promise<FastifyReply> => {
    const { deps, viewer, param, page, req, redirectPermanently } = request
    const owner = await findOwner(request)
    const pack = await findPackBySlug(deps.db, viewer, { accountId: viewOf(owner).id, slug: param('slug') })
    if (pack === undefined) throw notFound('pack')
    const path = savedPackPath(owner.username, pack.slug)
    const isPresent = owner.username === param('user') && pack.slug === param('slug')
    if (isPresent || req.method === 'POST') return act(request, { pack, owner, path })
    const below = (page.address.split('?')[0] ?? '').split('/').slice(4)
    return redirectPermanently([path, ...below].join('/'))
  }
}

async function findOwner({ deps, param }: PageRequest): Promise<CachedUser> {
  try {
    return await getCachedUser(deps, param('user'))
  } catch (error) {
    const isMissing = error instanceof ApiError && error.status === 404
    const id = isMissing ? await findPreviousOwner(deps.db, 'account', param('user')) : undefined
    if (id === undefined) throw error
    return getCachedUser(deps, id)
  }
}

/** `refusal`: the reason why the versions could not be updated. */
export async function showSavedPack(
  request: PageRequest,
  saved: SavedPack,
  refusal?: FormRefusal,
): Promise<FastifyReply> {
  const { deps, page, show, language } = request
  const { pack, owner, path } = saved
  const answer = JSON.parse(await getLockContent(deps, pack.lock_id)) as AnswerView
  const ids = answer.chosen.map(({ version_id }) => version_id)
  const versions = (await listVisibleVersions(deps, null, ids)).map(viewOf)
  const projectIds = answer.chosen.map(({ project_id }) => project_id)
  const projects = (await listVisibleProjects(deps, null, projectIds)).map(viewOf)
  const named = {
    projects: new Map(projects.map((project) => [project.id, project])),
    versions: new Map(versions.map((version) => [version.id, version])),
  }
  const lost = answer.chosen
    .filter(({ version_id }) => !named.versions.has(version_id))
    .map(({ project_id }) => named.projects.get(project_id)?.name ?? project_id)
  const shown: ShownSave = { ...named, answer, isInstallable: lost.length === 0 }
  const { own, required } = contentsOf(shown)
  const external = externalsOf(answer, await listContainedExternals(deps.db, ids))
  return show({
    title: pack.name,
    canonical: path,
    isUnlisted: pack.status !== 'listed',
    insiders: new Set([pack.account_id]),
    openGraph: { type: 'website' },
    ...(pack.status === 'listed' ? { embed: embedPath(page, path) } : {}),
    description: language.t('site.saved-pack.about', { name: pack.name, owner: owner.username }),
    refusal,
    body: html`${notes(request, saved, { lost, external })}${errorSummary(page, errorsOf({ refusal }))}
${packHead(request, saved, shown)}
<div class="sheet split"><div class="list">
${packTable(page, shown, language.t('site.count.project', { count: own.length }), own)}
${packTable(page, shown, language.t('site.pack.required'), required)}
${externalList(page, shown, external)}
</div><aside aria-label="${language.t('site.about', { name: pack.name })}">
${details(request, saved, shown)}
${history(page, path, await listSaves(deps.db, pack.id, SAVES_SHOWN))}
</aside></div>`,
  })
}

/** The newest save. `isInstallable`: whether all of its versions are public. */
type ShownSave = {
  answer: AnswerView
  projects: ReadonlyMap<string, ProjectView>
  versions: ReadonlyMap<string, VersionView>
  isInstallable: boolean
}

/** Returns the rows of the projects that the owner added, in the owner's order, and of those that they require. */
function contentsOf({ answer: { items, chosen } }: ShownSave): { own: PackItem[]; required: PackItem[] } {
  const byProject = new Map(chosen.map((each) => [each.project_id, each]))
  const requested = new Set(items.flatMap(({ project_id }) => project_id ?? []))
  const rows = (ids: readonly string[]) =>
    ids.flatMap((projectId) => {
      const each = byProject.get(projectId)
      return each === undefined ? [] : [{ projectId, chosen: each }]
    })
  const rest = chosen.flatMap(({ project_id }) => (requested.has(project_id) ? [] : project_id))
  return { own: rows([...requested]), required: rows(rest) }
}

function packHead(request: PageRequest, { pack, owner, path }: SavedPack, shown: ShownSave): Markup {
  const { page, viewer, language } = request
  const { loader, game_version: gameVersion, loader_version, updated } = pack
  const files = shown.answer.chosen.flatMap(({ file }) => file ?? [])
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  const ownerLink = html`<a href="${pathTo(page, userPath(owner.username))}"><bdi>${owner.username}</bdi></a>`
  const fact = (name: IconName, label: string, content: Part) =>
    html`<div><dt class="vh">${label}</dt><dd>${icon(page, name)} ${content}</dd></div>`
  const setup = html`${setupName(language, { gameVersion, loader: loader ?? '' })}${loader_version !== null && html` <bdi>${loader_version}</bdi>`}`
  const size = language.t('site.saved-pack.size', { count: files.length, size: fileSize(language, bytes) })
  const at = timeAgo(language, updated, page.now)
  return html`<div class="hero">${packCover(page, shown, pack.projects)}
<div><h1 dir="auto">${pack.name}</h1>
<p class="what">${language.rich('site.by', { name: ownerLink })}</p>
<dl class="facts">${fact('joystick', language.t('collections.packs.setup'), setup)}${fact('file', language.t('site.files'), size)}${fact('clock', language.t('site.updated'), language.rich('site.updated-at', { at }))}</dl>
<div class="acts">${viewer?.id === pack.account_id && ownerButtons(page, { pack, path })}${shareButton(page, pack)}<a class="button" href="${pathTo(page, packPath(stateOf(pack)))}" rel="nofollow">${icon(page, 'layers')}${language.t('site.saved-pack.copy')}</a></div></div>
${shown.isInstallable && saveFiles(request, path)}
</div>`
}

const stateOf = ({ projects, loader, game_version, name, loader_version }: PackReadRow, pack = '') => ({
  projects,
  loader: loader ?? '',
  gameVersion: game_version,
  name,
  loaderVersion: loader_version ?? '',
  pack,
})

/**
 * `lost`: the projects of which the newest save contains a version that is no longer public. `external`: required files that
 * the pack does not contain.
 */
function notes(
  request: PageRequest,
  { pack }: SavedPack,
  { lost, external }: { lost: readonly string[]; external: readonly string[] },
): Part {
  const { page, language } = request
  const notice = noticeOf(request)
  return html`${notice !== undefined && html`<div class="state">${doneNote(page, html`${notice}`)}</div>`}${pack.status !== 'listed' && html`<div class="state">${note(page, 'warn', html`<p>${language.t(`site.saved-pack.${pack.status}`)}</p>`)}</div>`}${lost.length > 0 && html`<div class="state">${note(page, 'warn', broken(request, pack, lost))}</div>`}${external.length > 0 && html`<div class="state">${lackingNote(page, external)}</div>`}`
}

/** Says why nobody can install the pack, and who can change that. */
function broken({ language, viewer }: PageRequest, { account_id }: PackReadRow, lost: readonly string[]): Part {
  const names = new Intl.ListFormat(language.tag).format(lost)
  const next = viewer?.id === account_id ? 'site.saved-pack.broken.own' : 'site.saved-pack.broken.others'
  return html`<p>${language.t('site.saved-pack.broken', { names })} ${language.t(next)}</p>`
}

function ownerButtons(page: PageContext, { pack, path }: Pick<SavedPack, 'pack' | 'path'>): Markup {
  const { t } = page.language
  const update = buttonForm(page, {
    action: pathTo(page, `${path}/save`),
    text: html`${icon(page, 'clock')}${t('site.saved-pack.update')}`,
  })
  return html`<a class="button" href="${pathTo(page, packPath(stateOf(pack, pack.id)))}">${icon(page, 'pencil')}${t('site.saved-pack.change')}</a>${update}<a class="button" href="${pathTo(page, `${path}/edit`)}">${icon(page, 'cog')}${t('site.saved-pack.settings')}</a>`
}

/** The files of the newest save, for launchers, for players and for servers. */
function saveFiles({ page, deps }: PageRequest, path: string): Markup {
  const { t } = page.language
  const mrpack = `${path}/latest.mrpack`
  return html`<section class="get" aria-labelledby="get-head"><div class="for"><strong id="get-head">${t('site.saved-pack.files')}</strong></div>
<a class="button main" href="${pathTo(page, mrpack)}" download>${icon(page, 'download')}<span><b>${t('site.pack.mrpack')}</b><small>${t('site.saved-pack.follows')}</small></span></a>
${launcherMenu(page, deps, { url: `${page.site.url}${mrpack}`, types: ['modpack'] })}
<p><a class="lone" href="${pathTo(page, `${path}/server.zip`)}" rel="nofollow" download>${icon(page, 'archive')}${t('site.pack.server')}</a></p></section>`
}

function details(
  { page, language }: PageRequest,
  { pack, path, owner }: SavedPack,
  { isInstallable }: ShownSave,
): Markup {
  const { t } = language
  const row = (label: string, content: Part) => html`<dt>${label}</dt><dd>${content}</dd>`
  const packwiz = html`<section class="panel"><h2>${t('site.pack.packwiz')}</h2><p class="long small"><code id="packwiz">${page.site.url}${path}/pack.toml</code> ${copyButton(page, { id: 'packwiz', what: t('site.pack.packwiz') })}</p><p class="small soft">${t('site.saved-pack.packwiz')}</p></section>`
  return html`<section class="panel"><h2>${t('site.details')}</h2><dl class="pairs">${row(t('site.setup.version'), pack.game_version)}${pack.loader !== null && row(t('site.setup.loader'), html`${tagName(language, pack.loader)}${pack.loader_version !== null && html` <bdi>${pack.loader_version}</bdi>`}`)}${row(t('people.owner'), html`<a href="${pathTo(page, userPath(owner.username))}"><bdi>${owner.username}</bdi></a>`)}${row(t('site.published'), dayText(language, pack.created))}${row(t('site.updated'), dayText(language, pack.updated))}</dl></section>
${isInstallable && packwiz}`
}

function history(page: PageContext, path: string, saves: readonly SaveRow[]): Markup {
  const { language, now } = page
  const items = saves.map(
    ({ number, created }) =>
      html`<dt><a class="lone" href="${pathTo(page, `${path}/${number}.mrpack`)}" download>${language.t('site.saved-pack.number', { number })}</a></dt><dd>${timeAgo(language, created, now)}</dd>`,
  )
  return html`<section class="panel"><h2>${language.t('site.saved-pack.saves')}</h2><dl class="pairs">${items}</dl></section>`
}
