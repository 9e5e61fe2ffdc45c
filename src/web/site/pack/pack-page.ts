// The page of a pack: the chosen versions, what they require, why something cannot be chosen, and the files for launchers.

import type { FastifyReply } from 'fastify'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listLoaderVersions } from '#features/catalogue/resolve/loader-versions.ts'
import { loaderKeyOf } from '#features/catalogue/resolve/locks/pack.ts'
import { storeLock } from '#features/catalogue/resolve/locks/store-lock.ts'
import { listContainedExternals } from '#features/catalogue/resolve/queries.ts'
import { isLoaderVersion } from '#features/catalogue/resolve/requests.ts'
import { resolveItems } from '#features/catalogue/resolve/resolve-items.ts'
import type { AnswerView, ChosenView, ItemView } from '#features/catalogue/resolve/views.ts'
import { listVisibleVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import type { PackReadRow } from '#features/community/packs/queries.ts'
import { PACK_PROJECTS_MAX } from '#features/community/packs/requests.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { FormRefusal } from '#web/kit/forms/read-form.ts'
import { PATHS } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { assetHref, icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { form, hiddenField } from '#web/ui/parts/fields.ts'
import { emptyState, note } from '#web/ui/parts/lists.ts'
import { tagName } from '../names.ts'
import { fittingSetups } from './fitting-setups.ts'
import { launcherMenu } from './launcher-menu.ts'
import { externalList, externalsOf, lackingNote, nameLink, packTable } from './pack-rows.ts'
import { type PackState, packPath, packValues, readPack, type ShownPack } from './pack-state.ts'
import { findEdited, saveForm } from './save-form.ts'
import { settingsForm } from './settings-form.ts'

export async function showPack(request: PageRequest): Promise<FastifyReply> {
  const { req, query } = request
  return showPackOf(
    request,
    readPack(request, query, (name) => Object.hasOwn(req.query as object, name)),
  )
}

/** `refusal`: why the pack could not be saved to the account. */
export async function showPackOf(request: PageRequest, given: PackState, refusal?: FormRefusal): Promise<FastifyReply> {
  const { page, deps, show, query } = request
  const loaderVersions = await listLoaderVersions(deps, given)
  // The address of a stored pack has its values.
  const isOpen = given.loaderVersion === '' && query('lock') === ''
  const state = isOpen ? { ...given, loaderVersion: loaderVersions[0] ?? '' } : given
  const pack = state.projects.length === 0 ? undefined : await loadPack(request, state)
  const edited = await findEdited(request, state)
  return show({
    title: page.language.t('site.pack'),
    body: packView(request, state, {
      pack,
      edited,
      refusal,
      loaderVersions,
      fitting: pack === undefined ? null : await fittingSetups(request, pack),
    }),
    isUnlisted: true,
    refusal,
    scripts: [assetHref(page, 'pack.js')],
  })
}

/** Stores the pack, and leads to the page with the addresses of its files. */
export async function createPack(request: PageRequest): Promise<FastifyReply> {
  const { deps, field, redirect } = request
  const state = readPack(request, field, () => true)
  if (state.projects.length === 0) return redirect(packPath(state))
  const answer = await resolveItems(deps, bodyOf(state))
  await storeLock(deps, answer)
  return redirect(packPath(state, answer.lock))
}

function bodyOf({ projects, loader, gameVersion, name, loaderVersion }: PackState) {
  return {
    items: projects.map((project) => ({ project })),
    loaders: loader === '' ? [] : [loader],
    game_versions: gameVersion === '' ? [] : [gameVersion],
    ...(name === '' ? {} : { name }),
    ...(isLoaderVersion(loaderVersion) ? { loader_version: loaderVersion } : {}),
  }
}

async function loadPack({ deps, query }: PageRequest, state: PackState): Promise<ShownPack> {
  const { content, lock } = await resolveItems(deps, bodyOf(state))
  const answer = JSON.parse(content) as AnswerView
  const reasons = answer.items.flatMap(({ because = [] }) => because)
  const versionIds = [
    ...answer.chosen.map(({ version_id }) => version_id),
    ...answer.items.flatMap(({ nearest }) => nearest?.version_id ?? []),
    ...reasons.flatMap(({ version_id, requires, incompatible }) => [
      version_id,
      requires?.version_id,
      incompatible?.version_id,
    ]),
  ].filter((id) => typeof id === 'string')
  const versions = (await listVisibleVersions(deps, null, [...new Set(versionIds)])).map(viewOf)
  const projectIds = [
    ...answer.items.flatMap(({ project_id, nearest }) => [project_id, nearest?.project_id]),
    ...versions.map(({ project_id }) => project_id),
    ...answer.suggested.map(({ project_id }) => project_id),
    ...reasons.flatMap(({ requires, incompatible }) => [requires?.project_id, incompatible?.project_id]),
  ].filter((id) => id !== undefined)
  const projects = (await listVisibleProjects(deps, null, [...new Set(projectIds)])).map(viewOf)
  const byId = new Map(projects.map((project) => [project.id, project]))
  const needsLoaderVersion = loaderKeyOf(deps, answer.loaders, 'mrpack') !== undefined
  const chosen = new Set(answer.chosen.map(({ version_id }) => version_id))
  const contained = await listContainedExternals(deps.db, [...chosen])
  const needsLoader = versions.some(
    ({ id, loaders }) =>
      chosen.has(id) && loaders.some((loader) => loaderKeyOf(deps, [loader], 'mrpack') !== undefined),
  )
  const failed = answer.items.filter(({ state: each }) => each !== 'chosen' && each !== 'kept')
  return {
    state,
    answer,
    projects: byId,
    versions: new Map(versions.map((version) => [version.id, version])),
    external: externalsOf(answer, contained),
    isStored: query('lock') === lock,
    lacks: {
      projects: failed.map(({ index, project_id }) => byId.get(project_id ?? '')?.name ?? state.projects[index] ?? ''),
      gameVersion: state.gameVersion === '',
      loader: state.loader === '' && needsLoader,
      loaderVersion: needsLoaderVersion && !isLoaderVersion(state.loaderVersion),
    },
  }
}

/** `loaderVersions`: proposals for the version of the loader. */
type Shown = {
  pack: ShownPack | undefined
  loaderVersions: readonly string[]
  fitting: Part
  edited: PackReadRow | undefined
  refusal: FormRefusal | undefined
}

function packView(request: PageRequest, state: PackState, { pack, loaderVersions, fitting, ...saving }: Shown): Markup {
  const { page, language } = request
  const head = html`<h1>${language.t('site.pack')}</h1>
<p class="soft">${language.t('site.pack.text')}</p>`
  if (pack === undefined) {
    const action = html`<a class="button main" href="${pathTo(page, PATHS.search)}">${icon(page, 'search')}${language.t('site.browse')}</a>`
    const empty = {
      icon: 'package',
      title: language.t('site.pack.empty'),
      text: language.t('site.pack.empty.text'),
      action,
    } as const
    return html`<div class="sheet slip">${head}
${emptyState(page, empty)}</div>`
  }
  return html`<div class="welcome">${head}</div>
${state.projects.length >= PACK_PROJECTS_MAX && note(page, 'warn', html`<p>${language.t('site.pack.full', { count: PACK_PROJECTS_MAX })}</p>`)}
<div class="sheet split"><div class="list">
${itemList(page, pack)}
${requiredList(page, pack)}
${suggestedList(page, pack)}
${externalList(page, pack, pack.external)}
<p class="note-line"><a class="button" href="${pathTo(page, PATHS.search)}">${icon(page, 'plus')}${language.t('site.pack.add-project')}</a> <a href="${pathTo(page, packPath({ ...state, projects: [], pack: '' }))}">${language.t('site.pack.clear')}</a></p>
</div><aside class="stack" aria-label="${language.t('site.pack')}">
<section class="stack"><h2 class="vh">${language.t('site.pack.settings')}</h2>${settingsForm(request, state, loaderVersions, saving.refusal)}</section>
${fitting}
${packFiles(request, pack)}
${saveForm(request, state, saving)}
</aside></div>`
}

/** The lines of reasons are too close to each other for links. */
function nameText({ projects, versions }: ShownPack, id: string, versionId: string | null): Markup {
  const number = versions.get(versionId ?? '')?.version_number
  return html`<bdi>${projects.get(id)?.name ?? id}</bdi>${number !== undefined && html` <bdi>${number}</bdi>`}`
}

function itemList(page: PageContext, pack: ShownPack): Part {
  const { language } = page
  const { state, answer } = pack
  const nameOf = ({ index }: ItemView): string => state.projects[index] ?? ''
  const keyOf = (item: ItemView): string => item.project_id ?? nameOf(item)
  // The address can name a project by its ID and by its slug.
  const rows = [...Map.groupBy(answer.items, keyOf).values()].flatMap((same) => {
    const [item] = same
    if (item === undefined) return []
    const own = nameOf(item)
    const names = same.map(nameOf)
    const rest = packPath({ ...state, projects: state.projects.filter((name) => !names.includes(name)) })
    const named = pack.projects.get(item.project_id ?? '')?.name ?? own
    const label = `${language.t('site.pack.remove')} ${named}`
    const remove = html`<a class="button tight" href="${pathTo(page, rest)}" title="${label}" aria-label="${label}">${icon(page, 'x')}</a>`
    const projectId = item.project_id ?? own
    const more = html`${outside(page, pack, item)}${failure(page, pack, item)}`
    return { projectId, chosen: chosenOf(pack, item), more, act: remove }
  })
  return packTable(page, pack, language.t('site.count.project', { count: rows.length }), rows)
}

const chosenOf = ({ answer }: ShownPack, { version_id }: ItemView): ChosenView | undefined =>
  answer.chosen.find((each) => each.version_id === version_id)

function outside(page: PageContext, pack: ShownPack, item: ItemView): Part {
  return (
    chosenOf(pack, item)?.outside_filter === true &&
    html` <span class="soft">${page.language.t('site.pack.outside')}</span>`
  )
}

/** Says why an item has no version, with both sides of a conflict. */
function failure(page: PageContext, pack: ShownPack, { state, because = [], nearest }: ItemView): Part {
  if (state === 'chosen' || state === 'kept') return null
  const { language } = page
  const nearby =
    nearest != null &&
    html` ${language.rich('site.pack.nearest', { name: nameLink(page, pack, nearest.project_id, nearest.version_id) })}`
  const reasons = because.map((each) => {
    const target = each.requires ?? each.incompatible
    if (target === undefined) return null
    const other = nameText(pack, target.project_id, target.version_id)
    if (each.version_id === undefined)
      return html`<li><span>${language.rich('site.pack.because.item', { other })}</span></li>`
    const of = pack.versions.get(each.version_id)
    const name = nameText(pack, of?.project_id ?? each.version_id, each.version_id)
    const key = each.requires === undefined ? 'site.pack.because.incompatible' : 'site.pack.because.requires'
    return html`<li><span>${language.rich(key, { name, other })}</span></li>`
  })
  return html`<p class="small">${icon(page, 'warning')} ${language.t(`site.pack.state.${state}`)}${nearby}</p>${reasons.length > 0 && html`<ul class="small soft">${reasons}</ul>`}`
}

function requiredList(page: PageContext, pack: ShownPack): Part {
  const { language } = page
  const requested = new Set(pack.answer.items.map(({ project_id }) => project_id))
  const rows = pack.answer.chosen
    .filter(({ project_id }) => !requested.has(project_id))
    .map((chosen) => {
      const { project_id: projectId, required_by } = chosen
      const requirer = pack.versions.get(required_by[0] ?? '')
      const by =
        requirer !== undefined &&
        html` <span class="soft">${language.rich('site.pack.required-by', { name: html`<bdi>${pack.projects.get(requirer.project_id)?.name}</bdi>` })}</span>`
      return { projectId, chosen, more: by }
    })
  return packTable(page, pack, language.t('site.pack.required'), rows)
}

function suggestedList(page: PageContext, pack: ShownPack): Part {
  const { language } = page
  const { state, answer } = pack
  const rows = answer.suggested.slice(0, 20).map(({ project_id: projectId }) => {
    const href = packPath({ ...state, projects: [...state.projects, projectId] })
    const name = pack.projects.get(projectId)?.name ?? projectId
    const act = html`<a class="button tight" href="${pathTo(page, href)}" aria-label="${language.t('site.pack.add-one')} ${name}">${icon(page, 'plus')}${language.t('site.pack.add-one')}</a>`
    return { projectId, act }
  })
  return packTable(page, pack, language.t('site.pack.optional'), rows)
}

/** Names everything without which players cannot use the pack. */
function missingParts({ language }: PageContext, { state, lacks }: ShownPack): Part[] {
  const { t } = language
  return [
    lacks.projects.length > 0 &&
      t('site.pack.lacks.projects', { names: new Intl.ListFormat(language.tag).format(lacks.projects) }),
    lacks.gameVersion && t('site.pack.lacks.game-version'),
    lacks.loader && t('site.pack.lacks.loader'),
    lacks.loaderVersion && t('site.pack.lacks.loader-version', { loader: tagName(language, state.loader) }),
  ].filter((part) => part !== false)
}

/** Shows the button that stores the pack, and then the addresses of its files. */
function packFiles({ page, deps }: PageRequest, pack: ShownPack): Part {
  const { state, answer, isStored, lacks } = pack
  const { language, site } = page
  if (answer.chosen.length === 0) return null
  const missing = missingParts(page, pack)
  const lacking = lackingNote(page, pack.external)
  const warning =
    missing.length > 0 &&
    note(
      page,
      'warn',
      html`<p>${language.t('site.pack.incomplete')}</p><ul>${missing.map((each) => html`<li>${each}</li>`)}</ul>`,
    )
  if (!isStored) {
    const fields = Object.entries(packValues(state)).map(([name, value]) => hiddenField(name, value))
    const button = html`<button class="main">${icon(page, 'package')}${language.t('site.pack.create')}</button>`
    return form(page, { action: pathTo(page, PATHS.packFiles), content: html`${lacking}${warning}${fields}${button}` })
  }
  const lock = `/v3/lock/${answer.lock}`
  const hasMrpack = !lacks.gameVersion && !lacks.loader && !lacks.loaderVersion
  const mrpack = hasMrpack
    ? html`<a class="button main" href="${pathTo(page, `${lock}.mrpack`)}" download>${icon(page, 'download')}${language.t('site.pack.mrpack')}</a>${launcherMenu(page, deps, { url: `${site.url}${lock}.mrpack`, types: ['modpack'] })}`
    : null
  const copy = html`<button class="tight" type="button" data-copy="packwiz" data-done="${language.t('copied')}" hidden>${language.t('copy')}<span class="vh"> ${language.t('site.pack.packwiz')}</span></button>`
  return html`<section class="get"><h2>${language.t(missing.length === 0 ? 'site.pack.ready' : 'site.pack.stored')}</h2>
${lacking}${warning}
${mrpack}
<p class="small long">${language.t('site.pack.packwiz')}: <code id="packwiz">${site.url}${lock}/pack.toml</code> ${copy}</p>
<p><a class="lone" href="${pathTo(page, `${lock}/server.zip`)}" rel="nofollow" download>${icon(page, 'archive')}${language.t('site.pack.server')}</a> <a class="lone" href="${pathTo(page, lock)}">${icon(page, 'code')}${language.t('site.pack.json')}</a></p>
<p class="small soft">${language.t('site.pack.kept')}</p></section>`
}
