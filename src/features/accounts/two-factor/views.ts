import Type from 'typebox'

export const TwoFactorSecret = Type.Object(
  {
    secret: Type.String({ description: 'Base32, for an authenticator program' }),
    uri: Type.String({ description: 'The same as an otpauth address, to show as a picture' }),
    flow: Type.String(),
  },
  { title: 'TwoFactorSecret' },
)

export const BackupCodes = Type.Object({ backup_codes: Type.Array(Type.String()) }, { title: 'BackupCodes' })
