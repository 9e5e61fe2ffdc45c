import Type, { type Static } from 'typebox'
import { NamedObject } from '#lib/schema/schema-parts.ts'
import { publicKeyText, verifierKey } from './key-texts.ts'
import type { KeyRow } from './queries.ts'

const KeyView = Type.Object({
  public_key: Type.String({ description: '`whpk_` and the Ed25519 key in base64, as in Standard Webhooks' }),
  verifier_key: Type.String({ description: 'The same key as a verifier key of signed notes (C2SP)' }),
  since: Type.String({ format: 'date-time', description: 'Time from which the instance signs with the key' }),
  until: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'Time until which the key stays valid; null for the current key',
  }),
  signature: Type.Optional(
    Type.String({
      description:
        'Signature of the previous key, in base64, of the text `depot instance key`, a line feed, `public_key` and a line ' +
        'feed. Absent for the first key, and if the previous key was lost',
    }),
  ),
})

export const InstanceKeysView = NamedObject('InstanceKeys', {
  keys: Type.Array(KeyView, { description: 'Valid keys, newest first' }),
})
export type InstanceKeysView = Static<typeof InstanceKeysView>

export function toInstanceKeysView(rows: readonly KeyRow[], baseUrl: string): InstanceKeysView {
  return {
    keys: rows.map(({ public_key, since, until, signature }) => ({
      public_key: publicKeyText(public_key),
      verifier_key: verifierKey(baseUrl, public_key),
      since: since.toISOString(),
      until: until?.toISOString() ?? null,
      ...(signature === null ? {} : { signature: signature.toString('base64') }),
    })),
  }
}
