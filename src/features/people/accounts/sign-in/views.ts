import Type from 'typebox'

export const TwoFactorRequired = Type.Object(
  {
    error: Type.Literal('2fa_required'),
    description: Type.String(),
    flow: Type.String({ description: 'To pass to /auth/login/2fa within 30 minutes' }),
  },
  { title: 'TwoFactorRequired' },
)
