import Type from 'typebox'

export const TwoFactorSecret = Type.Object(
  {
    secret: Type.String({ description: 'Base32, for an authenticator app' }),
    uri: Type.String({ description: 'The secret as an otpauth URI, to show as a QR code' }),
    flow: Type.String(),
  },
  { title: 'TwoFactorSecret' },
)

export const BackupCodes = Type.Object({ backup_codes: Type.Array(Type.String()) }, { title: 'BackupCodes' })
