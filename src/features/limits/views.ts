import Type from 'typebox'

/** How much of a kind an account owns and may own. */
export const QuotaView = Type.Object(
  {
    current: Type.Integer({ minimum: 0, description: 'Owned now; invitations and memberships do not count' }),
    max: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], { description: 'Null: no limit' }),
  },
  { title: 'Quota' },
)
