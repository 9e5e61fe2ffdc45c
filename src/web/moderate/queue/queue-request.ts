// The URL of the queue: its filters and its page.
import {
  CLAIM_FILTERS,
  QUEUE_ORDERS,
  type QueueFilter,
  type QueueOrder,
  REVIEW_FILTERS,
  SCAN_FILTERS,
} from '#features/community/moderation/queries.ts'
import { parseFilter } from '#features/community/moderation/requests.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { PATHS, pageNumber, withQuery } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'

export const QUEUE_PAGE = 50
/** Value of the filter of types for projects without a listed version. */
const NO_TYPE = 'none'

export type QueueChoice = {
  text: string
  type: string
  scan: string
  review: string
  claim: string
  sort: QueueOrder
  page: number
}

/** Reads the filters of the URL. Unknown values filter nothing. */
export function readQueueChoice(request: Pick<PageRequest, 'query'>, { projectTypes }: Taxonomy): QueueChoice {
  const oneOf = (name: string, values: readonly string[]) => values.find((value) => value === request.query(name)) ?? ''
  return {
    text: request.query('query').slice(0, 256),
    type: oneOf('project_type', [...projectTypes, NO_TYPE]),
    scan: oneOf('scan', SCAN_FILTERS),
    review: oneOf('review', REVIEW_FILTERS),
    claim: oneOf('claim', CLAIM_FILTERS),
    sort: QUEUE_ORDERS.find((order) => order === request.query('sort')) ?? 'oldest',
    page: pageNumber(request),
  }
}

/** Returns the path of the queue with these filters. */
export function queuePath({ text, type, scan, review, claim, sort, page }: QueueChoice): string {
  const query = { query: text, project_type: type, scan, review, claim }
  const place = { sort: sort === 'oldest' ? '' : sort, page: page === 1 ? '' : String(page) }
  return withQuery(PATHS.moderationQueue, { ...query, ...place })
}

/** Returns the filter of the query that the API uses. */
export function toQueueFilter(choice: QueueChoice, taxonomy: Taxonomy): QueueFilter {
  const { text, type, scan, review, claim } = choice
  const request = {
    query: text,
    ...(type === '' ? {} : { project_type: type }),
    ...(scan === '' ? {} : { scan: scan as (typeof SCAN_FILTERS)[number] }),
    ...(review === '' ? {} : { review: review as (typeof REVIEW_FILTERS)[number] }),
  }
  const { sort: _sort, ...filter } = parseFilter(request, taxonomy)
  return { ...filter, claim: claim === '' ? undefined : (claim as (typeof CLAIM_FILTERS)[number]) }
}

export const queueTypes = ({ projectTypes }: Taxonomy): readonly string[] => [...projectTypes, NO_TYPE]
