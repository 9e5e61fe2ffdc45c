import Type from 'typebox'

/** How much of a kind an account owns and may own. */
export const QuotaView = Type.Object(
  {
    current: Type.Integer({ minimum: 0, description: 'Number owned now, without invitations and memberships' }),
    max: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], { description: 'Null for no limit' }),
  },
  { title: 'Quota' },
)
