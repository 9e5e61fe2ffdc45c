// The variables of the public web site, part of the schema in `env.ts`.
import Type from 'typebox'

export const SITE_VARIABLES = {
  SITE: Type.Enum(['on', 'off'], {
    default: 'on',
    must: 'one of on, off',
    description: 'Whether the public web site is served beside the API.',
    example: 'off',
  }),
  SITE_NAME: Type.Refine(
    Type.String({
      default: 'Depot',
      maxLength: 64,
      description: 'What pages call the instance.',
      must: '1 to 64 characters without control characters',
      example: 'Our Depot',
    }),
    (value) => !/\p{Cc}/u.test(value),
  ),
}
