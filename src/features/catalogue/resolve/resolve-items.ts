// Chooses versions for the items of a request and for everything that they require.
import { Counter } from 'prom-client'
import { defineMetrics } from '#platform/telemetry/metrics.ts'
import type { Deps } from '#ports/deps.ts'
import { filterOfBody } from '../versions/lookup/list-requests.ts'
import { readFirstVersions } from '../versions/lookup/version-filter.ts'
import { type Answer, toAnswer } from './answer.ts'
import { choose } from './choose.ts'
import { type ChooseDeps, completeForItem } from './choose-required.ts'
import { findItems } from './find-items.ts'
import { toTarget } from './load/target.ts'
import { listChosenFiles, listPublicProjects } from './queries.ts'
import { checkRequest, type ResolveBody } from './requests.ts'
import type { SolvedItem, SolverItem } from './solve/world.ts'
import type { ItemView } from './views.ts'

const resolutions = defineMetrics(
  (registers) =>
    new Counter({
      name: 'depot_resolutions_total',
      help: 'Requests that chose versions, by outcome (complete, partial, fallback)',
      labelNames: ['outcome'] as const,
      registers,
    }),
)

export type ResolveDeps = ChooseDeps & Pick<Deps, 'metrics'>

/**
 * Resolves the items as everyone sees the catalogue, so that the answer is the same for every caller.
 * @throws ApiError naming a wrong item, loader or ID.
 */
export async function resolveItems(deps: ResolveDeps, body: ResolveBody): Promise<Answer> {
  checkRequest(body)
  const target = toTarget(deps, filterOfBody(body, deps.taxonomy))
  const { pins = 'prefer', strategy = 'newest' } = body
  const keep = new Map(Object.entries(body.keep ?? {}))
  const items = await findItems(deps, body.items)
  const [lone] = body.items.length === 1 ? items : []
  const completed = lone === undefined ? target : toTarget(deps, await completeForItem(deps, target.filter, lone))
  const { solution } = await choose(deps.db, { target: completed, viewer: null, items, pins, strategy, keep })
  const files = await listChosenFiles(
    deps.db,
    solution.chosen.map(({ candidate }) => candidate.id),
  )
  const suggested = solution.suggested.map(({ projectId }) => projectId)
  const answer = await toAnswer({
    items: await toItemViews(deps, { requested: body.items.length, items, solved: solution.items }),
    chosen: solution.chosen,
    files,
    exact: solution.exact,
    unmetPins: solution.unmetPins,
    suggested: await listPublicProjects(deps.db, suggested).then((ids) =>
      solution.suggested.filter(({ projectId }) => ids.has(projectId)),
    ),
    external: solution.external,
    provided: solution.provided,
    pack: { ...body, loaders: target.filter.loaders ?? [], game_versions: body.game_versions ?? [] },
  })
  const outcome = solution.exact ? (answer.complete ? 'complete' : 'partial') : 'fallback'
  resolutions(deps.metrics).inc({ outcome })
  return answer
}

/** Adds the items that do not exist, and the nearest version of projects without a version for the filter. */
async function toItemViews(
  { db }: ResolveDeps,
  { requested, items, solved }: { requested: number; items: readonly SolverItem[]; solved: readonly SolvedItem[] },
): Promise<ItemView[]> {
  const lacking = [...new Set(solved.flatMap((item) => item.lacking ?? []))]
  const nearest = new Map<string, string | undefined>()
  if (lacking.length > 0) await readFirstVersions(db, [{ filter: {}, projectIds: lacking, firsts: nearest }])
  const existing = new Set(items.map(({ index }) => index))
  const unknown = Array.from({ length: requested }, (_, index) => index).filter((index) => !existing.has(index))
  const views = solved.map(({ index, state, projectId, versionId, because = [], lacking: without }): ItemView => {
    const version_id = without === undefined ? undefined : nearest.get(without)
    return {
      index,
      state,
      project_id: projectId,
      ...(versionId === undefined ? {} : { version_id: versionId }),
      ...(because.length === 0 ? {} : { because }),
      ...(without === undefined
        ? {}
        : { nearest: version_id === undefined ? null : { project_id: without, version_id } }),
    }
  })
  const all = [...views, ...unknown.map((index): ItemView => ({ index, state: 'unknown' }))]
  return all.sort((a, b) => a.index - b.index)
}
