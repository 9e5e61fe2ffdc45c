// Response schemas of sign-up, sign-in and two-factor sign-in.

import Type, { type Static } from 'typebox'
import { NamedObject } from '#lib/schema/schema-parts.ts'

/** Settings that sign-up and sign-in pages need. */
export const Globals = NamedObject('Globals', {
  captcha_enabled: Type.Boolean(),
  registration_open: Type.Boolean(),
  email_verification_required: Type.Boolean(),
  tax_compliance_thresholds: Type.Record(Type.String(), Type.Number(), {
    description: 'Always empty, because Depot does not make payouts itself',
  }),
})

export const TwoFactorRequired = NamedObject('TwoFactorRequired', {
  error: Type.Literal('2fa_required'),
  description: Type.String(),
  flow: Type.String({ description: 'Secret for /auth/login/2fa; valid for 30 minutes' }),
})

export const PasswordChangeRequired = NamedObject('PasswordChangeRequired', {
  error: Type.Literal('password_change_required'),
  description: Type.String(),
  flow: Type.String({
    description: 'Secret for PATCH /auth/password, which sets another password; valid for 24 hours',
  }),
})

export function toPasswordChangeRequired(flow: string): Static<typeof PasswordChangeRequired> {
  const description = 'The password is temporary. Choose another password, then sign in with it.'
  return { error: 'password_change_required', description, flow }
}

export const TwoFactorSecret = NamedObject('TwoFactorSecret', {
  secret: Type.String({ description: 'Secret for an authenticator app, in base32' }),
  uri: Type.String({ description: 'Secret as an otpauth URI, for a QR code' }),
  flow: Type.String(),
})

export const BackupCodeCount = NamedObject('BackupCodeCount', {
  remaining: Type.Integer({ description: 'Number of unused backup codes' }),
})

export const BackupCodes = NamedObject('BackupCodes', { backup_codes: Type.Array(Type.String()) })
