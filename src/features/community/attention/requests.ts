// Path parameters of the attention list.
import Type from 'typebox'
import { UserParams } from '#features/basics/access/requests.ts'
import { invalidInput } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { DISMISSIBLE_KINDS, type DismissibleKind, isDismissible } from './kinds.ts'

export const ItemParams = Type.Object({
  ...UserParams.properties,
  item: Type.String({
    maxLength: 256,
    description: 'ID of the item',
    examples: ['incomplete_draft:AABBCCDD'],
    describedAs: { pattern: `^(${DISMISSIBLE_KINDS.join('|')}):[0-9A-Za-z]{1,11}$` },
  }),
})

/** @throws ApiError `invalid_input` for an item that cannot be dismissed, `decoding_error` for an invalid ID */
export function parseItem(item: string): { kind: DismissibleKind; projectId: string } {
  const [kind = '', id = ''] = item.split(':')
  if (!isDismissible(kind)) throw invalidInput(`item must begin with one of ${DISMISSIBLE_KINDS.join(', ')}`, 'item')
  return { kind, projectId: parseId(id, 'item') }
}
