// Routes with which operators edit the tags while Depot runs.
import { operatorOf } from '#features/basics/audit/actor.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { TAG_LISTS, type TagListName } from '#taxonomy/tag-lists.ts'
import { valueRoutes } from '../values/routes.ts'
import type { TagEditDeps } from './edit-tag-list.ts'
import { readGameVersions } from './read-game-versions.ts'
import { RENAMED_LISTS, type RenamedList, renameTag } from './rename-tag.ts'
import { LIST_INPUTS, TagRename } from './requests.ts'
import { type ListEdit, updateTagList } from './update-tag-list.ts'
import { AddedGameVersions, EditableTags, readEditableTags } from './views.ts'

/** Names of the lists in IDs of operations and in summaries. */
const NAMES: Record<TagListName, [id: string, words: string]> = {
  games: ['Games', 'games'],
  loaders: ['Loaders', 'loaders'],
  categories: ['Categories', 'categories'],
  game_versions: ['GameVersions', 'game versions'],
  loader_fields: ['LoaderFields', 'loader fields'],
  licenses: ['Licenses', 'licences that forms offer first'],
  link_platforms: ['LinkPlatforms', 'link platforms'],
}

const config = { auth: 'operator' } as const

export function tagEditRoutes(app: App, deps: TagEditDeps & Pick<Deps, 'taxonomy' | 'config'>): void {
  mountInternal(app, (scope) => {
    scope.get('/admin/tags', {
      config,
      schema: {
        operationId: 'getEditableTags',
        summary: 'List the tags that operators can edit, with the number of projects that use them',
        response: { 200: EditableTags },
      },
      handler: () => readEditableTags(deps),
    })
    for (const list of Object.keys(TAG_LISTS) as TagListName[]) listRoutes(scope, deps, list)
    for (const list of RENAMED_LISTS) renameRoute(scope, deps, list)
    valueRoutes(scope, deps)
    scope.post('/admin/tags/game_versions/read', {
      config,
      schema: {
        operationId: 'readGameVersions',
        summary: 'Read the manifest `GAME_VERSIONS_URL` now, and add its new game versions',
        description: 'Depot also reads it every 6 hours. Returns 400 with the reason if it cannot be read.',
        response: { 200: AddedGameVersions },
      },
      handler: async (req) => ({ added: await readGameVersions(deps, operatorOf(req)) }),
    })
  })
}

function listRoutes(app: App, deps: TagEditDeps, list: TagListName): void {
  const [id, words] = NAMES[list]
  app.put(`/admin/tags/${list}`, {
    config: { ...config, errors: ['409 conflict'] },
    schema: {
      operationId: `update${id}`,
      summary: `Replace the list of ${words}`,
      description:
        'The list must agree with the other lists and the data files. The change takes effect in every process within ' +
        'one second. Projects and versions keep tags that the list no longer has.',
      body: LIST_INPUTS[list],
    },
    handler: async (req) => {
      const { rows, revision } = req.body as { rows: never; revision?: number }
      await updateTagList(deps, operatorOf(req), { list, rows, seen: revision } as ListEdit)
    },
  })
  app.delete(`/admin/tags/${list}`, {
    config,
    schema: { operationId: `reset${id}`, summary: `Use the list of ${words} from the data files again` },
    handler: (req): Promise<void> =>
      updateTagList(deps, operatorOf(req), { list, rows: null, seen: undefined } as ListEdit),
  })
}

function renameRoute(app: App, deps: TagEditDeps, list: RenamedList): void {
  const [id, words] = NAMES[list]
  app.post(`/admin/tags/${list}/rename`, {
    config,
    schema: {
      operationId: `rename${id}`,
      summary: `Rename one of the ${words}, also in everything that uses it`,
      body: TagRename,
    },
    handler: (req): Promise<void> => renameTag(deps, operatorOf(req), { list, ...req.body }),
  })
}
