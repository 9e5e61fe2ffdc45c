// Requests of the passkey routes. The schemas are the JSON forms of WebAuthn Level 3, without what Depot does not use.
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { OwnerProofBody, OwnerProofFields } from '#features/basics/access/requests.ts'
import { validationError } from '#lib/errors.ts'
import { NamedObject } from '#lib/schema/schema-parts.ts'
import { checkText } from '#lib/text/text-rules.ts'

const base64url = (maxLength: number, description: string) =>
  Type.String({ pattern: '^[A-Za-z0-9_-]+$', minLength: 1, maxLength, description })

const common = {
  id: base64url(1_400, 'ID of the credential, in base64url'),
  rawId: base64url(1_400, 'The same as `id`'),
  type: Type.Literal('public-key'),
}

/** The result of `navigator.credentials.get()`. */
export const PasskeyAssertion = NamedObject('PasskeyAssertion', {
  ...common,
  response: Type.Object({
    clientDataJSON: base64url(4_096, 'Client data, in base64url'),
    authenticatorData: base64url(4_096, 'Authenticator data, in base64url'),
    signature: base64url(8_192, 'Signature, in base64url'),
  }),
})
export type PasskeyAssertion = Static<typeof PasskeyAssertion>

/** The result of `navigator.credentials.create()`. */
export const PasskeyCreation = NamedObject('PasskeyCreation', {
  ...common,
  response: Type.Object({
    clientDataJSON: base64url(4_096, 'Client data, in base64url'),
    attestationObject: base64url(16_384, 'Attestation object, in base64url'),
    transports: Type.Optional(
      Type.Array(Type.String({ maxLength: 32 }), {
        maxItems: 16,
        description: 'Connections that the authenticator supports',
      }),
    ),
  }),
})
export type PasskeyCreation = Static<typeof PasskeyCreation>

export const PASSKEY_NAME_MAX = 64
export const PasskeyName = Type.String({ minLength: 1, maxLength: PASSKEY_NAME_MAX })

/** Returns the name of a passkey to store. @throws ApiError `validation_error` naming `name` */
export const toPasskeyName = (text: string): string =>
  checkText(text, 'name', { min: 1, max: PASSKEY_NAME_MAX, visible: true }).trim()

export const NewPasskey = Type.Object({ name: PasskeyName, credential: PasskeyCreation, ...OwnerProofFields })
export const PasskeyRemoval = OwnerProofBody
export const PasskeyPatch = Type.Object({ name: PasskeyName })
export const PasskeySignIn = Type.Object({
  credential: PasskeyAssertion,
  undo_deletion: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Whether to undo a pending deletion of the account. If false, such a sign-in fails',
    }),
  ),
})
export const PasskeyConfirmation = Type.Object({ credential: PasskeyAssertion })

const FORMS = { assertion: Compile(PasskeyAssertion), creation: Compile(PasskeyCreation) }
type Forms = { assertion: PasskeyAssertion; creation: PasskeyCreation }

/** Parses the field of a form that a script has filled. @throws ApiError `validation_error` naming `passkey` */
export function parsePasskey<Kind extends keyof Forms>(kind: Kind, text: string): Forms[Kind] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  if (!FORMS[kind].Check(value)) throw validationError('passkey', 'must be the response of an authenticator as JSON')
  return value as Forms[Kind]
}
