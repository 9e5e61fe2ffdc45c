// Response schemas of passkeys.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp, toView } from '#lib/schema/schema-parts.ts'
import type { PasskeyRow } from './queries.ts'

export const PasskeyView = NamedObject('Passkey', {
  id: Type.String(),
  name: Type.String(),
  is_synced: Type.Boolean({ description: 'Whether the passkey is copied to other devices of the user' }),
  created: Timestamp,
  last_used: Nullable(Timestamp),
})
export type PasskeyView = Static<typeof PasskeyView>

export const toPasskeyView = (row: PasskeyRow): PasskeyView => toView(PasskeyView, row)

export const Passkeys = NamedObject('Passkeys', { passkeys: Type.Array(PasskeyView) })

export const AddedPasskey = NamedObject('AddedPasskey', {
  passkey: PasskeyView,
  backup_codes: Nullable(
    Type.Array(Type.String(), {
      description:
        'Backup codes, if the account had no two-factor sign-in before; otherwise null. They cannot be read again',
    }),
  ),
})

const CredentialReference = Type.Object({
  id: Type.String(),
  type: Type.Literal('public-key'),
  transports: Type.Optional(Type.Array(Type.String())),
})

/** Argument of `PublicKeyCredential.parseRequestOptionsFromJSON()`. */
export const PasskeyRequest = NamedObject('PasskeyRequest', {
  challenge: Type.String({ description: 'Valid once and for 15 minutes' }),
  rpId: Type.String({ description: 'Host of the site' }),
  timeout: Type.Integer({ description: 'In milliseconds' }),
  userVerification: Type.Literal('required'),
})

/** Argument of `PublicKeyCredential.parseCreationOptionsFromJSON()`. */
export const PasskeyCreationOptions = NamedObject('PasskeyCreationOptions', {
  challenge: Type.String({ description: 'Valid once and for 15 minutes' }),
  rp: Type.Object({ id: Type.String(), name: Type.String() }),
  user: Type.Object({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
  pubKeyCredParams: Type.Array(Type.Object({ type: Type.Literal('public-key'), alg: Type.Integer() })),
  timeout: Type.Integer({ description: 'In milliseconds' }),
  attestation: Type.Literal('none'),
  excludeCredentials: Type.Array(CredentialReference),
  authenticatorSelection: Type.Object({
    residentKey: Type.Literal('required'),
    requireResidentKey: Type.Boolean(),
    userVerification: Type.Literal('required'),
  }),
})
export type PasskeyRequest = Static<typeof PasskeyRequest>
export type PasskeyCreationOptions = Static<typeof PasskeyCreationOptions>
