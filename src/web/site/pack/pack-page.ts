// The page of a pack: the chosen versions, what they require, why something cannot be chosen, and the files for launchers.

import type { FastifyReply } from 'fastify'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listLoaderVersions } from '#features/catalogue/resolve/loader-versions.ts'
import { loaderKeyOf } from '#features/catalogue/resolve/locks/pack.ts'
import { storeLock } from '#features/catalogue/resolve/locks/store-lock.ts'
import { isLoaderVersion } from '#features/catalogue/resolve/requests.ts'
import { resolveItems } from '#features/catalogue/resolve/resolve-items.ts'
import type { AnswerView } from '#features/catalogue/resolve/views.ts'
import { listVisibleVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { assetHref } from '#web/ui/page-context.ts'
import { type PackState, packPath, readPack, type ShownPack } from './pack-state.ts'
import { packView } from './pack-view.ts'

export async function showPack(request: PageRequest): Promise<FastifyReply> {
  const { req, page, query, show } = request
  const state = readPack(request, query, (name) => Object.hasOwn(req.query as object, name))
  const pack = state.projects.length === 0 ? undefined : await loadPack(request, state)
  return show({
    title: page.language.t('site.pack'),
    body: packView(request, state, { pack, loaderVersions: await listLoaderVersions(request.deps, state) }),
    isUnlisted: true,
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
    isStored: query('lock') === lock,
    lacks: {
      projects: failed.map(({ index, project_id }) => byId.get(project_id ?? '')?.name ?? state.projects[index] ?? ''),
      gameVersion: state.gameVersion === '',
      loader: state.loader === '' && needsLoader,
      loaderVersion: needsLoaderVersion && !isLoaderVersion(state.loaderVersion),
    },
  }
}
