// Query parameters of the moderation queue.
import Type, { type Static } from 'typebox'
import { invalidInput } from '#lib/errors.ts'
import { Offset } from '#platform/http/query-values.ts'
import { loadersOf, type Taxonomy } from '#taxonomy/taxonomy.ts'
import {
  CLAIM_FILTERS,
  QUEUE_ORDERS,
  type QueueFilter,
  type QueueOrder,
  type QueuePage,
  REVIEW_FILTERS,
  SCAN_FILTERS,
} from './queries.ts'

const COUNT_DEFAULT = 100
/** Value of `project_type` for projects without a listed version, and therefore without a type. */
const WITHOUT_TYPE = 'none'

const FILTERS = {
  query: Type.Optional(Type.String({ maxLength: 256, description: 'Part of the name or slug' })),
  project_type: Type.Optional(
    Type.String({ maxLength: 64, description: 'Project type; `none`: projects without a type' }),
  ),
  scan: Type.Optional(
    Type.Enum([...SCAN_FILTERS], {
      description: 'Projects with a version in this state of the scan; `none`: the scanner has passed every version',
    }),
  ),
  review: Type.Optional(
    Type.Enum([...REVIEW_FILTERS], {
      description:
        '`first`: no moderator has decided on the project. `repeat`: submitted again after a decision. `appeal`: the author appeals a decision',
    }),
  ),
}

const Sort = Type.Optional(
  Type.Enum([...QUEUE_ORDERS], { default: 'oldest', description: 'Sort order, by time of submission' }),
)

export const NextProjectRequest = Type.Object({ ...FILTERS, sort: Sort })

export const QueueQuery = Type.Object({
  count: Type.Optional(Type.Integer({ minimum: 0, maximum: 200, default: COUNT_DEFAULT, description: 'Page size' })),
  offset: Offset,
  sort: Sort,
  ...FILTERS,
  claim: Type.Optional(
    Type.Enum([...CLAIM_FILTERS], { description: 'Claims of the caller, of other moderators, or none' }),
  ),
})

/** @throws ApiError `invalid_input` for an unknown project type. */
export function parseQueueQuery(request: Static<typeof QueueQuery>, taxonomy: Taxonomy): QueuePage {
  const { count = COUNT_DEFAULT, offset = 0, claim } = request
  return { ...parseFilter(request, taxonomy), claim, count, offset }
}

/** @throws ApiError `invalid_input` for an unknown project type. */
export function parseFilter(
  request: Static<typeof NextProjectRequest>,
  taxonomy: Taxonomy,
): QueueFilter & { sort: QueueOrder } {
  const { sort = 'oldest', query = '', project_type, scan, review } = request
  return { text: query.trim(), loaders: loaderFilter(taxonomy, project_type), scan, review, sort }
}

/** Returns the filter for projects of this type, which depends on the loaders of their versions. */
function loaderFilter(taxonomy: Taxonomy, type: string | undefined): QueueFilter['loaders'] {
  if (type === undefined) return undefined
  const { projectTypes, loaders } = taxonomy
  if (type === WITHOUT_TYPE) return { noneOf: [...loaders.keys()] }
  if (projectTypes.includes(type)) return { oneOf: loadersOf(taxonomy, type) }
  throw invalidInput(`project_type must be one of ${[...projectTypes, WITHOUT_TYPE].join(', ')}`, 'project_type')
}
