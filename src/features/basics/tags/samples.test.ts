// Requests for the tests of all operations.
import { type TagListName, tagListsOf } from '#taxonomy/taxonomy-files.ts'
import type { Sample } from '#test/api/operations/sample.ts'
import type { World } from '#test/api/operations/world.ts'

const resetTags = (w: World) => w.t.deps.db.deleteFrom('tag_list').execute()
/** A list as it is in the data files. */
const tagList = (name: TagListName): Sample => ({ body: (w) => ({ rows: tagListsOf(w.t.deps.taxonomyData)[name] }) })

export const SAMPLES: Record<string, Sample> = {
  listLoaderFieldValues: { query: { loader_field: 'game_versions' } },
  getLicense: { at: { id: () => 'MIT' } },
  updateGames: tagList('games'),
  updateLoaders: tagList('loaders'),
  updateCategories: tagList('categories'),
  updateGameVersions: tagList('game_versions'),
  renameCategories: { body: { from: 'cursed', to: 'odd' }, before: resetTags },
  renameGameVersions: { body: { from: '1.0', to: '1.0.0' }, before: resetTags },
}
