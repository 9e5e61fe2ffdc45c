import Type from 'typebox'

export const QuotaView = Type.Object(
  {
    current: Type.Integer({
      minimum: 0,
      description: 'Number of owned resources, without invitations and memberships',
    }),
    max: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], { description: 'Limit; null without a limit' }),
  },
  { title: 'Quota' },
)
