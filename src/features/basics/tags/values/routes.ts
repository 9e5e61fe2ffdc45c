// Routes with which operators add, change, remove and merge single tags.
import { operatorOf } from '#features/basics/audit/actor.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { TAG_LISTS, type TagListName } from '#taxonomy/tag-lists.ts'
import type { TagEditDeps } from '../edit/edit-tag-list.ts'
import { countUses } from '../edit/replace-tag.ts'
import { ListedTagParams, MergeParams, TAG_INPUTS, TAG_PATCHES, TagMerge, TagParams } from '../edit/requests.ts'
import { nameOf, type TagRow } from '../edit/tag-row.ts'
import { TagUsesView } from '../edit/views.ts'
import { addTag } from './add-tag.ts'
import { changeTag } from './change-tag.ts'
import { findTag } from './find-tag.ts'
import { mergeTags } from './merge-tags.ts'
import { removeTag } from './remove-tag.ts'

/** Names of a tag of each list in IDs of operations and in summaries. */
const NAMES: Record<TagListName, [id: string, words: string]> = {
  games: ['Game', 'game'],
  loaders: ['Loader', 'loader'],
  categories: ['Category', 'category'],
  game_versions: ['GameVersion', 'game version'],
  loader_fields: ['LoaderField', 'loader field'],
  licenses: ['License', 'licence to those that forms offer first'],
  link_platforms: ['LinkPlatform', 'link platform'],
}

const config = { auth: 'operator' } as const

export function valueRoutes(app: App, deps: TagEditDeps & Pick<Deps, 'taxonomy'>): void {
  for (const list of Object.keys(TAG_LISTS) as TagListName[]) {
    addRoute(app, deps, list)
    changeRoute(app, deps, list)
  }
  app.delete('/admin/tags/:list/values/:id', {
    config: { ...config, errors: ['400 validation_error'] },
    schema: {
      operationId: 'removeTag',
      summary: 'Remove a tag from its list',
      description: 'Projects and versions keep the tag. To keep it valid, hide it instead.',
      params: ListedTagParams,
    },
    handler: (req): Promise<void> => removeTag(deps, operatorOf(req), req.params),
  })
  app.get('/admin/tags/:list/values/:id/uses', {
    config,
    schema: {
      operationId: 'countTagUses',
      summary: 'Count the projects and versions that use a tag, which renaming or merging would change',
      description: 'A category is counted in all project types.',
      params: ListedTagParams,
      response: { 200: TagUsesView },
    },
    handler: async (req) => countUses(deps, req.params.list, nameOf(await findTag(deps, req.params))),
  })
  app.post('/admin/tags/:list/merge', {
    config,
    schema: {
      operationId: 'mergeTags',
      summary: 'Replace a tag by another one in everything that uses it, and remove it',
      description: 'A category is merged in all project types.',
      params: MergeParams,
      body: TagMerge,
    },
    handler: (req): Promise<void> => mergeTags(deps, operatorOf(req), { ...req.params, ...req.body }),
  })
}

function addRoute(app: App, deps: TagEditDeps, list: TagListName): void {
  const [id, words] = NAMES[list]
  app.post(`/admin/tags/${list}/values`, {
    config,
    schema: { operationId: `add${id}`, summary: `Add a ${words}`, body: TAG_INPUTS[list] },
    handler: (req): Promise<void> => addTag(deps, operatorOf(req), { list, row: req.body as TagRow }),
  })
}

function changeRoute(app: App, deps: TagEditDeps, list: TagListName): void {
  const [id, words] = NAMES[list]
  app.patch(`/admin/tags/${list}/values/:id`, {
    config: { ...config, errors: ['409 conflict'] },
    schema: {
      operationId: `change${id}`,
      summary: `Change a ${words.split(' to ')[0]}`,
      params: TagParams,
      body: TAG_PATCHES[list],
    },
    handler: (req): Promise<void> => changeTag(deps, operatorOf(req), { list, id: req.params.id, patch: req.body }),
  })
}
