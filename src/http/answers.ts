// Response schemas that every route shares.
import Type from 'typebox'

export const ErrorBody = Type.Object(
  {
    error: Type.String({ description: 'The kind of fault, a fixed word' }),
    description: Type.String({ description: 'What is wrong, for a person' }),
    details: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })),
  },
  { title: 'Error' },
)

export const ErrorAnswers = { '4xx': ErrorBody, '5xx': ErrorBody } as const

/** 204: success without a body. */
export const Empty = Type.Null({ description: 'No body' })
