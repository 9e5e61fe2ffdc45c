// The page of a saved pack: its newest save, the files for launchers at addresses that stay the same, and earlier saves.
import type { FastifyReply } from 'fastify'
import { findPreviousOwner } from '#features/basics/previous-names/queries.ts'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { getLockContent } from '#features/catalogue/resolve/locks/store-lock.ts'
import type { AnswerView } from '#features/catalogue/resolve/views.ts'
import { listVisibleVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { findPackBySlug, listSaves, type PackReadRow, type SaveRow } from '#features/community/packs/queries.ts'
import { type CachedUser, getCachedUser } from '#features/people/users/user-cache.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { errorsOf, type FormRefusal } from '#web/kit/forms/read-form.ts'
import { savedPackPath, userPath } from '#web/kit/paths.ts'
import { noticeOf, type PageRequest } from '#web/kit/request.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { doneNote } from '#web/ui/parts/actions.ts'
import { buttonForm, errorSummary } from '#web/ui/parts/fields.ts'
import { note } from '#web/ui/parts/lists.ts'
import { setupName } from '../names.ts'
import { copyButton } from '../version/version-parts.ts'
import { launcherMenu } from './launcher-menu.ts'
import { nameLink, row, section } from './pack-rows.ts'
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
  const { deps, viewer, page, show, language } = request
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
  const requested = new Set(answer.items.map(({ project_id }) => project_id))
  const rowsOf = (isRequested: boolean): Markup[] =>
    answer.chosen
      .filter(({ project_id }) => requested.has(project_id) === isRequested)
      .map(({ project_id, version_id }) => row(page, named, project_id, nameLink(page, named, project_id, version_id)))
  const isOwner = viewer?.id === pack.account_id
  const lost = answer.chosen
    .filter(({ version_id }) => !named.versions.has(version_id))
    .map(({ project_id }) => named.projects.get(project_id)?.name ?? project_id)
  const own = rowsOf(true)
  return show({
    title: pack.name,
    canonical: path,
    isUnlisted: pack.status !== 'listed',
    insiders: new Set([pack.account_id]),
    openGraph: { type: 'website' },
    description: language.t('site.saved-pack.about', { name: pack.name, owner: owner.username }),
    refusal,
    body: html`${notes(request, saved, lost)}
<div class="sheet slip"><h1 dir="auto">${pack.name}</h1>
<p class="soft">${language.rich('site.by', { name: html`<a href="${pathTo(page, userPath(owner.username))}"><bdi>${owner.username}</bdi></a>` })}</p>
${facts(page, pack)}
${errorSummary(page, errorsOf({ refusal }))}
${isOwner && ownerButtons(page, saved)}
${lost.length === 0 && files(request, saved)}
${section(language.t('site.count.project', { count: own.length }), own)}
${section(language.t('site.pack.required'), rowsOf(false))}
${history(page, path, await listSaves(deps.db, pack.id, SAVES_SHOWN))}
<p><a href="${pathTo(page, packPath(stateOf(pack)))}" rel="nofollow">${language.t('site.saved-pack.copy')}</a></p>
</div>`,
  })
}

const stateOf = ({ projects, loader, game_version, name, loader_version }: PackReadRow, pack = '') => ({
  projects,
  loader: loader ?? '',
  gameVersion: game_version,
  name,
  loaderVersion: loader_version ?? '',
  pack,
})

/** `lost`: the projects of which the newest save contains a version that is no longer public. */
function notes(request: PageRequest, { pack }: SavedPack, lost: readonly string[]): Part {
  const { page, language } = request
  const notice = noticeOf(request)
  return html`${notice !== undefined && html`<div class="state">${doneNote(page, html`${notice}`)}</div>`}${pack.status !== 'listed' && html`<div class="state">${note(page, 'warn', html`<p>${language.t(`site.saved-pack.${pack.status}`)}</p>`)}</div>`}${lost.length > 0 && html`<div class="state">${note(page, 'warn', broken(request, pack, lost))}</div>`}`
}

/** Says why nobody can install the pack, and who can change that. */
function broken({ language, viewer }: PageRequest, { account_id }: PackReadRow, lost: readonly string[]): Part {
  const names = new Intl.ListFormat(language.tag).format(lost)
  const next = viewer?.id === account_id ? 'site.saved-pack.broken.own' : 'site.saved-pack.broken.others'
  return html`<p>${language.t('site.saved-pack.broken', { names })} ${language.t(next)}</p>`
}

function facts({ language, now }: PageContext, pack: PackReadRow): Markup {
  const { game_version: gameVersion, loader, loader_version, number, updated } = pack
  const setup = setupName(language, { gameVersion, loader: loader ?? '' })
  return html`<ul class="facts-line"><li>${setup}${loader_version !== null && html` <bdi>${loader_version}</bdi>`}</li><li>${language.t('site.saved-pack.number', { number })}</li><li>${language.rich('site.updated-at', { at: timeAgo(language, updated, now) })}</li></ul>`
}

function ownerButtons(page: PageContext, { pack, path }: SavedPack): Markup {
  const { t } = page.language
  const update = buttonForm(page, {
    action: pathTo(page, `${path}/save`),
    text: html`${icon(page, 'clock')}${t('site.saved-pack.update')}`,
  })
  return html`<div class="lone"><a class="button" href="${pathTo(page, packPath(stateOf(pack, pack.id)))}">${icon(page, 'pencil')}${t('site.saved-pack.change')}</a>${update}<a class="button" href="${pathTo(page, `${path}/edit`)}">${icon(page, 'cog')}${t('site.saved-pack.settings')}</a></div>`
}

function files({ page, deps }: PageRequest, { path }: SavedPack): Markup {
  const { language, site } = page
  const mrpack = `${path}/latest.mrpack`
  return html`<section class="needed stack"><h2>${language.t('site.saved-pack.files')}</h2>
<p><a class="button main" href="${pathTo(page, mrpack)}" download>${icon(page, 'download')}${language.t('site.pack.mrpack')}</a></p>
${launcherMenu(page, deps, { url: `${site.url}${mrpack}`, types: ['modpack'] })}
<p><a class="lone" href="${pathTo(page, `${path}/server.zip`)}" rel="nofollow" download>${icon(page, 'archive')}${language.t('site.pack.server')}</a></p>
<p>${language.t('site.pack.packwiz')}: <code id="packwiz">${site.url}${path}/pack.toml</code> ${copyButton(page, { id: 'packwiz', what: language.t('site.pack.packwiz') })}</p>
<p class="small soft">${language.t('site.saved-pack.follows')}</p></section>`
}

function history(page: PageContext, path: string, saves: readonly SaveRow[]): Part {
  const { language, now } = page
  const rows = saves.map(
    ({ number, created }) =>
      html`<li><div>${language.t('site.saved-pack.number', { number })} <span class="soft">${timeAgo(language, created, now)}</span><p><a class="soft" href="${pathTo(page, `${path}/${number}.mrpack`)}" download>.mrpack<span class="vh"> ${language.t('site.saved-pack.number', { number })}</span></a></p></div></li>
`,
  )
  return section(language.t('site.saved-pack.saves'), rows)
}
