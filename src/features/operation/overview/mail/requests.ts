// The requests for outgoing email.
import Type from 'typebox'

export const MailQuery = Type.Object({
  sent: Type.Optional(Type.Boolean({ description: 'Lists only accepted, or only rejected emails' })),
  written: Type.Optional(
    Type.Boolean({ description: 'Lists only emails that were written to files, or only the others' }),
  ),
  before: Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: '`next` of the previous page' }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, default: 50, description: 'Maximum number of deliveries' }),
  ),
})

export const DeliveryParams = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'ID of the delivery' }),
})
