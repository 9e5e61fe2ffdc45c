// Requests of deliveries.
import Type from 'typebox'
import { invalidInput } from '#lib/errors.ts'
import { ID_PATTERN } from '#lib/ids.ts'
import { IdParams } from '#platform/http/query-values.ts'

export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'discarded'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

const CURSOR_PATTERN = '^[1-9][0-9]{0,17}$'

export const DeliveriesQuery = Type.Object({
  state: Type.Optional(Type.Enum([...DELIVERY_STATES], { description: 'Only deliveries in this state' })),
  cursor: Type.Optional(
    Type.String({
      maxLength: 64,
      describedAs: { pattern: CURSOR_PATTERN },
      description: '`next` of the page before. Default: the newest deliveries',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Maximum number of deliveries' }),
  ),
})

export const DeliveryParams = Type.Object({
  ...IdParams.properties,
  delivery: Type.String({
    maxLength: 256,
    description: 'ID of the delivery',
    examples: ['AABBCCDDEEF'],
    describedAs: { pattern: ID_PATTERN },
  }),
})

/** @throws ApiError `invalid_input` for a text that is not a cursor. */
export function readCursor(text: string | undefined): string | undefined {
  if (text === undefined || new RegExp(CURSOR_PATTERN).test(text)) return text
  throw invalidInput('cursor is not `next` of a page of deliveries', 'cursor')
}
